// What tasks share whose models may be fitted at once in the place of steps, or before them.
#pragma once

#include <memory>
#include <utility>

#include "fovea/model/model.h"
#include "fovea/task/example_solver.h"

namespace fovea {

// The constructor of a task calls take_model().
template <class Example>
class FittingSolver : public ExampleSolver<Example> {
 public:
  FitChoice fit(const FitLimits& limits) override {
    if (!fitted_) return {};
    return fitted_->fit(known(this->parts().train), known(this->parts().dev), limits);
  }
  bool refit(const FitChoice& choice) override {
    return fitted_ && choice.tries > 0 && fitted_->refit(known(this->train_and_dev()), choice);
  }
  bool fits() const override { return fitted_ != nullptr; }
  bool learns_by_steps() const override { return !fitted_ || fitted_->goes_on(); }

 protected:
  using ExampleSolver<Example>::ExampleSolver;

  // What the model is given, and what it should answer.
  virtual Fitted::Examples known(const std::vector<Example>& of) const = 0;

  // For constructors.
  void take_model(std::unique_ptr<const Scorer> model) {
    model_ = std::move(model);
    fitted_ = dynamic_cast<const Fitted*>(model_.get());
  }

  std::unique_ptr<const Scorer> model_;  // what answers
  const Fitted* fitted_ = nullptr;       // the model, where it is one
};

}  // namespace fovea
