// graph: a label for nodes of a graph, or for whole graphs.
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fovea/attention/recorder.h"
#include "fovea/base/file.h"
#include "fovea/op/reduce.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/graph_batch.h"
#include "fovea/task/graph_data.h"
#include "fovea/task/graph_sampling.h"
#include "fovea/task/label_answers.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/names.h"

namespace fovea {
namespace {

using Examples = std::vector<GraphExample>;

// Where one graph is all there is, it is in every part, with other nodes asked about.
struct GraphParts {
  std::vector<GraphRecord> graphs, more_dev, more_test;
  Examples train, dev, test;
  bool one = false;
};

std::vector<int32_t> labelled(const GraphRecord& graph) {
  std::vector<int32_t> nodes;
  for (size_t i = 0; i < graph.labels.size(); ++i) {
    if (!graph.labels[i].empty()) nodes.push_back(static_cast<int32_t>(i));
  }
  return nodes;
}

bool marks(const std::vector<GraphRecord>& graphs, NodePart part) {
  return std::ranges::any_of(graphs, [&](const GraphRecord& graph) {
    return std::ranges::find(graph.parts, part) != graph.parts.end();
  });
}

// Whole graphs, or their nodes of that part; of graphs that mark none of it, all that have a label.
Examples examples_of(const std::vector<GraphRecord>& graphs, bool whole, NodePart part) {
  Examples all;
  const bool some = !whole && marks(graphs, part);
  for (const GraphRecord& graph : graphs) {
    GraphExample one{&graph, whole ? std::vector<int32_t>() : labelled(graph), {}};
    check<ErrorKind::input>(whole ? !graph.label.empty() : !one.asked.empty(), "graph: a graph of ",
                            graph.nodes(), " nodes has no label, ",
                            whole ? "but others have" : "nor has any of its nodes");
    if (some) {
      std::erase_if(one.asked,
                    [&](int32_t node) { return graph.parts[static_cast<size_t>(node)] != part; });
      if (one.asked.empty()) continue;
    }
    all.push_back(std::move(one));
  }
  return all;
}

class Graphs final : public Solver {
 public:
  Graphs(const Config& config, Purpose purpose, const std::string& folder)
      : Solver(config, purpose, folder) {
    if (folder.empty()) {
      learn_labels();
    } else {
      labels_ = load_names(folder, "labels");
      const auto json = read_graph_json(folder);
      form_ = FeatureForm::from(json, folder + "/graph.json");
      check<ErrorKind::input>(json.contains("whole") && json["whole"].is_boolean(), folder,
                              "/graph.json: is not what a graph model leaves there");
      whole_ = json["whole"].get<bool>();
    }
    model_ = model<Scorer>({.labels = labels_.size(), .features = form_->features});
  }

  void save_vocabulary(const std::string& folder) const override {
    save_names(folder, "labels", labels_);
    nlohmann::json json{{"whole", whole_}};
    form_->add_to(json);
    const std::string text = json.dump() + "\n";
    write_file_atomically(folder + "/graph.json", std::as_bytes(std::span(text)));
  }

  int64_t begin_epoch(int64_t epoch) override {
    const Examples& train = parts().train;
    const Random order = Random(config_.seed).fork("order").fork(static_cast<uint64_t>(epoch));
    epoch_ = epoch;
    const size_t count = sampler_ ? train[0].asked.size() : train.size();
    const std::vector<Lengths> lengths(count, Lengths{1});
    batches_ = batches_by_length(lengths, {.examples = config_.batch}, order);
    return static_cast<int64_t>(batches_.size());
  }

