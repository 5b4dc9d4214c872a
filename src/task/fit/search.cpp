#include "fovea/task/fit/search.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/task/example_solver.h"
#include "fovea/train/checkpoint.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// That tell how long one takes.
constexpr int64_t first_steps = 6;

class Search {
 public:
  Search(FitPlan& plan, const SearchCall& call)
      : plan_(plan), call_(call), task_(find_task(plan.task)) {
    for (const PlannedCandidate& one : plan.candidates) {
      Tried tried;
      tried.name = one.name;
      tried.folder = call.folder + "/runs/" + one.name + "/seed-" + plan.data.get("seed", "0");
      tried.baseline = one.baseline;
      if (!call.by_plan) tried.parameters = one.parameters, tried.seconds = one.seconds;
      result_.tried.push_back(std::move(tried));
    }
    solvers_.resize(plan.candidates.size());
    plan.stopped = false;
    if (!call.by_plan) return;
    asked_ = plan.candidates;
    for (PlannedCandidate& one : plan.candidates) {
      one.reached.clear();
      one.begun = one.finished = one.refitted = false;
      one.fitted = {};
    }
  }

  // One part, in a process of its own.
  void do_part(const SearchPart& part) {
    const double deadline =
        part.seconds > 0 ? seconds() + part.seconds : std::numeric_limits<double>::infinity();
    const double before = result_.tried[part.candidate].seconds;
    const TrainResult r = train_for(part.candidate, part.steps, part.last, deadline);
    nlohmann::json json{{"stopped", r.stopped},
                        {"steps", r.steps},
                        {"step_seconds", r.step_seconds},
                        {"seconds", result_.tried[part.candidate].seconds - before},
                        {"fit_tries", r.fitted.tries},
                        {"fit_chosen", r.fitted.chosen},
                        {"parameters", result_.tried[part.candidate].parameters}};
    if (r.best) {
      json["best"] = {r.best->name, r.best->higher_is_better, r.best->value};
    }
    const std::string text = json.dump() + "\n";
    write_file_atomically(part_path(part.candidate), std::as_bytes(std::span(text)));
  }

