// A node of a graph with its neighbours round it, and edges as thick as their weight.
#pragma once

#include "fovea/report/heat_layout.h"

namespace fovea {

// Whether a map is drawn so: one node, and whom it looks at.
inline bool is_star(const AttentionMap& map) { return map.star && map.queries.size() == 1; }

// Places the panel of such a map: heaviest first, clockwise from the top; beyond the 24 heaviest a
// note says how many are left out.
void place_star(Panel& panel, const AttentionMap& map, const Canvas& canvas, bool alone);
// Paints what was placed.
void paint_star(const Panel& panel, Canvas& canvas);

}  // namespace fovea