  Loss loss(int64_t number) override {
    const std::vector<int64_t>& batch = batches_.at(static_cast<size_t>(number));
    Examples chosen;
    const int64_t n = std::ssize(batch);
    if (sampler_) chosen.push_back({parts().train[0].graph, {}, {}});
    for (int64_t k = shard_.begin(n); k < shard_.end(n); ++k) {
      const auto i = static_cast<size_t>(batch[static_cast<size_t>(k)]);
      if (sampler_) {
        chosen[0].asked.push_back(parts().train[0].asked[i]);
      } else {
        chosen.push_back(parts().train[i]);
      }
    }
    std::vector<int32_t> wanted;
    for (const std::string& label : truths(chosen)) wanted.push_back(labels_.id(label));
    const auto count = static_cast<int64_t>(wanted.size());
    const Tensor targets = Tensor::adopt({count}, std::move(wanted));
    if (!sampler_) return {model_->loss(inputs(chosen), targets, config_.smoothing), count, count};
    const Random random =
        Random(config_.seed).fork("neighbours").fork(static_cast<uint64_t>(epoch_));
    const auto at = static_cast<uint64_t>(number * shard_.of + shard_.number);
    const ModelInputs in = sampled(chosen[0].asked, random.fork(at)).in;
    return {model_->loss(in, targets, config_.smoothing), count, count};
  }
  int64_t examples_in(int64_t batch) const override {
    return std::ssize(batches_.at(static_cast<size_t>(batch)));
  }

  std::vector<Metric> validate() override {
    Examples dev = parts().dev;
    const auto most = static_cast<size_t>(config_.validate_examples);
    if (most > 0 && dev.size() > most) dev.resize(most);
    return measure(dev).values();
  }
  Evaluation evaluate(const std::string& part) override {
    if (part == "dev") return measure(parts().dev);
    if (part == "test") return measure(parts().test);
    const std::vector<GraphRecord> graphs = read_graphs(part);
    return measure(asked_of_file(graphs));
  }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<std::vector<Prediction>> all(lines.size());
    GraphExample nodes{};  // of the graph it learned from, which is gone through once for all
    std::vector<size_t> places;
    for (size_t i = 0; i < lines.size(); ++i) {
      std::vector<GraphRecord> kept;
      const GraphExample asked = asked_by(lines[i], kept);
      if (kept.empty()) {
        nodes.graph = asked.graph, nodes.ready = asked.ready;
        nodes.asked.push_back(asked.asked[0]);
        places.push_back(i);
        continue;
      }
      const auto found = answer({asked}, options.nbest, options.details);
      if (found.size() == 1) {
        all[i] = found[0];
        continue;
      }
      Prediction joined;  // of every node that was asked about, in order
      for (const auto& node : found) {
        joined.text += (joined.text.empty() ? "" : " ") + node[0].text;
        joined.score += node[0].score;
      }
      all[i] = {joined};
    }
    if (!places.empty()) {
      auto found = answer({nodes}, options.nbest, options.details);
      for (size_t k = 0; k < places.size(); ++k) all[places[k]] = std::move(found[k]);
    }
    return all;
  }

  // A node of the one graph with its neighbours, or a whole graph.
  Drawing attend(const std::string& input) const override {
    std::vector<GraphRecord> kept;
    const GraphExample asked = asked_by(input, kept);
    const GraphRecord& graph = *asked.graph;
    const bool node = kept.empty();
    if (node && sampler_) return attend_sampled(input, asked.asked[0]);
    Capture capture{.what = Capture::What::rows};
    if (node) capture.queries = asked.asked;
    const Recorder recorder(capture);
    const auto answers = answer({asked}, 1);
    std::string title;
    for (const auto& one : answers) title += (title.empty() ? "" : " ") + one[0].text;
    Drawing drawing{title, maps_of(recorder, 0, [&](const std::string&) {
                      return MapLabels{node ? std::vector{input} : graph.names, graph.names};
                    })};
    if (node) keep_neighbours(drawing, graph, asked.asked[0]);
    return drawing;
  }

  std::vector<std::string> labels() const override { return labels_.names(); }

  DataReport data_report() override {
    const GraphParts& p = parts();
    const auto count = [&](const Examples& part) {
      return static_cast<int64_t>(p.one ? part[0].asked.size() : part.size());
    };
    DataReport report;
    report.unit = p.one ? "nodes" : "graphs";
    report.train = count(p.train), report.dev = count(p.dev), report.test = count(p.test);
    report.split = split_text();
    std::map<std::string, int64_t> counts;
    for (const std::string& label : truths(p.train)) ++counts[label];
    count_labels(report, counts);
    return report;
  }

