#include "fovea/task/answer_spans.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace fovea {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

// What scores are taken off to become log-probabilities, and those of there being no answer.
struct Sums {
  double start, end;
  double no_start = nothing, no_end = nothing;
};

double log_sum(const std::vector<double>& all) {
  const double most = *std::ranges::max_element(all);
  if (most == nothing) return nothing;
  double sum = 0;
  for (double x : all) sum += std::exp(x - most);
  return most + std::log(sum);
}

Sums sums_of(std::span<const ScoredWindow> windows) {
  std::vector<double> starts, ends;
  Sums sums{0, 0};
  for (const ScoredWindow& w : windows) {
    starts.insert(starts.end(), w.start.begin() + 1, w.start.end());
    ends.insert(ends.end(), w.end.begin() + 1, w.end.end());
    const bool less = double{w.start[0]} + double{w.end[0]} < sums.no_start + sums.no_end;
    if (&w == windows.data() || less) sums.no_start = w.start[0], sums.no_end = w.end[0];
  }
  starts.push_back(sums.no_start), ends.push_back(sums.no_end);
  sums.start = log_sum(starts), sums.end = log_sum(ends);
  return sums;
}

// Calls f(first, last, score) for every span that a window holds, in words of the passage.
template <class F>
void for_each_span(std::span<const ScoredWindow> windows, int64_t longest, const F& f) {
  for (const ScoredWindow& w : windows) {
    const auto n = static_cast<int64_t>(w.start.size()) - 1;
    for (int64_t i = 0; i < n; ++i) {
      const double start = w.start[static_cast<size_t>(1 + i)];
      for (int64_t j = i; j < std::min(n, i + longest); ++j) {
        f(w.from + i, w.from + j, start + double{w.end[static_cast<size_t>(1 + j)]});
      }
    }
  }
}

}  // namespace

std::vector<FoundSpan> best_spans(std::span<const ScoredWindow> windows, const SpanChoice& choice) {
  const Sums sums = sums_of(windows);
  const double all = sums.start + sums.end;
  std::vector<FoundSpan> found;
  // Kept small as it grows: of a long passage there are millions.
  const auto better = [](const FoundSpan& a, const FoundSpan& b) {
    return a.log_probability > b.log_probability;
  };
  const auto most = static_cast<size_t>(choice.nbest);
  const auto keep = [&](const FoundSpan& span) {
    const auto same = std::ranges::find_if(found, [&](const FoundSpan& one) {
      return one.first == span.first && one.last == span.last;
    });
    if (same != found.end()) {
      if (span.log_probability <= same->log_probability) return;
      found.erase(same);
    }
    found.insert(std::upper_bound(found.begin(), found.end(), span, better), span);
    if (found.size() > most) found.pop_back();
  };
  for_each_span(windows, choice.longest, [&](int64_t first, int64_t last, double score) {
    if (found.size() == most && score - all <= found.back().log_probability) return;
    keep({first, last, score - all});
  });
  if (sums.no_start + sums.no_end > nothing) {
    const double score = sums.no_start + sums.no_end - all;
    const auto at = std::ranges::find_if(found, [&](const FoundSpan& one) {
      return one.log_probability < score + choice.no_answer;
    });
    found.insert(at, {-1, -1, score});
    if (found.size() > most) found.pop_back();
  }
  return found;
}

double span_log_probability(std::span<const ScoredWindow> windows, int64_t first, int64_t last) {
  const Sums sums = sums_of(windows);
  if (first < 0) return sums.no_start + sums.no_end - sums.start - sums.end;
  double best = nothing;
  for (const ScoredWindow& w : windows) {
    const int64_t i = first - w.from, j = last - w.from;
    if (i < 0 || j + 1 >= static_cast<int64_t>(w.start.size())) continue;
    best = std::max(best, double{w.start[static_cast<size_t>(1 + i)]} +
                              double{w.end[static_cast<size_t>(1 + j)]});
  }
  return best - sums.start - sums.end;
}

std::vector<float> inside_answer(std::span<const ScoredWindow> windows, int64_t n,
                                 int64_t longest) {
  double most = nothing;
  for_each_span(windows, longest, [&](int64_t, int64_t, double s) { most = std::max(most, s); });
  // What begins at a word is added there, and taken off behind its last.
  std::vector<double> change(static_cast<size_t>(n) + 1);
  double sum = 0;
  for_each_span(windows, longest, [&](int64_t first, int64_t last, double score) {
    const double p = std::exp(score - most);
    change[static_cast<size_t>(first)] += p;
    change[static_cast<size_t>(last) + 1] -= p;
    sum += p;
  });
  std::vector<float> inside;
  double now = 0;
  for (int64_t t = 0; t < n; ++t) {
    now += change[static_cast<size_t>(t)];
    inside.push_back(static_cast<float>(std::clamp(now / sum, 0.0, 1.0)));
  }
  return inside;
}

}  // namespace fovea
