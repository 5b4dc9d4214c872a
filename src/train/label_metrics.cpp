#include "fovea/train/label_metrics.h"

#include <algorithm>
#include <string_view>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// "B-PER" is place B of type PER; "O" has no type.
struct Tag {
  explicit Tag(std::string_view text) : place(text) {
    if (const size_t dash = text.find('-'); dash != text.npos) {
      place = text.substr(0, dash);
      type = text.substr(dash + 1);
    }
    if (place == "L") place = "E";
    if (place == "U") place = "S";
  }
  bool is(std::string_view places) const {
    return place.size() == 1 && places.find(place[0]) != places.npos;
  }
  std::string_view place, type;
};

// conlleval's rules, with S beside its B, and E always an end.
bool ends_between(const Tag& before, const Tag& tag) {
  return before.is("ES") || (before.is("BI") && tag.is("BSO")) ||
         (!before.is("O.") && before.type != tag.type);
}
bool starts_between(const Tag& before, const Tag& tag) {
  return tag.is("BS") || (before.is("ESO") && tag.is("EI")) ||
         (!tag.is("O.") && before.type != tag.type);
}

template <class Label>
Tally count_equal(std::span<const Label> truth, std::span<const Label> predicted) {
  check(truth.size() == predicted.size(), "token accuracy: ", truth.size(),
        " tokens need as many labels, got ", predicted.size());
  double right = 0;
  for (size_t i = 0; i < truth.size(); ++i) right += truth[i] == predicted[i];
  return {right, static_cast<double>(truth.size())};
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

std::vector<EntitySpan> entity_spans(std::span<const std::string> tags) {
  std::vector<EntitySpan> found;
  bool open = false;
  Tag before("O");
  for (size_t i = 0; i <= tags.size(); ++i) {
    const Tag tag(i < tags.size() ? std::string_view(tags[i]) : "O");
    if (open && ends_between(before, tag)) {
      found.back().end = i;
      open = false;
    }
    if (starts_between(before, tag)) {
      found.push_back({i, tags.size(), tag.type});
      open = true;
    }
    before = tag;
  }
  return found;
}

Tally token_accuracy_tally(std::span<const int32_t> truth, std::span<const int32_t> predicted) {
  return count_equal(truth, predicted);
}

Tally token_accuracy_tally(std::span<const std::string> truth,
                           std::span<const std::string> predicted) {
  return count_equal(truth, predicted);
}

Tally label_tally(int64_t classes, int64_t truth, int64_t predicted) {
  check(std::min(truth, predicted) >= 0 && std::max(truth, predicted) < classes,
        "label: there are ", classes, " classes, got class ", truth, " and prediction ", predicted);
  Tally tally(3 * classes);
  if (truth == predicted) {
    tally[3 * truth] = 1;
  } else {
    tally[3 * predicted + 1] = 1;
    tally[3 * truth + 2] = 1;
  }
  return tally;
}

double accuracy_of(const Tally& sum) {
  double right = 0, all = 0;
  for (size_t i = 0; i + 2 < sum.size(); i += 3) {
    right += sum[i];
    all += sum[i] + sum[i + 2];
  }
  return share(right, all);
}

double macro_f1_of(const Tally& sum) {
  double total = 0, classes = 0;
  for (size_t i = 0; i + 2 < sum.size(); i += 3) {
    const double both = 2 * sum[i] + sum[i + 1] + sum[i + 2];
    if (both == 0) continue;
    total += 2 * sum[i] / both;
    ++classes;
  }
  return share(total, classes);
}

Tally entity_tally(std::span<const std::string> truth, std::span<const std::string> predicted) {
  check(truth.size() == predicted.size(), "entities: ", truth.size(),
        " tokens need as many tags, got ", predicted.size());
  const std::vector<EntitySpan> theirs = entity_spans(truth), ours = entity_spans(predicted);
  std::vector<EntitySpan> both;  // the lists are in the order of their tokens
  std::ranges::set_intersection(theirs, ours, std::back_inserter(both));
  return {static_cast<double>(both.size()), static_cast<double>(ours.size()),
          static_cast<double>(theirs.size())};
}

double entity_precision_of(const Tally& sum) { return share(sum[0], sum[1]); }
double entity_recall_of(const Tally& sum) { return share(sum[0], sum[2]); }
double entity_f1_of(const Tally& sum) { return share(2 * sum[0], sum[1] + sum[2]); }

}  // namespace fovea