  std::string summary() override {
    const GraphParts& p = parts();
    if (!p.one) {
      return say(p.train.size(), " graphs to learn from, ", p.dev.size(), " to validate on, ",
                 p.test.size(), " to test on");
    }
    return say("a graph of ", p.graphs[0].nodes(), " nodes and ", p.graphs[0].edges.size(),
               " edges; ", p.train[0].asked.size(), " nodes to learn from, ", p.dev[0].asked.size(),
               " to validate on, ", p.test[0].asked.size(), " to test on");
  }

 private:
  const GraphParts& parts() const {
    std::call_once(read_, [this] { load_parts(parts_); });
    return parts_;
  }
  void load_parts(GraphParts& p) const {
    check(!config_.data.empty(), "graph: needs data: a folder, two files, JSON lines, or builtin:",
          find_task(config_.task).builtin[0].name);
    p.graphs = load_graphs(config_, config_.data);
    const bool whole = std::ranges::any_of(
        p.graphs, [](const GraphRecord& graph) { return !graph.label.empty(); });
    p.one = p.graphs.size() == 1 && !whole && config_.dev.empty() && config_.test.empty();
    check(p.one || config_.neighbours.empty(),
          "graph: neighbours are drawn from one graph whose nodes are labelled; leave the option "
          "out, as a batch of ",
          p.graphs.size(), " graphs costs what its graphs cost");
    if (p.one) {
      split_nodes(p);
      return;
    }
    // Nodes that are marked for one part are in no other.
    const bool marked =
        !whole && (marks(p.graphs, NodePart::dev) || marks(p.graphs, NodePart::test));
    const bool train = marks(p.graphs, NodePart::train);
    p.train = examples_of(p.graphs, whole, marked && !train ? NodePart::none : NodePart::train);
    const auto other = [&](const std::string& path, std::vector<GraphRecord>& more, NodePart part,
                           double share, const char* name) {
      if (!path.empty()) {
        more = load_graphs(config_, path);
        return examples_of(more, whole, part);
      }
      if (!whole && marks(p.graphs, part)) return examples_of(p.graphs, whole, part);
      return take_part(p.train, share, name);
    };
    p.dev = other(config_.dev, p.more_dev, NodePart::dev, config_.dev_part, "dev");
    p.test = other(config_.test, p.more_test, NodePart::test, config_.test_part, "test");
    if (!form_) {
      std::vector<const GraphRecord*> learned;
      for (const GraphExample& e : p.train) learned.push_back(e.graph);
      form_ = feature_form(learned, config_.data);
    }
  }
  // As the file says, or else at random.
  void split_nodes(GraphParts& p) const {
    const GraphRecord& graph = p.graphs[0];
    std::vector<int32_t> of[4];
    for (int32_t node : labelled(graph)) {
      of[static_cast<int>(graph.parts[static_cast<size_t>(node)])].push_back(node);
    }
    auto& [none, train, dev, test] = of;
    if (train.empty()) train.swap(none);
    if (dev.empty()) dev = take_part(train, config_.dev_part, "dev");
    if (test.empty()) test = take_part(train, config_.test_part, "test");
    if (!form_) form_ = feature_form(std::vector{&graph}, config_.data);
    const GraphBatchOptions how{*form_, directed()};
    NodeGraph ready;
    if (config_.neighbours.empty()) {
      ready = node_graph(Examples{{&graph, {}, {}}}, how);
    } else {
      counts_ = neighbour_counts(config_.neighbours, layers_of(config_));
      sampler_ = std::make_unique<const NeighbourSampler>(graph, graph.edges, how);
    }
    p.train = {{&graph, train, ready}};
    p.dev = {{&graph, dev, ready}};
    p.test = {{&graph, test, ready}};
  }
  bool directed() const { return config_.directed; }

  void learn_labels() {
    const GraphParts& p = parts();
    whole_ = !p.one && !p.train[0].graph->label.empty();
    std::vector<std::string> labels = truths(p.train);
    std::ranges::sort(labels);
    labels_ = Vocabulary::of(labels);
    check(labels_.size() >= 2, config_.data, ": has only the label '",
          labels_.size() ? labels_.name(0) : "", "' to learn; graph needs at least two");
  }

