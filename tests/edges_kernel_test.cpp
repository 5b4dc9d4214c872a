// Attention along lists of edges against its plain twin in float64, and against the rows kernel
// with a mask.
#include <gtest/gtest.h>

#include <array>

#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/kernel/naive/attention_edges.h"
#include "fovea/kernel/simd.h"
#include "support/guarded.h"
#include "support/row_aligns.h"

namespace fovea::kernel {
namespace {

using test::Guarded;
using test::TopSoftmax;

struct Case {
  int64_t B = 2, H = 8, Hk = 8, Tq = 37, Tk = 45, D = 1, Dv = 8;
  ScoreMap map = ScoreMap::leaky_relu;
  bool additive = true, w_each_head = false;
  RowAlign align = RowAlign::softmax;
  int64_t top = 0;
  bool sets_by_batch = false, sets_by_head = false;
  int bias = 0;  // 1: for every edge, 2: also head, 3: also batch entry
  bool dropout = false, with_dout = true, with_dweights = false;
  bool features_apart = false;  // heads do not lie side by side: [H, T, D]
};

std::vector<float> numbers(uint64_t stream, int64_t n) {
  std::vector<float> x(n);
  Random random(7, stream);
  for (float& value : x) value = static_cast<float>(2 * random.uniform() - 1);
  return x;
}

// Lists of different lengths: of none, of few, and one of nearly every key.
struct Lists {
  int64_t sets, room = 0;
  std::vector<int64_t> offsets, key_offsets;
  std::vector<int32_t> keys, key_edges, key_queries;

  Lists(int64_t count, int64_t Tq, int64_t Tk) : sets(count) {
    std::vector<std::vector<int32_t>> all(sets);
    for (int64_t s = 0; s < sets; ++s) {
      Random random(3, static_cast<uint64_t>(s));
      offsets.push_back(0);
      for (int64_t i = 0; i < Tq; ++i) {
        const uint64_t of_ten = i % 7 == 3 ? 0 : i == 5 ? 9 : 2;
        for (int64_t j = Tk; j-- > 0;) {  // not in rising order
          if (random.below(10) < of_ten) all[s].push_back(static_cast<int32_t>(j));
        }
        offsets.push_back(static_cast<int64_t>(all[s].size()));
      }
      room = std::max(room, offsets.back());
    }
    for (auto& list : all) {
      list.resize(room, -1);
      keys.insert(keys.end(), list.begin(), list.end());
    }
    key_offsets.resize(sets * (Tk + 1));
    key_edges.resize(sets * room), key_queries.resize(sets * room);
    edges_by_key(view(), sets, Tq, Tk, key_offsets.data(), key_edges.data(), key_queries.data());
  }
  EdgeLists view() const {
    return {room,
            offsets.data(),
            keys.data(),
            key_offsets.data(),
            key_edges.data(),
            key_queries.data()};
  }
};

using Results = std::array<std::vector<double>, 7>;

struct Problem {
  Case c;
  Lists lists;
  std::vector<float> q, k, v, w, bias, dout, dweights;
  TopSoftmax top;
  EdgesInputs in;

  template <class T>
  HeadView<T> view(T* data, int64_t rows, int64_t heads, int64_t features) const {
    return c.features_apart
               ? HeadView<T>{data, rows * heads * features, features, rows * features}
               : HeadView<T>{data, rows * heads * features, heads * features, features};
  }
  int64_t bias_batch() const { return c.bias == 3 ? c.H * lists.room : 0; }
  int64_t bias_head() const { return c.bias >= 2 ? lists.room : 0; }

