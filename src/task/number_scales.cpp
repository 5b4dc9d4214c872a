#include "fovea/task/number_scales.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"

namespace fovea {

NumberScales NumberScales::of(std::vector<std::string> names,
                              const std::vector<std::vector<double>>& rows) {
  NumberScales all;
  all.names = std::move(names);
  for (size_t i = 0; i < all.names.size(); ++i) {
    double n = 0, sum = 0, squares = 0;
    for (const auto& row : rows) {
      if (!std::isnan(row.at(i))) sum += row[i], ++n;
    }
    const double mean = n > 0 ? sum / n : 0;
    for (const auto& row : rows) {
      if (!std::isnan(row[i])) squares += (row[i] - mean) * (row[i] - mean);
    }
    const double deviation = n > 0 ? std::sqrt(squares / n) : 0;
    check<ErrorKind::input>(std::isfinite(mean) && std::isfinite(deviation), "record: numbers of '",
                            all.names[i], "' are too large to be scaled; mend them, or leave the ",
                            "column out");
    all.center.push_back(mean);
    all.scale.push_back(deviation > 0 ? deviation : 1);
  }
  return all;
}

Tensor NumberScales::scaled(const std::vector<std::vector<double>>& rows) const {
  const auto d = static_cast<int64_t>(names.size());
  Tensor x({static_cast<int64_t>(rows.size()), d});
  auto to = x.write().begin();
  for (const auto& row : rows) {
    check(static_cast<int64_t>(row.size()) == d, "record: needs ", d, " numbers, got ", row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      // Far out is as good as very far out, and a number that no one has seen cannot take over.
      const double z = std::clamp((row[i] - center[i]) / scale[i], -8.0, 8.0);
      *to++ = std::isnan(row[i]) ? 0.f : static_cast<float>(z);
    }
  }
  return x;
}

void NumberScales::save(const std::string& folder, const std::string& name) const {
  const nlohmann::ordered_json json{{"names", names}, {"center", center}, {"scale", scale}};
  const std::string text = json.dump(2) + "\n";
  write_file_atomically(folder + "/" + name + ".json", std::as_bytes(std::span(text)));
}

NumberScales NumberScales::load(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name + ".json";
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  try {
    NumberScales all{json.at("names"), json.at("center"), json.at("scale")};
    const size_t n = all.names.size();
    check<ErrorKind::input>(n > 0 && all.center.size() == n && all.scale.size() == n, path,
                            ": needs a center and a scale for each name");
    return all;
  } catch (const nlohmann::json::exception&) {
    fail<ErrorKind::input>(path, ": is not the record of a Fovea model");
  }
}

}  // namespace fovea
