// Attention along random edges, forward and with backward, through the kernels.
//   edges_bench [SECONDS a case] [part of the names]
// A line for each case: name, milliseconds (best), median over best, milliseconds of processor time
// on all threads (best), nanoseconds an edge, and the time over that of reading, once, all the rows
// of nodes that edges ask for: what a machine without any cache would have to wait. Lines of
// "growth" give the power of the edges by which the time grows.
#include <cmath>
#include <ctime>

#include "fovea/app/bench/race.h"
#include "fovea/kernel/attention_edges.h"
#include "fovea/kernel/gemm.h"

namespace fovea::bench {
namespace {

using namespace kernel;

enum class Kind { gat, gat_v2, dot };

// Every node attends edges / nodes others, on average.
struct Graph {
  int64_t nodes, edges;
  std::vector<int64_t> offsets, key_offsets;
  std::vector<int32_t> keys, key_edges, key_queries;

  Graph(int64_t n, int64_t e) : nodes(n), edges(e), offsets(n + 1), key_offsets(n + 1), keys(e) {
    Random random(1, 7);
    for (int64_t i = 0; i < edges; ++i) {
      ++offsets[random.below(nodes) + 1];
      keys[i] = static_cast<int32_t>(random.below(nodes));
    }
    for (int64_t i = 0; i < nodes; ++i) offsets[i + 1] += offsets[i];
    key_edges.resize(edges), key_queries.resize(edges);
    edges_by_key(view(), 1, nodes, nodes, key_offsets.data(), key_edges.data(), key_queries.data());
  }
  EdgeLists view() const {
    return {edges,
            offsets.data(),
            keys.data(),
            key_offsets.data(),
            key_edges.data(),
            key_queries.data()};
  }
};

// A layer without its weights: x [nodes, H, D] is projected already. Graph attention's first form
// makes a number for each head of it, once as the one that attends and once as the one attended.
struct Layer {
  const Graph& graph;
  Kind kind;
  int64_t H, D, width;
  Tensor x, dy, source, target, w, q, k, out, dx, dq, dk, dsource, dtarget, dw;
  EdgesInputs in;

  Layer(const Graph& g, Kind of, int64_t heads, int64_t features)
      : graph(g), kind(of), H(heads), D(features), width(H * D) {
    x = uniform({graph.nodes, width}, 1), dy = uniform({graph.nodes, width}, 2);
    source = uniform({width, H}, 3), target = uniform({width, H}, 4);
    w = kind == Kind::gat ? Tensor::full({H}, 1) : uniform({width}, 5);
    const int64_t scores = kind == Kind::gat ? H : width;
    q = kind == Kind::gat ? Tensor({graph.nodes, scores}) : x;
    k = kind == Kind::gat ? Tensor({graph.nodes, scores}) : x;
    out = Tensor(x.shape()), dx = Tensor(x.shape()), dq = Tensor(q.shape()), dk = Tensor(k.shape());
    dsource = Tensor(source.shape()), dtarget = Tensor(target.shape()), dw = Tensor(w.shape());
    in.base.H = in.base.Hk = H;
    in.base.Tq = in.base.Tk = graph.nodes;
    in.base.D = scores / H, in.base.Dv = D;
    in.base.v = {x.read().data(), 0, width, D};
    in.lists = graph.view();
    in.map = kind == Kind::dot ? ScoreMap::none : ScoreMap::leaky_relu;
    if (kind != Kind::dot) in.w = w.read().data();
    in.w_head = kind == Kind::gat_v2 ? D : 0;
  }
  HeadView<float> view(Tensor& t) const { return {t.write().data(), 0, t.dim(1), t.dim(1) / H}; }

