#include "fovea/train/fit.h"

#include <filesystem>
#include <numeric>

#include "fovea/train/checkpoint.h"

namespace fovea {
namespace {

class FromMemory : public Learner {
 public:
  FromMemory(const Parameters& model, int64_t batches, const BatchLoss& loss,
             const FitOptions& options)
      : model_(model), loss_(loss), options_(options), order_(static_cast<size_t>(batches)) {}

  const Parameters& parameters() const override { return model_; }

  int64_t begin_epoch(int64_t epoch) override {
    std::iota(order_.begin(), order_.end(), 0);
    if (options_.shuffle) {
      Random random = Random(static_cast<uint64_t>(options_.train.seed))
                          .fork("order")
                          .fork(static_cast<uint64_t>(epoch));
      for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
    }
    return static_cast<int64_t>(order_.size());
  }

  Loss loss(int64_t batch) override {
    const Tensor value = loss_(order_[static_cast<size_t>(batch)]);
    check(value.elements() == 1, "fit: the loss of a batch must be one number, got ",
          value.shape());
    sum_ += value.item(), ++count_;
    return {value, 1};
  }

  std::vector<Metric> validate() override {
    if (options_.validate) return {options_.validate()};
    const Metric mean{"loss", false, count_ > 0 ? sum_ / static_cast<double>(count_) : 0};
    sum_ = 0, count_ = 0;
    return {mean};
  }

 private:
  const Parameters& model_;
  const BatchLoss& loss_;
  const FitOptions& options_;
  std::vector<int64_t> order_;
  double sum_ = 0;  // of losses since the last validation
  int64_t count_ = 0;
};

}  // namespace

TrainResult fit(const Parameters& model, int64_t batches, const BatchLoss& loss,
                const FitOptions& options) {
  check(batches >= 1, "fit: needs at least one batch");
  check(options.validate || (options.train.early_stop == 0 && options.train.schedule != "plateau"),
        "fit: to stop early, or to slow down on a plateau, it needs a function that validates");
  FromMemory learner(model, batches, loss, options);
  TrainCall call{.options = options.train,
                 .folder = options.folder,
                 .resume = options.resume,
                 .progress = options.progress,
                 .stop_when = options.stop,
                 .groups = options.groups};
  call.options.keep_best = options.train.keep_best && options.validate != nullptr;
  const TrainResult result = train(learner, call);
  const std::string best = options.folder + "/model.safetensors";
  if (call.options.keep_best && !options.folder.empty() && std::filesystem::exists(best)) {
    load_parameters(best, model);
  }
  return result;
}

}  // namespace fovea
