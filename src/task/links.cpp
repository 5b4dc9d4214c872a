// links: whether there is an edge between two nodes of a graph. Some edges are held out; what is
// learned is to tell the others from pairs that have none.
#include <cmath>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fovea/attention/recorder.h"
#include "fovea/base/file.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/graph_data.h"
#include "fovea/task/graph_sampling.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"

namespace fovea {
namespace {

using Pair = std::pair<int32_t, int32_t>;
using Pairs = std::vector<Pair>;

struct LinkParts {
  std::vector<GraphRecord> graphs;  // one
  Pairs train, dev, test;
  NodeGraph ready;                                    // of the edges to learn from
  std::unique_ptr<const NeighbourSampler> sampler{};  // of the same, where neighbours are drawn
  std::unique_ptr<const NeighbourSampler> all{};      // of all edges: who is joined
  std::vector<int64_t> counts{};
  const GraphRecord& graph() const { return graphs[0]; }
};

class Links final : public Solver {
 public:
  Links(const Config& config, Purpose purpose, const std::string& folder)
      : Solver(config, purpose, folder) {
    if (folder.empty()) {
      parts();
    } else {
      form_ = FeatureForm::from(read_graph_json(folder), folder + "/graph.json");
    }
    model_ = model<Scorer>({.labels = 2, .features = form_->features});
  }

  void save_vocabulary(const std::string& folder) const override {
    nlohmann::json json;
    form_->add_to(json);
    const std::string text = json.dump() + "\n";
    write_file_atomically(folder + "/graph.json", std::as_bytes(std::span(text)));
  }

  int64_t begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    const std::vector<Lengths> lengths(parts().train.size(), Lengths{1});
    const Random order = Random(config_.seed).fork("order").fork(static_cast<uint64_t>(epoch));
    // The whole graph costs what it costs, for one pair or for all.
    const int64_t batch =
        parts().sampler ? config_.batch : static_cast<int64_t>(parts().train.size());
    batches_ = batches_by_length(lengths, {.examples = batch}, order);
    return static_cast<int64_t>(batches_.size());
  }

  Loss loss(int64_t number) override {
    const LinkParts& p = parts();
    Pairs pairs;
    for (int64_t i : batches_.at(static_cast<size_t>(number))) {
      pairs.push_back(p.train[static_cast<size_t>(i)]);
    }
    const size_t edges = pairs.size();
    const Random random = Random(config_.seed)
                              .fork("pairs")
                              .fork(static_cast<uint64_t>(epoch_))
                              .fork(static_cast<uint64_t>(number));
    const Pairs others = apart(edges, random.fork("apart"));
    pairs.insert(pairs.end(), others.begin(), others.end());
    std::vector<int32_t> wanted(pairs.size(), 0);
    std::fill_n(wanted.begin(), edges, 1);
    const auto count = static_cast<int64_t>(wanted.size());
    return {model_->loss(inputs(pairs, random.fork("neighbours")).in,
                         Tensor::adopt({count}, std::move(wanted)), config_.smoothing),
            count};
  }

  std::vector<Metric> validate() override {
    Pairs dev = parts().dev;
    const auto most = static_cast<size_t>(config_.validate_examples);
    if (most > 0 && dev.size() > most) dev.resize(most);
    return measure(dev).values();
  }
  Evaluation evaluate(const std::string& part) override {
    if (part == "dev") return measure(parts().dev);
    if (part == "test") return measure(parts().test);
    fail("links: measures on dev and test, the edges that it held out, not on '", part, "'");
  }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    Pairs pairs;
    for (const std::string& line : lines) pairs.push_back(asked_by(line));
    std::vector<std::vector<Prediction>> all;
    const std::vector<double> odds = log_odds(pairs);
    for (double x : odds) {
      const double yes = -std::log1p(std::exp(-x)), no = -std::log1p(std::exp(x));
      std::vector<Prediction> two{{"yes", yes}, {"no", no}};
      if (no > yes) std::swap(two[0], two[1]);
      if (options.details) {
        for (const Prediction& one : two) {
          two[0].probabilities.push_back({one.text, std::exp(one.score)});
        }
      }
      two.resize(static_cast<size_t>(std::min<int64_t>(2, options.nbest)));
      all.push_back(std::move(two));
    }
    return all;
  }

