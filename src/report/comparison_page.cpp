// The comparison's page: its parts are in src/report/page.
#include "fovea/report/comparison_page.h"

#include "fovea/report/page.h"

namespace fovea {

std::string comparison_page(const nlohmann::json& comparison) {
  std::string title = "Comparison";
  if (comparison.is_object()) {
    const auto found = comparison.find("title");
    if (found != comparison.end() && found->is_string() && !found->get<std::string>().empty())
      title = found->get<std::string>();
  }
  return build_page({.html = "comparison.html",
                     .title = std::move(title),
                     .styles = {"base.css", "heat.css", "comparison.css"},
                     .scripts = {"base.js", "numbers.js", "star.js", "heat.js", "picture.js",
                                 "heads.js", "table.js", "curves.js", "lengths.js", "chart.js",
                                 "cost.js", "classes.js", "examples.js", "comparison.js"},
                     .data = comparison});
}

}  // namespace fovea
