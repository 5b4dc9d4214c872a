// The page that `fovea compare` leaves: one HTML file that needs no network and works from disk.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fovea {

// `comparison` is {title, task, data, budget, seeds: [0, ...], command, made, version, machine,
//   metric: {name, higher_is_better}, metrics: [name, ...],
//   choices: [{name, options: {key: value}, best, verdict, p_value, metrics: {name: {mean, spread,
//   values}},
//     parameters, step_ms, peak_mb, example_ms, example_ms_95, examples_per_second, stopped,
//     failed, by_class: {classes: [{label, precision, recall, f1, examples}], confusion, mistakes},
//     runs: [{seed, curve: [{step, seconds, loss, metric}]}]}],
//   examples: [{input, truth, choices: [{choice: index, output, maps: [as a Drawing's]}]}],
//   notes: [{title, lines: [sentence, ...]}]}.
// verdict and p_value are of the difference to the best choice (train/significance.h); example_ms
// is of one example alone, example_ms_95 what 95 of 100 stay below. Any of it may be missing or
// null; the page then leaves that part out or writes a dash.
std::string comparison_page(const nlohmann::json& comparison);

}  // namespace fovea