  // Whom each of the two looks at.
  Drawing attend(const std::string& input) const override {
    const Pair asked = asked_by(input);
    const GraphRecord& graph = parts().graph();
    const Asked in = inputs({asked}, when_answering());
    Capture capture{.what = Capture::What::rows};
    const auto rows = in.in.rows.read<int32_t>();
    capture.queries = {rows[0], rows[1]};
    const Recorder recorder(capture);
    const Tensor scores = (*model_)(in.in).scores;
    Drawing drawing{scores.read()[1] > 0 ? "yes" : "no", {}};
    const std::vector<std::string> keys(in.nodes.size());
    const auto name = [&](int32_t node) { return graph.names[static_cast<size_t>(node)]; };
    const std::vector<std::string> queries{name(asked.first), name(asked.second)};
    for (const AttentionMap& map : maps_of(recorder, 0, [&](const std::string&) {
           return MapLabels{queries, keys};
         })) {
      for (size_t q = 0; q < 2; ++q) {
        AttentionMap row;
        row.name = map.name + " of " + queries[q], row.queries = {queries[q]};
        const auto from = map.weights.begin() + static_cast<ptrdiff_t>(q * keys.size());
        row.weights.assign(from, from + static_cast<ptrdiff_t>(keys.size()));
        std::vector<int32_t> near;
        for (size_t i = 0; i < keys.size(); ++i) {
          if (row.weights[i] > 0) near.push_back(static_cast<int32_t>(i));
        }
        drawing.maps.push_back(star_map(
            row, graph, near, [&](int32_t i) { return in.nodes[static_cast<size_t>(i)]; }));
      }
    }
    return drawing;
  }

  std::vector<std::string> labels() const override { return {"no", "yes"}; }

  DataReport data_report() override {
    const LinkParts& p = parts();
    DataReport report;
    report.unit = "edges";
    report.train = static_cast<int64_t>(p.train.size());
    report.dev = static_cast<int64_t>(p.dev.size());
    report.test = static_cast<int64_t>(p.test.size());
    report.split = split_text();
    return report;
  }
  std::string summary() override {
    const LinkParts& p = parts();
    return say("a graph of ", p.graph().nodes(), " nodes; ", p.train.size(),
               " edges to learn from, ", p.dev.size(), " to validate on, ", p.test.size(),
               " to test on");
  }

 private:
  static Random when_answering() { return Random(0).fork("neighbours"); }

  const LinkParts& parts() const {
    std::call_once(read_, [this] { load_parts(parts_); });
    return parts_;
  }
  void load_parts(LinkParts& p) const {
    check(!config_.data.empty(), "links: needs data: a folder, two files, JSON lines, or builtin:",
          find_task(config_.task).builtin[0].name);
    p.graphs = load_graphs(config_, config_.data);
    check<ErrorKind::input>(p.graphs.size() == 1, config_.data, ": holds ", p.graphs.size(),
                            " graphs; links learns the edges of one");
    const GraphRecord& graph = p.graph();
    // Each edge once, whichever way it is written.
    for (auto [from, to] : graph.edges) {
      if (from == to) continue;
      if (!config_.directed && from > to) std::swap(from, to);
      p.train.emplace_back(from, to);
    }
    std::ranges::sort(p.train);
    p.train.erase(std::unique(p.train.begin(), p.train.end()), p.train.end());
    check<ErrorKind::input>(p.train.size() >= 10, config_.data, ": has ", p.train.size(),
                            " edges between different nodes; links needs at least 10");
    const auto pairs = static_cast<double>(graph.nodes()) * static_cast<double>(graph.nodes() - 1);
    check<ErrorKind::input>(static_cast<double>(p.train.size()) < 0.25 * pairs, config_.data,
                            ": nearly every pair of its ", graph.nodes(),
                            " nodes is an edge; there is nothing to tell apart");
    if (!form_) form_ = feature_form(std::vector{&graph}, config_.data);
    const GraphBatchOptions how{*form_, config_.directed};
    p.all = std::make_unique<const NeighbourSampler>(graph, p.train, how);
    // Two nodes that are joined both ways would tell one edge by the other.
    const auto ends = [](const Pair& edge) {
      return say(std::min(edge.first, edge.second), " ", std::max(edge.first, edge.second));
    };
    if (config_.directed) {
      p.dev = take_part(p.train, config_.dev_part, "dev", ends);
      p.test = take_part(p.train, config_.test_part, "test", ends);
    } else {
      p.dev = take_part(p.train, config_.dev_part, "dev");
      p.test = take_part(p.train, config_.test_part, "test");
    }
    if (!config_.neighbours.empty()) {
      p.counts = neighbour_counts(config_.neighbours, layers_of(config_));
      p.sampler = std::make_unique<const NeighbourSampler>(graph, p.train, how);
      return;
    }
    std::vector<int32_t> nodes(graph.names.size()), edges;
    std::iota(nodes.begin(), nodes.end(), 0);
    for (const auto& [from, to] : p.train) {
      edges.push_back(to), edges.push_back(from);
      if (!config_.directed) edges.push_back(from), edges.push_back(to);
    }
    const auto count = static_cast<int64_t>(edges.size()) / 2;
    p.ready = node_graph(graph, nodes, Tensor::adopt({count, 2}, std::move(edges)), how.form);
  }