  // Of a file that is measured on: the nodes held out to test where it says so, else all.
  Examples asked_of_file(const std::vector<GraphRecord>& graphs) const {
    return examples_of(graphs, whole_, NodePart::test);
  }
  // A graph as JSON, which is kept in `kept`, or the name of a node of the graph it learned from.
  GraphExample asked_by(const std::string& line, std::vector<GraphRecord>& kept) const {
    if (line.starts_with('{')) {
      kept.push_back(graph_of_json(line, "graph"));
      std::vector<int32_t> asked = whole_ ? std::vector<int32_t>() : labelled(kept[0]);
      if (!whole_ && asked.empty()) {
        asked.resize(kept[0].names.size());
        std::iota(asked.begin(), asked.end(), 0);
      }
      return {&kept[0], asked, {}};
    }
    check(!config_.data.empty() && parts().one,
          "graph: needs a graph as a line of JSON, {\"nodes\": ...}, got '", line, "'");
    if (!numbers_) numbers_.emplace(parts().graphs[0]);
    const int32_t node = numbers_->find(line);
    check(node >= 0, "graph: there is no node '", line, "' in ", config_.data);
    return {&parts().graphs[0], {node}, parts().train[0].ready};
  }

  std::vector<std::string> truths(const Examples& of) const {
    std::vector<std::string> all;
    for (const GraphExample& e : of) {
      if (e.asked.empty()) all.push_back(e.graph->label);
      for (int32_t node : e.asked) all.push_back(e.graph->labels[static_cast<size_t>(node)]);
    }
    return all;
  }

  ModelInputs inputs(const Examples& of) const {
    ModelInputs in;
    in.whole = whole_;
    const bool known = of.size() == 1 && !of[0].ready.empty();
    in.graph = known ? of[0].ready : node_graph(of, {*form_, directed()});
    std::vector<int32_t> rows;
    int32_t start = 0;
    for (const GraphExample& e : of) {
      for (int32_t node : e.asked) rows.push_back(start + node);
      start += static_cast<int32_t>(e.graph->nodes());
    }
    const auto count = static_cast<int64_t>(rows.size());
    if (!whole_) in.rows = Tensor::adopt({count}, std::move(rows));
    return in;
  }

  // Nodes of the one graph, with neighbours that were drawn.
  struct Sampled {
    ModelInputs in;
    std::vector<int32_t> nodes;  // that the graph is made of
  };
  Sampled sampled(std::span<const int32_t> asked, const Random& random) const {
    NeighbourSampler::Part part = sampler_->around(asked, counts_, random);
    Sampled made;
    std::vector<int32_t> rows(asked.size());
    std::iota(rows.begin(), rows.end(), 0);
    const auto count = static_cast<int64_t>(rows.size());
    made.in.rows = Tensor::adopt({count}, std::move(rows));
    made.in.graph = std::move(part.graph);
    made.nodes = std::move(part.nodes);
    return made;
  }
  // What is measured or answered draws the same neighbours every time.
  static Random when_answering() { return Random(0).fork("neighbours"); }
  // f of the scores of these examples, a part of their rows at a time.
  template <class F>
  void each_score(const Examples& some, const F& f) const {
    const bool drawn = sampler_ && some.size() == 1 && some[0].graph == &parts().graphs[0];
    if (!drawn) return f((*model_)(inputs(some)).scores);
    constexpr size_t at_once = 512;
    const std::span<const int32_t> asked(some[0].asked);
    for (size_t from = 0; from < asked.size(); from += at_once) {
      const auto nodes = asked.subspan(from, std::min(at_once, asked.size() - from));
      f((*model_)(sampled(nodes, when_answering()).in).scores);
    }
  }

  // Of each node that is asked about, or of each graph.
  std::vector<std::vector<Prediction>> answer(const Examples& of, int64_t nbest,
                                              bool details = false) const {
    std::vector<std::vector<Prediction>> all;
    constexpr size_t at_once = 64;
    for (size_t from = 0; from < of.size(); from += at_once) {
      const Examples some(of.begin() + static_cast<ptrdiff_t>(from),
                          of.begin() + static_cast<ptrdiff_t>(std::min(of.size(), from + at_once)));
      each_score(some, [&](const Tensor& scores) {
        const Tensor likely = log_softmax(scores);
        for (int64_t row = 0; row < likely.dim(0); ++row) {
          all.push_back(label_predictions(likely, row, labels_, nbest, details));
        }
      });
    }
    return all;
  }

