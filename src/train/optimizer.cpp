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
  RuleOptimizer(const Parameters& parameters, const Kind& kind, const OptimizerOptions& options,
                const std::vector<ParameterGroup>& groups)
      : parameters_(parameters.entries().begin(), parameters.entries().end()),
        kind_(kind),
        options_(options) {
    for (const Parameter& entry : parameters_) {
      groups_.push_back({});
      for (const ParameterGroup& group : groups) {
        if (entry.name().starts_with(group.prefix)) groups_.back() = group;
      }
      for (size_t k = 0; k < kind.arrays.size(); ++k) {
        arrays_.push_back(Tensor::zeros(entry.value().shape(), entry.value().dtype()));
      }
    }
  }

  void step(const Gradients& gradients, double factor) override {
    ++steps_;
    const auto step_of = [&](const ParameterGroup& group) -> kernel::RuleStep {
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
    };
    Tensor* arrays = arrays_.data();
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& w = parameters_[i];
      if (gradients.has(w)) step(step_of(groups_[i]), w, arrays, gradients[w]);
      arrays += kind_.arrays.size();
    }
  }

  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> named{
        {"steps", Tensor::of({1}, std::vector<int32_t>{static_cast<int32_t>(steps_)})}};
    const std::vector<std::string> names = array_names();
    for (size_t i = 0; i < names.size(); ++i) named.push_back({names[i], arrays_[i]});
    return named;
  }

  void restore(const Safetensors& from) override {
    const Tensor steps = load(from, "steps", {1}, Dtype::i32);
    const std::vector<std::string> names = array_names();
    std::vector<Tensor> arrays;
    for (size_t i = 0; i < names.size(); ++i) {
      arrays.push_back(load(from, names[i], arrays_[i].shape(), arrays_[i].dtype()));
    }
    // All of this model's arrays are there; one more would belong to a larger model.
    size_t ours = 0;
    for (const auto& entry : from.entries()) {
      for (const std::string& array : kind_.arrays) ours += entry.name.starts_with(array + "/");
    }
    check(ours == names.size(), kind_.name, ": the saved state has ", ours, " arrays for ",
          kind_.name, ", this model needs ", names.size(),
          "; it belongs to another model: start anew or resume that one");
    steps_ = steps.read<int32_t>()[0];
    arrays_ = std::move(arrays);
  }

 private:
  std::vector<std::string> array_names() const {
    std::vector<std::string> names;
    for (const Parameter& entry : parameters_) {
      for (const std::string& array : kind_.arrays) names.push_back(array + "/" + entry.name());
    }
    return names;
  }

  void step(const kernel::RuleStep& how, const Parameter& w, Tensor* arrays,
            const Tensor& g) const {
    check(g.dtype() == w.dtype() && g.shape() == w.shape(), kind_.name, ": a parameter of shape ",
          w.shape(), " needs a gradient like it, got ", g.shape());
    with_real(w.dtype(), [&]<class T>(T) {
      T* a[2] = {};
      for (size_t k = 0; k < kind_.arrays.size(); ++k) a[k] = arrays[k].write<T>().data();
      kernel::update(kind_.rule, how, w.write<T>().data(), a, g.read<T>().data(), w.elements());
    });
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

  std::vector<Parameter> parameters_;
  std::vector<ParameterGroup> groups_;  // one for each
  const Kind& kind_;
  OptimizerOptions options_;
  int64_t steps_ = 0;
  std::vector<Tensor> arrays_;  // for each parameter of the table those of its kind
};

}  // namespace

Optimizer::~Optimizer() = default;

std::unique_ptr<Optimizer> make_optimizer(const Parameters& parameters,
                                          const OptimizerOptions& options,
                                          const std::vector<ParameterGroup>& groups) {
  const Kind& kind = find_kind(options);
  check_options(options);
  return std::make_unique<RuleOptimizer>(parameters, kind, options, groups);
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
