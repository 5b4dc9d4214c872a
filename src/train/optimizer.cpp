#include "fovea/train/optimizer.h"

#include <array>
#include <cmath>

#include "fovea/base/names.h"
#include "fovea/kernel/optimizer_rules.h"
#include "fovea/kernel/reduce.h"

namespace fovea {
namespace {

using kernel::Rule;

struct Kind {
  std::string name;
  Rule rule;
  std::vector<std::string> arrays;  // in the order of the rule; names of what is saved
  bool decoupled_decay = false;
};

const std::array kinds = {
    Kind{"adam", Rule::adam, {"m", "v"}},
    Kind{"adamw", Rule::adam, {"m", "v"}, true},
    Kind{"sgd", Rule::sgd, {"velocity"}},
    Kind{"adadelta", Rule::adadelta, {"square", "change"}},
    Kind{"rmsprop", Rule::rmsprop, {"square"}},
};
const Kind centred_rmsprop{"rmsprop", Rule::rmsprop_centred, {"square", "mean"}};

const Kind& find_kind(const OptimizerOptions& options) {
  std::vector<std::string> known;
  for (const Kind& kind : kinds) {
    if (kind.name != options.kind) {
      known.push_back(kind.name);
    } else {
      return options.centred && kind.rule == Rule::rmsprop ? centred_rmsprop : kind;
    }
  }
  fail(unknown_name("optimiser", options.kind, known));
}

void check_options(const OptimizerOptions& o) {
  check(o.rate > 0 && std::isfinite(o.rate), o.kind, ": the rate must be above 0, got ", o.rate);
  check(o.eps > 0, o.kind, ": eps must be above 0, got ", o.eps);
  check(o.weight_decay >= 0, o.kind, ": the weight decay cannot be negative, got ", o.weight_decay);
  for (const auto& [name, value] : {std::pair("beta1", o.beta1),
                                    {"beta2", o.beta2},
                                    {"momentum", o.momentum},
                                    {"rho", o.rho}}) {
    check(value >= 0 && value < 1, o.kind, ": ", name, " must be in [0, 1), got ", value);
  }
}

class RuleOptimizer : public Optimizer {
 public:
  RuleOptimizer(const Parameters& parameters, std::vector<ParameterSlice> slices, const Kind& kind,
                const OptimizerOptions& options, const std::vector<ParameterGroup>& groups)
      : parameters_(parameters.entries().begin(), parameters.entries().end()),
        slices_(std::move(slices)),
        kind_(kind),
        options_(options) {
    for (const ParameterSlice& slice : slices_) {
      const Parameter& w = slice.parameter;
      groups_.push_back({});
      for (const ParameterGroup& group : groups) {
        if (w.name().starts_with(group.prefix)) groups_.back() = group;
      }
      const bool whole = slice.count == w.elements();
      for (size_t k = 0; k < kind.arrays.size(); ++k) {
        arrays_.push_back(Tensor::zeros(whole ? w.shape() : Shape{slice.count}, w.dtype()));
      }
    }
  }

  void step(const Gradients& gradients, double factor) override {
    ++steps_;
    Tensor* arrays = arrays_.data();
    for (size_t i = 0; i < slices_.size(); ++i, arrays += kind_.arrays.size()) {
      const Parameter& w = slices_[i].parameter;
      if (!gradients.has(w)) continue;
      const Tensor g = gradients[w];
      check(g.dtype() == w.dtype() && g.shape() == w.shape(), kind_.name, ": a parameter of shape ",
            w.shape(), " needs a gradient like it, got ", g.shape());
      with_real(w.dtype(), [&]<class T>(T) {
        update<T>(i, arrays, g.read<T>().subspan(static_cast<size_t>(slices_[i].begin)), factor);
      });
    }
  }

  void step_slices(std::span<const std::span<const float>> gradients, double factor) override {
    check(gradients.size() == slices_.size(), kind_.name, ": ", slices_.size(),
          " slices need as many gradients, got ", gradients.size());
    ++steps_;
    Tensor* arrays = arrays_.data();
    for (size_t i = 0; i < slices_.size(); ++i, arrays += kind_.arrays.size()) {
      if (!gradients[i].empty()) update<float>(i, arrays, gradients[i], factor);
    }
  }

  std::span<const Tensor> arrays() const override { return arrays_; }
  const std::vector<std::string>& array_names() const override { return kind_.arrays; }

  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> named{
        {"steps", Tensor::of({1}, std::vector<int32_t>{static_cast<int32_t>(steps_)})}};
    size_t at = 0;
    for (const ParameterSlice& slice : slices_) {
      for (const std::string& array : kind_.arrays) {
        named.push_back({array + "/" + slice.parameter.name(), arrays_[at++]});
      }
    }
    return named;
  }