  // The two names of a line, with a tab or a space between them.
  Pair asked_by(const std::string& line) const {
    const size_t tab = line.find('\t'), cut = tab != line.npos ? tab : line.find(' ');
    check(cut != line.npos && cut > 0 && cut + 1 < line.size(),
          "links: needs two nodes with a tab or a space between them, got '", line, "'");
    const auto find = [&](const std::string& name) {
      if (!numbers_) numbers_.emplace(parts().graph());
      const int32_t node = numbers_->find(name);
      check(node >= 0, "links: there is no node '", name, "' in ", config_.data);
      return node;
    };
    const int32_t first = find(line.substr(0, cut));
    return {first, find(line.substr(cut + 1))};
  }

  // Pairs of nodes that are not joined.
  Pairs apart(size_t count, Random random) const {
    const auto nodes = static_cast<uint64_t>(parts().graph().nodes());
    Pairs found;
    while (found.size() < count) {
      const auto u = static_cast<int32_t>(random.below(nodes)),
                 v = static_cast<int32_t>(random.below(nodes));
      if (u != v && !parts().all->joined(u, v)) found.emplace_back(u, v);
    }
    return found;
  }

  struct Asked {
    ModelInputs in;
    std::vector<int32_t> nodes;  // that the graph is made of
  };
  Asked inputs(const Pairs& pairs, const Random& random) const {
    const LinkParts& p = parts();
    Asked made;
    std::vector<int32_t> rows;
    for (const auto& [u, v] : pairs) rows.push_back(u), rows.push_back(v);
    if (p.sampler) {
      std::vector<int32_t> ends = rows;
      std::ranges::sort(ends);
      ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
      for (int32_t& row : rows) {
        row = static_cast<int32_t>(std::ranges::lower_bound(ends, row) - ends.begin());
      }
      NeighbourSampler::Part part = p.sampler->around(ends, p.counts, random);
      made.in.graph = std::move(part.graph);
      made.nodes = std::move(part.nodes);
    } else {
      made.in.graph = p.ready;
      made.nodes.resize(p.graph().names.size());
      std::iota(made.nodes.begin(), made.nodes.end(), 0);
    }
    const auto count = static_cast<int64_t>(rows.size());
    made.in.rows = Tensor::adopt({count}, std::move(rows));
    return made;
  }

  std::vector<double> log_odds(const Pairs& pairs) const {
    std::vector<double> odds;
    // The whole graph is gone through once for all pairs.
    const size_t at_once = parts().sampler ? 256 : std::max<size_t>(1, pairs.size());
    for (size_t from = 0; from < pairs.size(); from += at_once) {
      const Pairs some(
          pairs.begin() + static_cast<ptrdiff_t>(from),
          pairs.begin() + static_cast<ptrdiff_t>(std::min(pairs.size(), from + at_once)));
      const Tensor scores = (*model_)(inputs(some, when_answering()).in).scores;
      for (int64_t i = 0; i < scores.dim(0); ++i) {
        odds.push_back(scores.read()[static_cast<size_t>(2 * i + 1)]);
      }
    }
    return odds;
  }

  // Each edge against 100 pairs without one, which some edges share.
  Evaluation measure(const Pairs& edges) const {
    constexpr size_t together = 64, others = 100;
    const Stopwatch watch;
    Evaluation result;
    Evaluation::One auc{"auc", {}}, hits{"hits_at_10", {}};
    Pairs asked = edges;
    for (size_t from = 0; from < edges.size(); from += together) {
      const Pairs none = apart(others, Random(0).fork("apart").fork(from));
      asked.insert(asked.end(), none.begin(), none.end());
    }
    const std::vector<double> odds = log_odds(asked);
    result.seconds = watch.seconds();
    for (size_t i = 0; i < edges.size(); ++i) {
      const auto pool = std::span(odds).subspan(edges.size() + i / together * others, others);
      double below = 0, above = 0;
      for (double x : pool) {
        below += x < odds[i] ? 1 : x == odds[i] ? 0.5 : 0;
        above += x > odds[i];
      }
      auc.tallies.push_back({below / others, 1});
      hits.tallies.push_back({above < 10 ? 1.0 : 0.0, 1});
      const auto name = [&](int32_t node) {
        return parts().graph().names[static_cast<size_t>(node)];
      };
      result.inputs.push_back(name(edges[i].first) + "\t" + name(edges[i].second));
      result.truths.push_back("yes");
      result.outputs.push_back(odds[i] > 0 ? "yes" : "no");
    }
    result.metrics = {auc, hits};
    return result;
  }

  mutable std::once_flag read_;
  mutable LinkParts parts_;
  mutable std::optional<FeatureForm> form_;     // by what it learned from
  mutable std::optional<NodeNumbers> numbers_;  // of its nodes, once one was asked for
  int64_t epoch_ = 0;
  std::vector<std::vector<int64_t>> batches_;
  std::unique_ptr<const Scorer> model_;
};

}  // namespace

std::unique_ptr<Solver> make_links(const Config& config, Purpose purpose,
                                   const std::string& folder) {
  return std::make_unique<Links>(config, purpose, folder);
}

}  // namespace fovea
