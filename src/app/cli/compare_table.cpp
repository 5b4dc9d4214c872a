#include "fovea/app/cli/compare_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/app/cli/terminal.h"
#include "fovea/report/heat_map_json.h"

namespace fovea::cli {
namespace {

std::string verdict(const ComparedChoice& c) {
  const double p = c.to_best.p_value.value_or(1);
  switch (c.to_best.verdict) {
    case Verdict::best:
      return "best";
    case Verdict::worse:
      return p < 0.001 ? "worse, p<0.001" : fmt::format("worse, p {:.3f}", p);
    case Verdict::tie:
      return fmt::format("tie?  p {:.2f}", p);
    case Verdict::too_few_seeds:
      return "too few seeds";
    case Verdict::one_seed_differs:
      return "1 seed: differ";
    case Verdict::one_seed_alike:
      return "1 seed: alike";
    case Verdict::unknown:
      break;
  }
  return "";
}

// What the words of the table mean, of those that stand in it.
void print_legend(const Comparison& comparison) {
  const auto has = [&](Verdict verdict) {
    return std::ranges::any_of(comparison.choices,
                               [&](const auto& c) { return c.to_best.verdict == verdict; });
  };
  fmt::print(
      "size: parameters; step: ms of training; MB: most memory while training; ms/1,\n"
      "p95: one example alone, median and 95th percentile; ex/s: examples a second\n");
  if (has(Verdict::worse) || has(Verdict::tie) || has(Verdict::too_few_seeds)) {
    fmt::print("p: that equal choices would differ so much, over seeds and test examples\n");
  }
  if (has(Verdict::too_few_seeds)) {
    fmt::print("too few seeds: looks worse, but so few seeds cannot tell; add some (--seeds)\n");
  }
  if (has(Verdict::one_seed_differs) || has(Verdict::one_seed_alike)) {
    fmt::print(
        "1 seed: whether test examples differ by more than chance on this one seed; what\n"
        "another seed would give is not known (--seeds 5 would tell)\n");
  }
}

std::string short_figure(const std::optional<double>& x) {
  if (!x) return "-";
  return *x >= 9'999.5  ? short_count(std::llround(*x))
         : *x >= 99.95  ? fmt::format("{:.0f}", *x)
         : *x >= 0.9995 ? fmt::format("{:.1f}", *x)
                        : fmt::format("{:.2f}", *x);
}

}  // namespace

void print_table(const Comparison& comparison) {
  const bool spread =
      std::ranges::any_of(comparison.choices, [](const auto& c) { return c.seeds.size() > 1; });
  const std::string metric = words_of(comparison.metric);
  const int value_width = std::max<int>(spread ? 14 : 7, static_cast<int>(metric.size()));
  const auto room = static_cast<size_t>(80 - 48 - value_width);
  size_t widest = 6;
  for (const auto& c : comparison.choices) widest = std::max(widest, c.name.size());
  widest = std::min(widest, room);
  fmt::print("{:<{}} {:>{}} {:<14}{:>5}{:>6}{:>5}{:>5}{:>5}{:>6}\n", "choice", widest, metric,
             value_width, "against best", "size", "step", "MB", "ms/1", "p95", "ex/s");
  for (const auto& c : comparison.choices) {
    std::string name = c.name;  // one that is too long goes on in the next line
    while (name.size() > widest) {
      const auto cut = name.rfind(',', widest - 1);
      const auto at = cut == std::string::npos ? widest : cut + 1;
      fmt::print("{}\n", name.substr(0, at));
      name = " " + name.substr(at);
    }
    const auto* value = c.metric(comparison.metric);
    if (!value) {
      fmt::print("{:<{}} failed: {}\n", name, widest, c.failed);
      continue;
    }
    std::string number = metric_text({comparison.metric, true, value->mean});
    auto columns = static_cast<int>(number.size());
    if (value->spread) {
      const std::string more = metric_text({comparison.metric, true, *value->spread});
      number += " ±" + more;
      columns += 2 + static_cast<int>(more.size());
    }
    fmt::print("{:<{}} {}{} {:<14}{:>5}{:>6.1f}{:>5.0f}{:>5}{:>5}{:>6}\n", name, widest,
               std::string(std::max(0, value_width - columns), ' '), number, verdict(c),
               short_count(static_cast<int64_t>(c.parameters)), c.step_ms, c.peak_mb,
               short_figure(c.example_ms), short_figure(c.example_ms_95),
               short_figure(c.examples_per_second));
  }
  print_legend(comparison);
}

void print_heat_map(const Comparison& comparison) {
  for (const auto& example : comparison.page["examples"]) {
    for (const auto& one : example["choices"]) {
      if (one["maps"].empty()) continue;
      const Drawing drawing = drawing_from_json({{"title", ""}, {"maps", one["maps"]}});
      fmt::print("\nWhere {} looks: {} → {}\n\n",
                 comparison.choices[one["choice"].get<size_t>()].name,
                 example["input"].get<std::string>(), one["output"].get<std::string>());
      fmt::print("{}", draw_terminal(drawing.maps[0],
                                     {.width = terminal_width(), .colour = wants_colour()}));
      return;
    }
  }
}

}  // namespace fovea::cli
