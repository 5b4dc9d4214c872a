// Which differences between choices would stay with other seeds and other test examples. Both are
// draws: a choice that was lucky with its seeds is no better than one that was lucky with the test
// set.
//
// The error of a difference adds what seeds and what examples contribute, as Clark's min F' does
// for subjects and items ("The language-as-fixed-effect fallacy", 1973). Choices are paired on
// both: the same examples, and the same seeds, which share their data order. The examples' part
// comes from leaving out each in turn (the jackknife; Efron and Stein, 1981). The seeds' part comes
// from all choices together, but for no pair from less than these two show alone; its degrees of
// freedom are Box's (1954), since some choices are steadier than others, and are those of the whole
// test: with few seeds Clark's own are too many. The best was found by looking at all choices, so
// that chance is measured by the largest of all differences: Tukey's studentized range.
// docs/comparing.md has what that finds, by simulation.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fovea/train/metric.h"

namespace fovea {

// A metric of one choice on the same test examples with several seeds.
struct MeasuredChoice {
  std::vector<double> values;      // one a seed
  std::vector<double> influences;  // what each example does to the mean of the values, times n
};
// tallies[seed][example]. Seeds of other numbers of examples are an Error.
MeasuredChoice measure_choice(std::span<const std::vector<Tally>> tallies,
                              const std::function<double(const Tally&)>& metric);

// What can be said of a choice beside the best one.
enum class Verdict {
  unknown,           // not measured on the same examples
  best,              // of the means
  worse,             // than the best: not by chance, at 5 % for the whole table
  tie,               // may be chance
  too_few_seeds,     // would be worse if the spread over seeds were surely what it seems
  one_seed_differs,  // on this seed by more than the test examples' chance
  one_seed_alike,    // not even that
};
// As JSON has it: the name that it has here.
std::string_view name_of(Verdict verdict);

// A choice compared with the best.
struct Difference {
  Verdict verdict = Verdict::unknown;  // unknown where there was nothing to compare
  // That a table of equal choices would show a difference as large; none for one seed.
  std::optional<double> p_value{};
};
// Of each choice to choices[best], which has the best mean. Those with several seeds need the same
// ones, in the same order.
std::vector<Difference> differences_to_best(std::span<const MeasuredChoice> choices, size_t best,
                                            bool higher_is_better);

}  // namespace fovea