  void restore(const Safetensors& from) override {
    const Tensor steps = load(from, "steps", {1}, Dtype::i32);
    std::vector<Tensor> arrays;
    for (const ParameterSlice& slice : slices_) {
      const Parameter& w = slice.parameter;
      for (const std::string& array : kind_.arrays) {
        const Tensor whole = load(from, array + "/" + w.name(), w.shape(), w.dtype());
        const auto at = static_cast<size_t>(slice.begin), n = static_cast<size_t>(slice.count);
        arrays.push_back(slice.count == w.elements()
                             ? whole
                             : Tensor::of({slice.count}, whole.read().subspan(at, n)));
      }
    }
    // All of this model's arrays are there; one more would belong to a larger model.
    size_t ours = 0;
    const size_t needed = parameters_.size() * kind_.arrays.size();
    for (const auto& entry : from.entries()) {
      for (const std::string& array : kind_.arrays) ours += entry.name.starts_with(array + "/");
    }
    check(ours == needed, kind_.name, ": the saved state has ", ours, " arrays for ", kind_.name,
          ", this model needs ", needed,
          "; it belongs to another model: start anew or resume that one");
    steps_ = steps.read<int32_t>()[0];
    arrays_ = std::move(arrays);
  }

 private:
  // Slice i by the gradient g, which begins where the slice does.
  template <class T>
  void update(size_t i, Tensor* arrays, std::span<const T> g, double factor) const {
    const ParameterSlice& slice = slices_[i];
    T* a[2] = {};
    for (size_t k = 0; k < kind_.arrays.size(); ++k) a[k] = arrays[k].template write<T>().data();
    kernel::update(kind_.rule, rule_step(groups_[i], factor),
                   slice.parameter.write<T>().data() + slice.begin, a, g.data(), slice.count);
  }

  kernel::RuleStep rule_step(const ParameterGroup& group, double factor) const {
    const double rate = options_.rate * factor * group.rate;
    const double decay = options_.weight_decay * group.weight_decay;
    return {.rate = rate,
            .l2 = kind_.decoupled_decay ? 0 : decay,
            .decay = kind_.decoupled_decay ? rate * decay : 0,
            .beta1 = options_.beta1,
            .beta2 = options_.beta2,
            .eps = options_.eps,
            .fix1 = 1 - std::pow(options_.beta1, steps_),
            .fix2 = 1 - std::pow(options_.beta2, steps_),
            .momentum = options_.momentum,
            .rho = options_.rho};
  }

  Tensor load(const Safetensors& from, const std::string& name, const Shape& shape,
              Dtype dtype) const {
    check(from.has(name), kind_.name, ": the saved state has no '", name,
          "'; it belongs to another model or optimiser: start anew or resume that one");
    const Tensor array = from.load(name);
    check(array.shape() == shape && array.dtype() == dtype, kind_.name, ": '", name,
          "' of the saved state must be ", dtype, ' ', shape, ", got ", array.dtype(), ' ',
          array.shape(), "; it belongs to another model: start anew or resume that one");
    return array;
  }

  std::vector<Parameter> parameters_;   // of the table
  std::vector<ParameterSlice> slices_;  // of them, that are stepped
  std::vector<ParameterGroup> groups_;  // one for each
  const Kind& kind_;
  OptimizerOptions options_;
  int64_t steps_ = 0;
  std::vector<Tensor> arrays_;  // for each slice those of its kind
};

}  // namespace

Optimizer::~Optimizer() = default;

std::unique_ptr<Optimizer> make_optimizer(const Parameters& parameters,
                                          const OptimizerOptions& options,
                                          const std::vector<ParameterGroup>& groups) {
  std::vector<ParameterSlice> whole;
  for (const Parameter& entry : parameters.entries()) whole.push_back({entry, 0, entry.elements()});
  return make_optimizer(parameters, std::move(whole), options, groups);
}

std::unique_ptr<Optimizer> make_optimizer(const Parameters& parameters,
                                          std::vector<ParameterSlice> slices,
                                          const OptimizerOptions& options,
                                          const std::vector<ParameterGroup>& groups) {
  const Kind& kind = find_kind(options);
  check_options(options);
  return std::make_unique<RuleOptimizer>(parameters, std::move(slices), kind, options, groups);
}

double gradient_norm(const Parameters& parameters, const Gradients& gradients) {
  double sum = 0;
  for (const auto& entry : parameters.entries()) {
    if (!gradients.has(entry)) continue;
    const Tensor g = gradients[entry];
    sum += with_real(g.dtype(), [&]<class T>(T) {
      return kernel::square_sum(g.read<T>().data(), g.elements());
    });
  }
  return std::sqrt(sum);
}

double clip_by_norm(const Parameters& parameters, Gradients& gradients, double limit) {
  check(limit > 0, "clip: the limit must be above 0, got ", limit);
  const double norm = gradient_norm(parameters, gradients);
  if (norm > limit) gradients *= limit / norm;
  return norm;
}

}  // namespace fovea