  void project(const Tensor& by, Tensor& to) const {
    gemm({.m = graph.nodes, .n = H, .k = width, .lda = width, .ldb = H, .ldc = H}, x.read().data(),
         by.read().data(), to.write().data());
  }
  void forward() {
    if (kind == Kind::gat) project(target, q), project(source, k);
    in.base.q = {q.read().data(), 0, q.dim(1), q.dim(1) / H};
    in.base.k = {k.read().data(), 0, k.dim(1), k.dim(1) / H};
    attention_edges_forward(in, view(out));
  }
  void project_back(const Tensor& by, const Tensor& dscores, Tensor& dby) {
    gemm({.transpose_b = true,
          .m = graph.nodes,
          .n = width,
          .k = H,
          .lda = H,
          .ldb = H,
          .ldc = width,
          .beta = 1},
         dscores.read().data(), by.read().data(), dx.write().data());
    gemm({.transpose_a = true,
          .m = width,
          .n = H,
          .k = graph.nodes,
          .lda = width,
          .ldb = H,
          .ldc = H},
         x.read().data(), dscores.read().data(), dby.write().data());
  }
  void both() {
    forward();
    EdgesGradients to{view(dq), view(dk), view(dx)};
    if (kind == Kind::gat_v2) to.dw = dw.write().data();
    attention_edges_backward(in, {dy.read().data(), 0, width, D}, to);
    if (kind == Kind::gat) {
      project_back(target, dq, dtarget), project_back(source, dk, dsource);
    }
  }
};

struct Bench {
  double seconds;
  std::string only;

  double run(const std::string& name, const Layer& of, double reads,
             const std::function<void()>& f) const {
    if (name.find(only) == std::string::npos) return 0;
    f();
    Timer timer, memory;
    const Tensor rows = Tensor::full({of.graph.edges, of.width}, 1);
    double processor = 1e9;
    for (const double stop = now() + seconds; now() < stop || timer.seconds.size() < 3;) {
      const std::clock_t start = std::clock();
      timer.run(f);
      processor = std::min(processor, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
      memory.run([&] { limit_read(rows.read().data(), rows.elements()); });
    }
    std::printf("%-38s %9.3f %6.2f %9.3f %7.1f %6.2f\n", name.c_str(), timer.best() * 1e3,
                timer.spread(), processor * 1e3, timer.best() / of.graph.edges * 1e9,
                timer.best() / (reads * memory.best()));
    std::fflush(stdout);
    return timer.best();
  }
  // Forward reads a row of values for each edge; backward does so again, and rows of gradients.
  double layer(const std::string& name, const Graph& graph, Kind kind, int64_t H, int64_t D) const {
    if ((name + " forward backward").find(only) == std::string::npos) return 0;
    Layer of(graph, kind, H, D);
    run(name + " forward", of, 1, [&] { of.forward(); });
    return run(name + " backward", of, 3, [&] { of.both(); });
  }
};

void all(int argc, char** argv) {
  const Bench bench{argc > 1 ? std::atof(argv[1]) : 1, argc > 2 ? argv[2] : ""};
  const Graph graph(100'000, 1'000'000);
  bench.layer("gat 8x8", graph, Kind::gat, 8, 8);
  bench.layer("gatv2 8x8", graph, Kind::gat_v2, 8, 8);
  bench.layer("dot 8x8", graph, Kind::dot, 8, 8);
  bench.layer("gat 1x64", graph, Kind::gat, 1, 64);
  double first = 0, before = 0;
  for (int64_t edges = 10'000; edges <= 10'000'000; edges *= 10) {
    const std::string name = "growth " + std::to_string(edges);
    if ((name + " backward").find(bench.only) == std::string::npos) continue;
    const Graph one(edges / 10, edges);
    const double now = bench.layer(name, one, Kind::gat, 8, 8);
    if (first == 0) first = now;
    if (before > 0) std::printf("growth: power %.2f\n", std::log10(now / before));
    if (edges == 10'000'000)
      std::printf("growth: power %.2f in all\n", std::log10(now / first) / 3);
    before = now;
  }
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) { fovea::bench::all(argc, argv); }
