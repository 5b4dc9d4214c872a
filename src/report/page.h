// The pages' own files (src/report/page), which the build puts into the library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// The text of src/report/page/`name`; fails for a name that is not there.
std::string_view page_file(std::string_view name);

// One HTML file: the template with `title`, these style sheets and scripts, and the data, each in
// the place that the template names {{title}}, {{style}}, {{script}}, {{data}}. Whatever the data
// holds stays data: it cannot end its element.
struct PageParts {
  std::string_view html;                          // the template
  std::string title;                              // plain text
  std::vector<std::string_view> styles, scripts;  // in this order
  nlohmann::json data;                            // what the scripts find as data
};
// The file's text.
std::string build_page(const PageParts& parts);

}  // namespace fovea