  explicit Problem(const Case& of)
      : c(of),
        lists((c.sets_by_batch ? c.B : 1) * (c.sets_by_head ? c.H : 1), c.Tq, c.Tk),
        top{of.top} {
    q = numbers(1, c.B * c.Tq * c.H * c.D), k = numbers(2, c.B * c.Tk * c.Hk * c.D);
    v = numbers(3, c.B * c.Tk * c.Hk * c.Dv), w = numbers(4, c.H * c.D);
    dout = numbers(5, c.B * c.Tq * c.H * c.Dv);
    dweights = numbers(6, c.B * c.H * lists.room);
    bias = numbers(7, (c.bias == 3 ? c.B : 1) * (c.bias >= 2 ? c.H : 1) * lists.room);
    if (c.bias) {  // one query whose every edge is forbidden
      for (int64_t e = lists.offsets[1]; e < lists.offsets[2]; ++e) {
        bias[e] = -std::numeric_limits<float>::infinity();
      }
    }
    HeadInputs<float>& base = in.base;
    base.B = c.B, base.H = c.H, base.Hk = c.Hk, base.Tq = c.Tq, base.Tk = c.Tk;
    base.D = c.D, base.Dv = c.Dv, base.scale = 0.7f;
    base.q = view<const float>(q.data(), c.Tq, c.H, c.D);
    base.k = view<const float>(k.data(), c.Tk, c.Hk, c.D);
    base.v = view<const float>(v.data(), c.Tk, c.Hk, c.Dv);
    if (c.dropout) base.dropout = {0.3f, 99};
    in.lists = lists.view();
    in.lists.head = c.sets_by_head ? 1 : 0;
    in.lists.batch = c.sets_by_batch ? (c.sets_by_head ? c.H : 1) : 0;
    in.map = c.map;
    if (c.additive) in.w = w.data();
    in.w_head = c.w_each_head ? c.D : 0;
    if (c.bias) in.bias = {bias.data(), bias_batch(), bias_head()};
    in.align = c.align;
    if (c.align == RowAlign::given) in.given = top.given();
  }

  // [T, H, D] from what view() says.
  std::vector<double> packed(const std::vector<float>& x, int64_t rows, int64_t heads,
                             int64_t features) const {
    std::vector<double> y;
    const auto from = view(x.data(), rows, heads, features);
    for (int64_t at = 0; at < c.B * rows * heads * features; ++at) {
      const int64_t f = at % features, h = at / features % heads, t = at / features / heads % rows;
      y.push_back(from.at(at / features / heads / rows, h)[t * from.row + f]);
    }
    return y;
  }

  // In the order of EdgesTwin.
  Results run() const {
    std::vector<float> out(dout.size(), NAN), weights(dweights.size(), NAN), dq(q.size(), NAN),
        dk(k.size(), NAN), dv(v.size(), NAN), dbias(bias.size(), NAN), dw(c.H * c.D, NAN);
    attention_edges_forward(in, view(out.data(), c.Tq, c.H, c.Dv),
                            {weights.data(), c.H * lists.room, lists.room});
    std::vector<float> again(out.size(), NAN);
    attention_edges_forward(in, view(again.data(), c.Tq, c.H, c.Dv));
    EXPECT_EQ(out, again) << "without weights";
    EdgesGradients to{view(dq.data(), c.Tq, c.H, c.D), view(dk.data(), c.Tk, c.Hk, c.D),
                      view(dv.data(), c.Tk, c.Hk, c.Dv)};
    if (c.bias) to.dbias = {dbias.data(), bias_batch(), bias_head()};
    if (c.additive) to.dw = dw.data();
    HeadView<const float> go;
    EdgeView<const float> gw;
    if (c.with_dout) go = view<const float>(dout.data(), c.Tq, c.H, c.Dv);
    if (c.with_dweights) gw = {dweights.data(), c.H * lists.room, lists.room};
    attention_edges_backward(in, go, to, gw);
    auto wide = [](const std::vector<float>& x) { return std::vector<double>(x.begin(), x.end()); };
    if (!c.bias) dbias.assign(dbias.size(), 0);
    if (!c.additive) dw.assign(dw.size(), 0);
    if (c.additive && !c.w_each_head) std::fill(dw.begin() + c.D, dw.end(), 0.0f);
    return {packed(out, c.Tq, c.H, c.Dv),
            wide(weights),
            packed(dq, c.Tq, c.H, c.D),
            packed(dk, c.Tk, c.Hk, c.D),
            packed(dv, c.Tk, c.Hk, c.Dv),
            wide(dbias),
            wide(dw)};
  }

