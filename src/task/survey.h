// What each head does over many examples, in a few numbers: how many keys it spreads over, how far
// it looks, whether it stays on the first token or on the one before (after Clark et al. 2019, What
// Does BERT Look At?).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/report/heat_map.h"

namespace fovea {

// Means over all queries of all examples. Shares are of the weight; those that ask where a query
// stands among the keys are there only where queries and keys are the same text.
struct HeadSurvey {
  std::string name;                   // "encoder/1/self head 1"
  int64_t examples = 0, queries = 0;  // that were looked at
  double entropy = 0;                 // in nats
  double keys = 0;                    // exp of the entropy: as many keys, looked at equally
  double first = 0, special = 0;      // on the first key; on tokens that are no text
  // How far away the weight lies, in tokens, and its shares on the token before the query, on the
  // query itself and on the one after.
  std::optional<double> distance, before, same, after;
  // With a given alignment: the weight on keys that it names, and how often the heaviest is one.
  std::optional<double> agreement, heaviest_agrees;
};

// (key, query), both from 0, that belong together in one example.
using WordLinks = std::vector<std::pair<int64_t, int64_t>>;
// "0-0 1-2", a line each, as word aligners write them: key-query.
WordLinks parse_links(const std::string& line, const std::string& where);

// Collects, an example at a time.
class Survey {
 public:
  // The maps of one example; links: of its queries and keys, for maps whose queries are another
  // text than their keys.
  void add(const Drawing& drawing, const WordLinks* links = nullptr);
  // In the order in which the maps first came.
  std::vector<HeadSurvey> heads() const;

 private:
  struct Head {
    std::string name;
    int64_t examples = 0;
    // Weighted by queries: entropy, first, special; by queries that stand among keys: distance,
    // before, same, after; by queries with links: agreement, heaviest.
    double queries = 0, entropy = 0, first = 0, special = 0;
    double placed = 0, distance = 0, before = 0, same = 0, after = 0;
    double linked = 0, agreement = 0, heaviest = 0;
  };
  static void add_exact(Head& head, const AttentionMap& map, const WordLinks* links);
  static void add_summary(Head& head, const AttentionMap& map);
  std::vector<Head> heads_;
};

}  // namespace fovea
