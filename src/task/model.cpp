#include "fovea/task/model.h"

#include <filesystem>

#include "fovea/task/solver.h"

namespace fovea {

Model Model::open(const std::string& folder) { return open(folder, Settings()); }

Model Model::open(const std::string& folder, const Settings& settings) {
  const std::string best = folder + "/best";
  const bool comparison = !std::filesystem::exists(folder + "/config.json") &&
                          std::filesystem::exists(best + "/config.json");
  return Model(open_solver(comparison ? best : folder, settings));
}

Model Model::train(const std::string& task, const Settings& settings, const std::string& folder) {
  check(!folder.empty(), "model: needs a folder to learn in");
  check(!std::filesystem::exists(folder + "/config.json"), folder, ": already holds a model");
  const Config config = make_config(find_task(task), settings);
  const auto solver = begin_run(config, folder, false);
  TrainCall call;
  call.options = config;
  call.folder = folder;
  fovea::train(*solver, call);
  return open(folder);
}

Answer Model::predict(const std::string& line, const AskOptions& options) const {
  return std::move(predict(std::span(&line, 1), options)[0]);
}

std::vector<Answer> Model::predict(std::span<const std::string> lines,
                                   const AskOptions& options) const {
  PredictOptions how;
  how.nbest = options.nbest;
  how.seed = options.seed;
  how.details = true;
  const bool streams = options.written && solver_->writes_as_it_goes();
  if (streams) how.written = options.written;
  std::vector<Answer> all(lines.size());
  auto predictions = solver_->predict({lines.begin(), lines.end()}, how);
  for (size_t i = 0; i < lines.size(); ++i) {
    all[i].predictions = std::move(predictions[i]);
    if (options.written && !streams) options.written(i, all[i].best().text);
    if (!options.weights) continue;
    for (AttentionMap& map : solver_->attend(lines[i]).maps) {
      const Shape shape{static_cast<int64_t>(map.queries.size()),
                        static_cast<int64_t>(map.keys.size())};
      AnswerMap array;
      array.weights = Tensor::adopt(shape, std::move(map.weights));
      array.name = std::move(map.name);
      array.queries = std::move(map.queries), array.keys = std::move(map.keys);
      all[i].maps.push_back(std::move(array));
    }
  }
  return all;
}

const Config& Model::config() const { return solver_->config(); }

int64_t Model::parameters() const { return solver_->parameters().count(); }

}  // namespace fovea