  Results exact() const {
    std::vector<float> go;
    for (double x : packed(dout, c.Tq, c.H, c.Dv)) go.push_back(static_cast<float>(x));
    auto twin = naive::attention_edges<double>(
        in, c.with_dout ? go.data() : nullptr, c.with_dweights ? dweights.data() : nullptr,
        c.align == RowAlign::given ? top.twin() : naive::RowAlignment<double>());
    std::vector<double> dbias(bias.size(), 0.0), dw(c.H * c.D, 0.0);
    for (int64_t x = 0; x < static_cast<int64_t>(twin.dbias.size()) && c.bias; ++x) {
      const int64_t b = x / lists.room / c.H, h = x / lists.room % c.H, e = x % lists.room;
      dbias[b * bias_batch() + h * bias_head() + e] += twin.dbias[x];
    }
    for (int64_t x = 0; x < c.H * c.D && c.additive; ++x) {
      dw[c.w_each_head ? x : x % c.D] += twin.dw[x];
    }
    return {twin.out, twin.weights, twin.dq, twin.dk, twin.dv, dbias, dw};
  }
};

void expect_close(const Results& fast, const Results& exact, double tolerance = 1e-5) {
  const char* names[] = {"out", "weights", "dq", "dk", "dv", "dbias", "dw"};
  for (size_t i = 0; i < fast.size(); ++i) {
    ASSERT_EQ(fast[i].size(), exact[i].size());
    double worst = 0, largest = 0.3;  // a gradient whose terms cancel is as exact as they are
    for (size_t x = 0; x < fast[i].size(); ++x) {
      const double off = std::abs(fast[i][x] - exact[i][x]);
      worst = off <= worst ? worst : off;  // so that NaN is the worst
      largest = std::max(largest, std::abs(exact[i][x]));
    }
    EXPECT_LE(worst, tolerance * largest) << names[i];
  }
}

::testing::Message say(const Case& c) {
  return ::testing::Message() << "H " << c.H << " Hk " << c.Hk << " D " << c.D << " Dv " << c.Dv
                              << " map " << static_cast<int>(c.map) << " additive " << c.additive
                              << " align " << static_cast<int>(c.align) << " top " << c.top
                              << " sets " << c.sets_by_batch << c.sets_by_head << " bias " << c.bias
                              << " dropout " << c.dropout << " apart " << c.features_apart;
}

void check_case(const Case& c) {
  SCOPED_TRACE(say(c));
  const Problem problem(c);
  expect_close(problem.run(), problem.exact());
}

constexpr std::array<std::array<int64_t, 4>, 8> sizes{{{8, 8, 1, 8},
                                                       {8, 8, 8, 8},
                                                       {4, 2, 5, 6},
                                                       {1, 1, 1, 3},
                                                       {3, 1, 17, 9},
                                                       {12, 4, 4, 20},
                                                       {16, 8, 16, 1},
                                                       {6, 6, 33, 37}}};

template <class F>
void each_size(Case c, const F& f) {
  for (const auto& [H, Hk, D, Dv] : sizes) {
    c.H = H, c.Hk = Hk, c.D = D, c.Dv = Dv;
    f(c);
  }
}

template <class F>
void each_score(Case c, const F& f) {
  for (bool additive : {false, true}) {
    for (auto map : {ScoreMap::none, ScoreMap::tanh, ScoreMap::sigmoid, ScoreMap::relu,
                     ScoreMap::leaky_relu, ScoreMap::distance}) {
      if (additive && map == ScoreMap::distance) continue;
      c.map = map, c.additive = additive;
      f(c);
    }
  }
}

template <class F>
void each_align(Case c, const F& f) {
  for (auto [align, top] : {std::pair(RowAlign::softmax, 0),
                            {RowAlign::sigmoid, 0},
                            {RowAlign::entmax, 0},
                            {RowAlign::given, 0},
                            {RowAlign::given, 3}}) {
    c.align = align, c.top = top;
    f(c);
  }
}

TEST(EdgesKernel, EveryScoreAlignmentAndSize) {
  each_size({.with_dweights = true}, [](const Case& sized) {
    each_score(sized, [](const Case& scored) {
      each_align(scored, [](Case c) {
        check_case(c);
        c.bias = 2, c.dropout = true, c.w_each_head = true, c.sets_by_batch = true;
        check_case(c);
      });
    });
  });
}

TEST(EdgesKernel, EverySetBiasAndLayout) {
  each_size({}, [](Case c) {
    for (int what = 0; what < 64; ++what) {
      c.sets_by_batch = what & 1, c.sets_by_head = what & 2, c.features_apart = what & 4;
      c.bias = what >> 3 & 3, c.with_dout = !(what & 32), c.with_dweights = what & 32;
      c.dropout = what % 3 == 0;
      check_case(c);
      c.map = ScoreMap::none, c.additive = false;
      check_case(c);
      c.map = ScoreMap::leaky_relu, c.additive = true;
    }
  });
}

TEST(EdgesKernel, EveryInstructionSetAndNumberOfThreads) {
  for (const std::string& target : simd_targets()) {
    use_simd_target(target);
    SCOPED_TRACE(target);
    // Long enough for several blocks.
    each_size({.Tq = 100, .Tk = 70, .bias = 1, .dropout = true}, [](const Case& sized) {
      for (bool by_head : {false, true}) {
        for (auto map : {ScoreMap::none, ScoreMap::tanh, ScoreMap::distance}) {
          Case c = sized;
          c.map = map, c.additive = map == ScoreMap::tanh, c.sets_by_head = by_head;
          if (by_head) c.align = RowAlign::entmax;
          SCOPED_TRACE(say(c));
          set_threads(1);
          const Problem problem(c);
          const Results first = problem.run();
          expect_close(first, problem.exact());
          for (int count : {2, 4}) {
            set_threads(count);
            EXPECT_EQ(problem.run(), first) << count << " threads";
          }
        }
      }
    });
  }
  use_simd_target("");
  set_threads(2);
}

// The same draws of dropout too.
TEST(EdgesKernel, IsTheRowsKernelUnderAMask) {
  for (auto align : {RowAlign::softmax, RowAlign::sigmoid, RowAlign::entmax}) {
    const Case c{.D = 8, .align = align, .dropout = true};
    const Problem problem(c);
    std::vector<uint8_t> mask(c.Tq * c.Tk, 0);
    for (int64_t i = 0; i < c.Tq; ++i) {
      for (int64_t e = problem.lists.offsets[i]; e < problem.lists.offsets[i + 1]; ++e) {
        mask[i * c.Tk + problem.lists.keys[e]] = 1;
      }
    }
    RowsInputs in;
    in.base = problem.in.base;
    in.map = c.map, in.w = problem.w.data(), in.align = align;
    in.base.mask = {mask.data(), 0, c.Tk, 0};
    std::vector<float> dense(problem.dout.size()), sparse(problem.dout.size());
    attention_rows_forward(in, problem.view(dense.data(), c.Tq, c.H, c.Dv));
    attention_edges_forward(problem.in, problem.view(sparse.data(), c.Tq, c.H, c.Dv));
    for (size_t x = 0; x < dense.size(); ++x) ASSERT_NEAR(dense[x], sparse[x], 2e-6);

    std::vector<float> dq(problem.q.size()), dk(problem.k.size()), dv(problem.v.size()), dw(c.D);
    RowsGradients to;
    to.base.dq = problem.view(dq.data(), c.Tq, c.H, c.D);
    to.base.dk = problem.view(dk.data(), c.Tk, c.Hk, c.D);
    to.base.dv = problem.view(dv.data(), c.Tk, c.Hk, c.Dv);
    to.dw = dw.data();
    attention_rows_backward(in, problem.view(problem.dout.data(), c.Tq, c.H, c.Dv), to);
    const Results edges = problem.run();
    for (size_t x = 0; x < dq.size(); ++x) ASSERT_NEAR(dq[x], edges[2][x], 1e-5);
    for (size_t x = 0; x < dk.size(); ++x) ASSERT_NEAR(dk[x], edges[3][x], 1e-5);
    for (size_t x = 0; x < dv.size(); ++x) ASSERT_NEAR(dv[x], edges[4][x], 1e-5);
    for (size_t x = 0; x < dw.size(); ++x) ASSERT_NEAR(dw[x], edges[6][x], 1e-4);
  }
}

TEST(EdgesKernel, EdgesByKeyAreTheSameEdges) {
  const int64_t Tq = 40, Tk = 9, sets = 3;
  const Lists lists(sets, Tq, Tk);
  for (int64_t s = 0; s < sets; ++s) {
    const int64_t* from = lists.key_offsets.data() + s * (Tk + 1);
    EXPECT_EQ(from[0], 0);
    EXPECT_EQ(from[Tk], lists.offsets[s * (Tq + 1) + Tq]);
    for (int64_t j = 0; j < Tk; ++j) {
      for (int64_t at = from[j]; at < from[j + 1]; ++at) {
        const int64_t e = lists.key_edges[s * lists.room + at];
        const int64_t i = lists.key_queries[s * lists.room + at];
        EXPECT_EQ(lists.keys[s * lists.room + e], j);
        EXPECT_GE(e, lists.offsets[s * (Tq + 1) + i]);
        EXPECT_LT(e, lists.offsets[s * (Tq + 1) + i + 1]);
        EXPECT_TRUE(at == from[j] || e > lists.key_edges[s * lists.room + at - 1]);
      }
    }
  }
}

// Ends the program where it fails.
TEST(EdgesKernel, TouchesNothingPastItsArrays) {
  for (const auto& [H, Hk, D, Dv] : sizes) {
    const int64_t Tq = 11, Tk = 13;
    const Lists lists(1, Tq, Tk);
    const int64_t E = lists.room;
    const Guarded<> q(Tq * H * D), k(Tk * Hk * D), v(Tk * Hk * Dv), dout(Tq * H * Dv), bias(E),
        w(D);
    const Guarded<> out(Tq * H * Dv), dq(Tq * H * D), dk(Tk * Hk * D), dv(Tk * Hk * Dv), dbias(E),
        dw(D), weights(H * E);
    EdgesInputs in;
    in.base.H = H, in.base.Hk = Hk, in.base.Tq = Tq, in.base.Tk = Tk;
    in.base.D = D, in.base.Dv = Dv;
    in.base.q = {q.data(), 0, H * D, D}, in.base.k = {k.data(), 0, Hk * D, D};
    in.base.v = {v.data(), 0, Hk * Dv, Dv};
    in.lists = lists.view();
    in.bias = {bias.data(), 0, 0};
    const EdgesGradients to{{dq.data(), 0, H * D, D},
                            {dk.data(), 0, Hk * D, D},
                            {dv.data(), 0, Hk * Dv, Dv},
                            {dbias.data(), 0, 0},
                            dw.data()};
    for (auto map : {ScoreMap::none, ScoreMap::tanh, ScoreMap::distance}) {
      in.map = map;
      in.w = map == ScoreMap::tanh ? w.data() : nullptr;
      attention_edges_forward(in, {out.data(), 0, H * Dv, Dv}, {weights.data(), 0, E});
      attention_edges_backward(in, {dout.data(), 0, H * Dv, Dv}, to);
      EXPECT_TRUE(std::isfinite(out.data()[Tq * H * Dv - 1]));
      EXPECT_TRUE(std::isfinite(dk.data()[Tk * Hk * D - 1]));
    }
  }
}

}  // namespace
}  // namespace fovea::kernel
