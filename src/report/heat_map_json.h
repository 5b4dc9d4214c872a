// A Drawing as JSON: {"title", "maps": [{"name", "queries", "keys", "weights": [[...], ...]}]}. A
// map over pictures has "ground": {"pictures": [{"height", "width", "channels", "pixels": base64}],
// "rows", "columns", "boxes": [[[x, y, width, height], ...], ...], "path"}.
#pragma once

#include <nlohmann/json.hpp>

#include "fovea/report/heat_map.h"

namespace fovea {

// Weights as rows.
nlohmann::json to_json(const Drawing& drawing);

// Weights may be rows or one flat row-major list. Fails where the sizes do not agree.
Drawing drawing_from_json(const nlohmann::json& json);

}  // namespace fovea
