#include <algorithm>

#include "fovea/base/parallel.h"
#include "fovea/kernel/attention_edges.h"

namespace fovea::kernel {

// A counting sort. While edges are placed, offsets[j + 1] is where the next edge of key j goes; in
// the end that is where the next key begins.
void edges_by_key(const EdgeLists& lists, int64_t sets, int64_t Tq, int64_t Tk,
                  int64_t* key_offsets, int32_t* key_edges, int32_t* key_queries) {
  parallel_for(sets, 1 + (1 << 15) / (1 + lists.edges), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end; ++set) {
      const int64_t* from = lists.offsets + set * (Tq + 1);
      const int32_t* keys = lists.keys + set * lists.edges;
      int64_t* to = key_offsets + set * (Tk + 1);
      std::fill_n(to, Tk + 1, 0);
      for (int64_t e = 0; e < from[Tq]; ++e) {
        if (keys[e] + 2 <= Tk) ++to[keys[e] + 2];
      }
      for (int64_t j = 2; j <= Tk; ++j) to[j] += to[j - 1];
      for (int64_t i = 0; i < Tq; ++i) {
        for (int64_t e = from[i]; e < from[i + 1]; ++e) {
          const int64_t at = set * lists.edges + to[keys[e] + 1]++;
          key_edges[at] = static_cast<int32_t>(e);
          key_queries[at] = static_cast<int32_t>(i);
        }
      }
    }
  });
}

}  // namespace fovea::kernel