  // An example is a node where there is one graph, else a graph.
  Evaluation measure(const Examples& of) const {
    const Stopwatch watch;
    const auto found = answer(of, 1);
    Evaluation result;
    result.seconds = watch.seconds();
    Evaluation::One accuracy{"accuracy", {}}, f1{"macro_f1", {}};
    const std::vector<std::string> wanted = truths(of);
    const bool nodes = of.size() == 1 && !whole_;
    size_t at = 0;
    for (const GraphExample& e : of) {
      const size_t count = std::max<size_t>(1, e.asked.size());
      for (size_t i = 0; i < count; ++i, ++at) {
        const int32_t known = labels_.id(wanted[at]);
        const Tally tally = label_tally(labels_.size() + 1, known < 0 ? labels_.size() : known,
                                        labels_.id(found[at][0].text));
        if (nodes || i == 0) {
          accuracy.tallies.push_back(tally);
          result.inputs.push_back(nodes ? e.graph->names[static_cast<size_t>(e.asked[i])]
                                        : json_of_graph(*e.graph));
          result.truths.push_back(wanted[at]);
          result.outputs.push_back(found[at][0].text);
        } else {
          add_to(accuracy.tallies.back(), tally);
          result.truths.back() += " " + wanted[at];
          result.outputs.back() += " " + found[at][0].text;
        }
      }
    }
    f1.tallies = accuracy.tallies;
    result.metrics = {accuracy, f1};
    return result;
  }

  void keep_neighbours(Drawing& drawing, const GraphRecord& graph, int32_t node) const {
    std::vector<int32_t> near{node};
    for (const auto& [from, to] : graph.edges) {
      if (to == node) near.push_back(from);
      if (from == node && !directed()) near.push_back(to);
    }
    std::ranges::sort(near);
    near.erase(std::unique(near.begin(), near.end()), near.end());
    for (AttentionMap& map : drawing.maps) {
      map = star_map(map, graph, near, [](int32_t node) { return node; });
    }
  }
  // The same where neighbours were drawn: those that it looked at.
  Drawing attend_sampled(const std::string& name, int32_t node) const {
    Capture capture{.what = Capture::What::rows};
    capture.queries = {0};
    const GraphRecord& graph = parts().graphs[0];
    const Sampled part = sampled(std::span(&node, 1), when_answering());
    const Recorder recorder(capture);
    const Tensor scores = (*model_)(part.in).scores;
    Drawing drawing{labels_.name(argmax(scores, -1).read<int32_t>()[0]), {}};
    const std::vector<std::string> keys(part.nodes.size());
    drawing.maps = maps_of(recorder, 0, [&](const std::string&) {
      return MapLabels{std::vector{name}, keys};
    });
    for (AttentionMap& map : drawing.maps) {
      std::vector<int32_t> near;
      for (size_t i = 0; i < part.nodes.size(); ++i) {
        if (map.weights[i] > 0) near.push_back(static_cast<int32_t>(i));
      }
      map =
          star_map(map, graph, near, [&](int32_t i) { return part.nodes[static_cast<size_t>(i)]; });
    }
    return drawing;
  }

  mutable std::once_flag read_;
  mutable GraphParts parts_;
  Vocabulary labels_;
  mutable std::optional<FeatureForm> form_;     // by what it learned from
  mutable std::optional<NodeNumbers> numbers_;  // of the one graph, once a node was asked for
  bool whole_ = false;
  std::vector<std::vector<int64_t>> batches_;
  int64_t epoch_ = 0;
  mutable std::unique_ptr<const NeighbourSampler> sampler_;  // where neighbours are drawn
  mutable std::vector<int64_t> counts_;                      // how many in each layer
  std::unique_ptr<const Scorer> model_;
};

}  // namespace

std::unique_ptr<Solver> make_graph(const Config& config, Purpose purpose,
                                   const std::string& folder) {
  return std::make_unique<Graphs>(config, purpose, folder);
}

}  // namespace fovea