  SearchResult operator()() {
    std::vector<SearchPart> fits;
    for (size_t i = 0; i < plan_.candidates.size(); ++i) {
      // The first is the simplest: what it cannot read, none can.
      if (i > 0 && plan_.candidates[i].baseline && !call_.by_plan) {
        fits.push_back({i, 1, false, plan_.seconds * 0.6});
      }
    }
    do_elsewhere(fits);
    for (size_t i = 0; i < plan_.candidates.size(); ++i) {
      if (plan_.candidates[i].baseline && !stopped() && fits_in(i)) {
        attempt(i, [&] { run_baseline(i); });
      }
    }
    std::vector<size_t> rung;
    if (call_.by_plan || plan_.rungs > 0) {
      for (size_t i = 0; i < plan_.candidates.size(); ++i) {
        if (plan_.candidates[i].baseline) continue;
        if (call_.by_plan && asked_[i].begun && !stopped()) {
          attempt(i, [&] { begin_by_plan(i); });
        }
        if (!plan_.candidates[i].steps.empty()) rung.push_back(i);
      }
    } else {
      rung = make_plan();
    }
    for (int64_t k = 0; k < plan_.rungs && !rung.empty() && !stopped(); ++k) {
      do_elsewhere(parts_of(rung, k));
      for (size_t i : rung) {
        if (!stopped() && is_due(i, k)) attempt(i, [&] { run_rung(i, k); });
      }
      rung = promoted(plan_, k, higher_);
      for (size_t i = 0; i < solvers_.size(); ++i) {
        if (std::ranges::find(rung, i) == rung.end() && i != leader()) solvers_[i].reset();
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  std::string part_path(size_t i) const { return result_.tried[i].folder + "/part.json"; }

  // What train_for() would do for each, done at once by others; it then finds it done.
  void do_elsewhere(const std::vector<SearchPart>& parts) {
    if (!call_.elsewhere || parts.empty() || stopped()) return;
    plan_.save(call_.folder + "/plan.json");
    for (const SearchPart& part : parts) fs::remove(part_path(part.candidate));
    call_.elsewhere(parts);
    for (const SearchPart& part : parts) {
      std::ifstream file(part_path(part.candidate));
      const auto json = nlohmann::json::parse(file, nullptr, false);
      if (json.is_object()) done_.insert_or_assign(part.candidate, json);
    }
  }

  // The rung's trainings that are still to be done and follow nothing else.
  std::vector<SearchPart> parts_of(const std::vector<size_t>& rung, int64_t k) const {
    std::vector<SearchPart> parts;
    if (call_.by_plan) return parts;
    const bool last = k + 1 == plan_.rungs;
    const double share = last ? left() : left() / static_cast<double>(plan_.rungs - k);
    for (size_t i : rung) {
      const PlannedCandidate& one = plan_.candidates[i];
      const auto at = static_cast<size_t>(k);
      if (one.reached.size() > at || share <= 0) continue;
      parts.push_back({i, one.steps[at], last, share});
    }
    return parts;
  }

  double seconds() const { return call_.began + watch_.seconds(); }
  // Of the budget, with what measuring at the end will take put aside.
  double left() const { return plan_.seconds - seconds() - plan_.reserve; }
  bool stopped() const { return call_.stop && *call_.stop; }
  void tell(const std::string& line) const {
    if (call_.tell) call_.tell(line);
  }

  // A candidate that fails loses only itself.
  template <class F>
  void attempt(size_t i, F&& f) {
    try {
      f();
    } catch (const Error& error) {
      result_.tried[i].failed = error.what();
      result_.tried[i].validation.reset();
      solvers_[i].reset();
      tell(say(plan_.candidates[i].name, ": failed: ", error.what()));
      // The simplest is the first: what it cannot read, none can.
      if (i == 0 && plan_.candidates[0].baseline) throw;
    }
    plan_.candidates[i].parameters = result_.tried[i].parameters;
    plan_.candidates[i].seconds = result_.tried[i].seconds;
    plan_.used = seconds();
    plan_.save(call_.folder + "/plan.json");
  }

  Config config_of(size_t i) const {
    Settings all = plan_.data;
    all.set(plan_.candidates[i].settings);
    if (!all.has("seed")) all.set("seed", "0");  // else as --set says
    return make_config(task_, all);
  }

  Solver& solver(size_t i) {
    if (solvers_[i]) return *solvers_[i];
    Tried& tried = result_.tried[i];
    const bool there = fs::exists(tried.folder + "/config.json");
    const Config config = there ? load_config(tried.folder) : config_of(i);
    const Stopwatch watch;
    solvers_[i] = task_.make(config, Purpose::learn, there ? tried.folder : "");
    if (!there) save_run(*solvers_[i], tried.folder);
    load_seconds_ = std::max(load_seconds_, watch.seconds());
    tried.parameters = solvers_[i]->parameters().count();
    return *solvers_[i];
  }

  // To `steps` in all, none of them to fit only, until `deadline` seconds at most. Only the last
  // rung lets the rate fall:
  // those before it do not know how far they will go.
  TrainResult train_for(size_t i, int64_t steps, bool last, double deadline) {
    Tried& tried = result_.tried[i];
    if (const auto found = done_.find(i); found != done_.end()) {
      const nlohmann::json json = std::move(found->second);
      done_.erase(found);
      return take_done(i, json);
    }
    Solver& learner = solver(i);
    TrainOptions options = learner.config();
    options.time.clear();
    options.epochs = 0;
    options.steps = std::max<int64_t>(steps, plan_.candidates[i].whole) + !last;
    options.save_every = 5;
    options.schedule = last ? "linear" : "constant";
    options.floor = last ? 0.02 : 0;
    const PlannedCandidate& planned = plan_.candidates[i];
    if (planned.warmup > 0 && steps > planned.first) options.warmup = planned.warmup;
    TrainCall call;
    call.options = options;
    call.folder = tried.folder;
    call.resume = true;
    call.fit_only = steps == 0;
    call.fit_tries = call_.by_plan ? asked_[i].fitted.tries : 0;
    // Stopping is no accident here: what was done until then is validated, counts, and is written
    // down, so that a plan does just as much.
    call.enough = [&, deadline](int64_t step) {
      return (steps > 0 && step >= steps) || stopped() || (!call_.by_plan && seconds() > deadline);
    };
    call.progress = [&](const TrainProgress& p) { show(i, p); };
    const Stopwatch watch;
    const TrainResult result = fovea::train(learner, call);
    tried.seconds += watch.seconds();
    note(i, result);
    return result;
  }

  void note(size_t i, const TrainResult& result) {
    Tried& tried = result_.tried[i];
    tried.steps = result.steps;
    plan_.candidates[i].begun = true;
    if (result.steps > result.first_step) plan_.candidates[i].refitted = false;  // once more, then
    if (result.fitted.tries > 0) plan_.candidates[i].fitted = result.fitted;
    if (!result.best) return;
    tried.validation = result.best;
    higher_ = result.best->higher_is_better;
  }

  // What another process did of it.
  TrainResult take_done(size_t i, const nlohmann::json& json) {
    Tried& tried = result_.tried[i];
    TrainResult result;
    result.stopped = json.at("stopped").get<std::string>();
    result.steps = json.at("steps").get<int64_t>();
    result.step_seconds = json.at("step_seconds").get<double>();
    tried.parameters = json.at("parameters").get<int64_t>();
    tried.seconds += json.at("seconds").get<double>();
    if (json.contains("best")) {
      const auto& best = json["best"];
      result.best =
          Metric{best.at(0).get<std::string>(), best.at(1).get<bool>(), best.at(2).get<double>()};
    }
    result.fitted = {json.value("fit_tries", int64_t{0}),
                     json.value("fit_chosen", std::vector<double>())};
    note(i, result);
    return result;
  }

  void show(size_t i, const TrainProgress& p) const {
    if (!call_.show) return;
    const double remains = std::max(0.0, plan_.seconds - seconds());
    std::string line = say(plan_.candidates[i].name, ", step ", p.step);
    if (result_.tried[leader()].validation) {
      const Metric& m = *result_.tried[leader()].validation;
      line += say("; leads: ", result_.tried[leader()].name, " ", std::round(m.value * 1e4) / 1e4);
    }
    if (!call_.by_plan) line += say("; ", std::llround(remains), " s left");
    call_.show(line);
  }

  size_t leader() const {
    size_t best = 0;
    for (size_t i = 1; i < result_.tried.size(); ++i) {
      const auto &a = result_.tried[i].validation, &b = result_.tried[best].validation;
      if (a && (!b || (higher_ ? a->value > b->value : a->value < b->value))) best = i;
    }
    return best;
  }

  // Of trained candidates that a validation of this size cannot tell apart, the one that stands
  // first in the plan: it was thought the best before anything was measured.
  size_t chosen() const {
    const size_t best = leader();
    const std::optional<Metric>& top = result_.tried[best].validation;
    const bool share = top && top->higher_is_better && top->value > 0 && top->value <= 1;
    if (plan_.candidates[best].baseline || !share || call_.validations == 0) return best;
    const double error =
        std::sqrt(top->value * (1 - top->value) / static_cast<double>(call_.validations));
    double least = top->value - 0.5 * error;
    for (const Tried& tried : result_.tried) {  // it must be worth more than what is simpler
      if (tried.baseline && tried.validation) {
        least = std::max(least, std::nextafter(tried.validation->value, 2.0));
      }
    }
    for (size_t i = 0; i < best; ++i) {
      const PlannedCandidate& one = plan_.candidates[i];
      if (one.baseline || std::ssize(one.reached) < plan_.rungs) continue;
      if (one.reached.back() >= least) return i;
    }
    return best;
  }

  // All is chosen: what validated is learned from too. What that takes is put aside; where it does
  // not suffice after all, it is left out, and the plan says so.
  void refit(size_t i, Solver& model, const std::string& weights) {
    PlannedCandidate& one = plan_.candidates[i];
    // Where a search goes on, it may have been done already.
    if (!model.fits() || one.refitted || (call_.by_plan && !asked_[i].refitted)) return;
    if (!call_.by_plan) {
      const double fit = one.baseline
                             ? result_.tried[i].seconds /
                                   std::max<double>(1, static_cast<double>(one.fitted.tries))
                             : 0;
      const double needed = 1.5 * std::max(refit_seconds_, fit) + test_seconds_;
      if (plan_.seconds - seconds() < needed) return;
    }
    const Stopwatch watch;
    one.refitted = model.refit(one.fitted);
    refit_seconds_ = std::max(refit_seconds_, watch.seconds());
    if (!one.refitted) return;
    save_parameters(weights, model.parameters());
    plan_.save(call_.folder + "/plan.json");
  }

  // The test part is measured while the model is in memory, and looked at when all is over.
  void measure(size_t i) {
    Tried& tried = result_.tried[i];
    Solver& model = solver(i);
    const std::string weights = tried.folder + "/model.safetensors";
    if (fs::exists(weights)) load_parameters(weights, model.parameters());
    refit(i, model, weights);
    const Stopwatch watch;
    tried.test = model.evaluate("test");
    test_seconds_ = std::max(test_seconds_, watch.seconds());
    tried.drawings.clear();
    for (size_t e = 0; e < std::min<size_t>(4, tried.test->inputs.size()); ++e) {
      try {
        tried.drawings.push_back(model.attend(tried.test->inputs[e]));
      } catch (const Error&) {
        break;  // an input that cannot be shown is no reason to lose the search
      }
    }
  }

  // A baseline is begun only if there is time for as much as the longest before it took.
  bool fits_in(size_t i) const {
    if (call_.by_plan) return asked_[i].finished;
    if (plan_.candidates[i].finished || longest_fit_ * 1.5 < left()) return true;
    tell(say(plan_.candidates[i].name, ": left out, as the time is too short"));
    return false;
  }

  void run_baseline(size_t i) {
    const Stopwatch all;
    train_for(i, 1, false, plan_.seconds * 0.6);
    plan_.candidates[i].finished = true;
    if (!stopped()) measure(i);  // else the winner alone is measured, in the end
    solvers_[i].reset();
    longest_fit_ = std::max(longest_fit_, all.seconds());
    ended(i);
  }

  // What make_plan() did of it, again.
  void begin_by_plan(size_t i) {
    const int64_t first = asked_[i].first;
    if (solver(i).fits()) train_for(i, 0, false, 0);
    if (first > first_steps) train_for(i, first_steps, false, 0);
    if (first > 0) train_for(i, first, false, 0);
  }

  // Whether a candidate still has a rung before it, and the time for it; or had.
  bool is_due(size_t i, int64_t rung) const {
    if (call_.by_plan) return std::ssize(asked_[i].reached) > rung;
    return left() > 0 || std::ssize(plan_.candidates[i].reached) > rung;
  }

  void run_rung(size_t i, int64_t rung) {
    PlannedCandidate& one = plan_.candidates[i];
    Tried& tried = result_.tried[i];
    const auto k = static_cast<size_t>(rung);
    if (one.reached.size() > k) {  // done before a run that goes on
      Metric known{"", higher_, one.reached[k]};
      if (result_.tried[0].validation) known.name = result_.tried[0].validation->name;
      tried.validation = known;
      tried.steps = one.steps[k];
      return;
    }
    const bool last = rung + 1 == plan_.rungs;
    // A rung that is slower than it was planned ends with its share of what is left.
    const double share = left() / static_cast<double>(plan_.rungs - rung);
    const double deadline = call_.by_plan ? 0 : seconds() + (last ? left() : std::max(share, 0.0));
    const TrainResult trained = train_for(i, one.steps[k], last, deadline);
    one.steps[k] = trained.steps;
    if (trained.best) one.reached.push_back(trained.best->value);
    ended(i, rung);
  }

  void ended(size_t i, int64_t rung = -1) const {
    const Tried& tried = result_.tried[i];
    if (!tried.validation) return;
    tell(say(tried.name,
             rung >= 0 ? say(" (rung ", rung + 1, " of ", plan_.rungs, ", ", tried.steps, " steps)")
                       : std::string(),
             ": ", tried.validation->name, " ", std::round(tried.validation->value * 1e4) / 1e4,
             " on validation, ", std::round(seconds() * 10) / 10, " s"));
  }

  // A few steps of each candidate tell how long one takes; then rungs share the time evenly.
  std::vector<size_t> make_plan() {
    std::vector<size_t> all;
    double slowest = test_seconds_;
    for (size_t i = 0; i < plan_.candidates.size(); ++i) {
      PlannedCandidate& one = plan_.candidates[i];
      if (one.baseline || stopped()) continue;
      // Not worth beginning what could not be trained for longer than it takes to load.
      if (left() < 3 * load_seconds_ + 1) {
        tell(say(one.name, " and what comes behind it: left out, as the time is too short"));
        break;
      }
      attempt(i, [&] {
        // Fitting is no part of a step.
        if (solver(i).fits()) train_for(i, 0, false, seconds() + 0.6 * left());
        Stopwatch watch;
        TrainResult trained = train_for(i, first_steps, false, seconds() + 0.15 * left());
        check(trained.steps > 0 || stopped(), "the time is too short for its first step");
        if (watch.seconds() < 0.004 * plan_.seconds) {  // the first steps are slower than the rest
          trained = train_for(i, 5 * first_steps, false, seconds() + 0.15 * left());
        }
        one.first = trained.steps;
        one.step_seconds = std::max(1e-5, trained.step_seconds);
        watch = {};
        solver(i).validate();
        const double test = watch.seconds() * call_.test_validations;
        if (test > 0.35 * plan_.seconds) {
          result_.tried[i].validation.reset();
          fail("measuring it on the test part would take ", std::llround(test), " s");
        }
        slowest = std::max(slowest, test);
        all.push_back(i);
      });
    }
    if (stopped()) return {};  // so that a search which goes on begins the others too
    const auto n = static_cast<int64_t>(all.size());
    plan_.places = places_for(n, plan_.factor);
    plan_.rungs = std::ssize(plan_.places);
    plan_.reserve = 1 + 0.02 * plan_.seconds + 1.2 * slowest + 1.6 * refit_seconds_;
    if (n == 0) return all;
    const double time = std::max(0.5, 0.92 * left());
    plan_steps(plan_, all, time, call_.workers);
    for (size_t i : all) {
      // A rung says little of a candidate whose rate has hardly risen.
      PlannedCandidate& one = plan_.candidates[i];
      const int64_t warmup = solver(i).config().warmup;
      one.warmup = std::min(warmup, std::max<int64_t>(1, one.steps[0] / 4));
    }
    plan_.save(call_.folder + "/plan.json");
    std::string places;
    for (int64_t there : plan_.places) places += say(places.empty() ? "" : ", then ", there);
    tell(say("plan: ", places, plan_.rungs > 1 ? " models, each rung for longer" : " models"));
    return all;
  }

  void finish() {
    result_.stopped = plan_.stopped = stopped();
    result_.winner = chosen();
    if (!result_.tried[result_.winner].validation) {
      for (const Tried& tried : result_.tried) {
        check(tried.failed.empty(), "fit: no model was fitted; ", tried.name, ": ", tried.failed);
      }
      fail("fit: the time was over before a model was fitted; give a longer --time");
    }
    if (!result_.tried[result_.winner].test) {
      measure(result_.winner);
    }
    result_.seconds = seconds();
    plan_.used = seconds();
    plan_.save(call_.folder + "/plan.json");
  }

  std::map<size_t, nlohmann::json> done_;  // what others have trained, by candidate
  FitPlan& plan_;
  std::vector<PlannedCandidate> asked_;  // by a plan: the candidates as that has them
  const SearchCall& call_;
  const Task& task_;
  SearchResult result_;
  std::vector<std::unique_ptr<Solver>> solvers_;
  Stopwatch watch_;
  double load_seconds_ = 0, test_seconds_ = 0, longest_fit_ = 0, refit_seconds_ = 0;
  bool higher_ = true;
};

}  // namespace

SearchResult search(FitPlan& plan, const SearchCall& call) { return Search(plan, call)(); }

void search_part(const std::string& folder, const SearchPart& part, const std::atomic<bool>* stop) {
  FitPlan plan = FitPlan::load(folder + "/plan.json");
  check(part.candidate < plan.candidates.size(), folder, ": its plan has no candidate ",
        part.candidate);
  const SearchCall call{.folder = folder, .stop = stop};
  Search(plan, call).do_part(part);
}

}  // namespace fovea
