#include "fovea/task/fit/plan.h"

#include <algorithm>
#include <fstream>
#include <span>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {
namespace {

using nlohmann::json;

json to_json(const Settings& settings) {
  json list = json::array();
  for (const auto& [name, text] : settings) list.push_back({name, text});
  return list;
}
Settings settings_from(const json& list) {
  Settings settings;
  for (const json& one : list) settings.set(one.at(0).get<std::string>(), one.at(1));
  return settings;
}

}  // namespace

void FitPlan::save(const std::string& path) const {
  json all{{"format", "fovea plan 1"},
           {"task", task},
           {"data", to_json(data)},
           {"seconds", seconds},
           {"used", used},
           {"reserve", reserve},
           {"factor", factor},
           {"rungs", rungs},
           {"places", places},
           {"stopped", stopped},
           {"candidates", json::array()}};
  for (const PlannedCandidate& one : candidates) {
    all["candidates"].push_back({{"name", one.name},
                                 {"settings", to_json(one.settings)},
                                 {"baseline", one.baseline},
                                 {"enough", one.enough},
                                 {"steps", one.steps},
                                 {"whole", one.whole},
                                 {"begun", one.begun},
                                 {"first", one.first},
                                 {"warmup", one.warmup},
                                 {"step_seconds", one.step_seconds},
                                 {"reached", one.reached},
                                 {"finished", one.finished},
                                 {"fit_tries", one.fitted.tries},
                                 {"fit_chosen", one.fitted.chosen},
                                 {"refitted", one.refitted},
                                 {"parameters", one.parameters},
                                 {"seconds", one.seconds}});
  }
  const std::string text = all.dump(1) + "\n";
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

FitPlan FitPlan::load(const std::string& path) {
  std::ifstream file(path);
  check(file.good(), path, ": cannot be read; a plan is what fit leaves as plan.json");
  const json all = json::parse(file, nullptr, false);
  check(all.is_object() && all.value("format", "") == "fovea plan 1", path,
        ": is not a plan of fit");
  try {
    FitPlan plan;
    plan.task = all.at("task");
    plan.data = settings_from(all.at("data"));
    plan.seconds = all.at("seconds");
    plan.used = all.at("used");
    plan.reserve = all.at("reserve");
    plan.factor = all.at("factor");
    plan.rungs = all.at("rungs");
    // Older plans have not all of it.
    plan.places = all.value("places", std::vector<int64_t>());
    plan.stopped = all.value("stopped", false);
    for (const json& from : all.at("candidates")) {
      PlannedCandidate one;
      one.name = from.at("name");
      one.settings = settings_from(from.at("settings"));
      one.baseline = from.at("baseline");
      one.enough = from.value("enough", int64_t{0});
      one.steps = from.at("steps").get<std::vector<int64_t>>();
      one.whole = from.at("whole");
      one.first = from.at("first");
      one.begun = from.value("begun", one.first > 0);
      one.warmup = from.value("warmup", int64_t{0});
      one.step_seconds = from.at("step_seconds");
      one.reached = from.at("reached").get<std::vector<double>>();
      one.finished = from.at("finished");
      one.fitted = {from.value("fit_tries", int64_t{0}),
                    from.value("fit_chosen", std::vector<double>())};
      one.refitted = from.value("refitted", false);
      one.parameters = from.at("parameters");
      one.seconds = from.at("seconds");
      plan.candidates.push_back(std::move(one));
    }
    check(plan.factor >= 2, path, ": the factor must be at least 2, is ", plan.factor);
    return plan;
  } catch (const json::exception& error) {
    fail(path, ": is not a plan of fit: ", error.what());
  }
}

std::vector<int64_t> places_for(int64_t candidates, int64_t factor) {
  std::vector<int64_t> places;
  for (int64_t n = candidates; n > 0; n = n > 1 ? (n + factor - 1) / factor : 0) {
    places.push_back(n);
  }
  return places;
}

namespace {

void set_steps(const FitPlan& plan, PlannedCandidate& one, double time, int64_t workers) {
  const auto rungs = static_cast<double>(plan.rungs);
  double own = 0;
  one.steps.clear();
  for (size_t k = 0; k < plan.places.size(); ++k) {
    const auto there = static_cast<double>(plan.places[k]);
    own += time / rungs * std::min(there, static_cast<double>(workers)) / there;
    double steps = own / (1.1 * one.step_seconds);
    if (one.enough > 0) {
      steps = std::min(steps, static_cast<double>(one.enough) / (rungs - static_cast<double>(k)));
    }
    one.steps.push_back(std::max<int64_t>(6, static_cast<int64_t>(steps)));
  }
  one.whole = one.steps.back();
}

// Of the last rung first: the only one in which the rate falls, and so the one that tells
// candidates best apart.
void add_finalists(FitPlan& plan, const std::vector<size_t>& all, double time, int64_t workers) {
  std::vector<double> costs(plan.places.size(), 0);  // of the slowest, in each rung
  for (size_t i : all) {
    const PlannedCandidate& one = plan.candidates[i];
    for (size_t k = 0; k < costs.size(); ++k) {
      const auto more = static_cast<double>(one.steps[k] - (k > 0 ? one.steps[k - 1] : 0));
      costs[k] = std::max(costs[k], 1.1 * more * one.step_seconds);
    }
  }
  time *= static_cast<double>(workers);
  for (size_t k = 0; k < costs.size(); ++k) time -= costs[k] * static_cast<double>(plan.places[k]);
  for (bool added = true; added;) {
    added = false;
    for (size_t k = costs.size() - 1; k > 0; --k) {
      if (plan.places[k] == plan.places[k - 1] || costs[k] > time) continue;
      ++plan.places[k], time -= costs[k], added = true;
    }
  }
}

}  // namespace

void plan_steps(FitPlan& plan, const std::vector<size_t>& taking_part, double seconds,
                int64_t workers) {
  for (size_t i : taking_part) set_steps(plan, plan.candidates[i], seconds, workers);
  add_finalists(plan, taking_part, seconds, workers);
}

std::vector<size_t> promoted(const FitPlan& plan, int64_t rung, bool higher_is_better) {
  std::vector<size_t> there;
  for (size_t i = 0; i < plan.candidates.size(); ++i) {
    const PlannedCandidate& one = plan.candidates[i];
    if (!one.baseline && static_cast<int64_t>(one.reached.size()) > rung) there.push_back(i);
  }
  std::ranges::stable_sort(there, [&](size_t a, size_t b) {
    const double x = plan.candidates[a].reached[static_cast<size_t>(rung)],
                 y = plan.candidates[b].reached[static_cast<size_t>(rung)];
    return higher_is_better ? x > y : x < y;
  });
  const auto n = static_cast<int64_t>(there.size());
  int64_t go_on = (n + plan.factor - 1) / plan.factor;
  if (const auto next = static_cast<size_t>(rung + 1); next < plan.places.size()) {
    go_on = std::max(go_on, plan.places[next]);
  }
  there.resize(static_cast<size_t>(std::clamp<int64_t>(go_on, 0, n)));
  return there;
}

}  // namespace fovea
