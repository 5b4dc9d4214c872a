// Heat maps as one interactive page.
#include "fovea/report/heat_map_json.h"
#include "fovea/report/page.h"

namespace fovea {

std::string draw_html(const Drawing& drawing) {
  return build_page(
      {.html = "heat_map.html",
       .title = drawing.title.empty() ? "Attention" : drawing.title,
       .styles = {"base.css", "heat.css"},
       .scripts = {"base.js", "star.js", "heat.js", "picture.js", "heads.js", "heat_map.js"},
       .data = to_json(drawing)});
}

}  // namespace fovea
