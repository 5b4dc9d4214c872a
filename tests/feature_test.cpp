// Attention over several inputs: laws, gradients, and each equation written out once more.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/attention/catalog.h"
#include "fovea/attention/feature/alternating.h"
#include "fovea/attention/feature/hierarchical.h"
#include "fovea/attention/feature/interactive.h"
#include "fovea/attention/feature/meta_embedding.h"
#include "fovea/attention/feature/multi_grained.h"
#include "fovea/attention/feature/parallel.h"
#include "fovea/attention/feature/rotatory.h"
#include "fovea/attention/feature/via.h"
#include "fovea/attention/recorder.h"
#include "fovea/attention/score/general.h"
#include "fovea/attention/score/trilinear.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

constexpr int64_t B = 2, D = 4;

std::vector<const Entry*> feature_entries_listed() {
  std::vector<const Entry*> list;
  for (const Entry& entry : catalog()) {
    if (entry.kind == Entry::Kind::feature) list.push_back(&entry);
  }
  return list;
}

AttentionOptions options_of(const std::string& score, const std::string& align) {
  AttentionOptions o;
  o.d_q = o.d_k = o.d_v = D;
  o.score = score;
  o.align = align;
  o.score_width = 3;
  o.reach = 2;
  return o;
}

// Inputs of different lengths, unless they are vectors of the same tokens; the second example's are
// shorter by one.
std::vector<Features> some_inputs(const Entry& entry, Dtype dtype = Dtype::f32) {
  std::vector<Features> in;
  for (int i = 0; i < entry.inputs; ++i) {
    const int64_t T = entry.name == "meta_embedding" ? 5 : 5 - i;
    const auto n = static_cast<int32_t>(T);
    in.push_back({random_tensor({B, T, D}, 10 + i, -1, 1, dtype), Tensor::ids({B}, {n, n - 1})});
  }
  return in;
}

bool keeps(const Entry& entry, Law law) {
  return std::ranges::find(entry.laws, law) != entry.laws.end();
}

class EveryFeature : public testing::TestWithParam<const Entry*> {};

TEST_P(EveryFeature, WeightsOfEveryMapSumToOne) {
  Parameters table(3);
  const auto mechanism = GetParam()->features(table, options_of("scaled", "softmax"));
  Recorder recorder;
  mechanism(some_inputs(*GetParam()));
  ASSERT_FALSE(recorder.maps().empty());
  for (const auto& map : recorder.maps()) {
    if (map.name.ends_with("/affinity")) continue;  // no weights, but what they are made of
    Tensor sums = sum(map.weights.rows, -1), ones = Tensor::full(sums.shape(), 1);
    // The last token of the second example is none.
    if (GetParam()->name == "meta_embedding") ones.write().back() = 0;
    expect_close(sums, ones, 1e-5);
  }
}

TEST_P(EveryFeature, RowsInAnotherOrderChangeNothing) {
  if (!keeps(*GetParam(), Law::permutation)) GTEST_SKIP() << "a row for each token, in order";
  Parameters table(3);
  const auto mechanism = GetParam()->features(table, options_of("additive", "softmax"));
  const auto in = some_inputs(*GetParam());
  std::vector<Features> turned = in;
  for (Features& f : turned) {  // the first two rows, which count in every example
    const int64_t T = f.rows.dim(1);
    f.rows = concat({slice(f.rows, 1, 1, 2), slice(f.rows, 1, 0, 1), slice(f.rows, 1, 2, T)}, 1);
  }
  expect_close(mechanism(turned).joined(), mechanism(in).joined());
}

TEST_P(EveryFeature, RowsBeyondTheLengthsChangeNothing) {
  for (const bool pooled : {false, true}) {
    Parameters table(3);
    AttentionOptions o = options_of("activated_general", "softmax");
    o.pooled = pooled;
    const auto mechanism = GetParam()->features(table, o);
    const auto in = some_inputs(*GetParam());
    std::vector<Features> padded = in;
    for (Features& f : padded) f.rows = concat({f.rows, Tensor::full({B, 2, D}, 7)}, 1);
    Tensor with = mechanism(padded).joined();
    const Tensor without = mechanism(in).joined();
    if (with.rank() == 3) with = slice(with, 1, 0, without.dim(1));  // a row for each token
    expect_close(with, without);
  }
}

TEST_P(EveryFeature, AnEmptyInputGivesZeroAndFiniteGradients) {
  for (const bool pooled : {false, true}) {
    Parameters table(3);
    AttentionOptions o = options_of("activated_general", "softmax");
    o.pooled = pooled;
    const auto mechanism = GetParam()->features(table, o);
    auto in = some_inputs(*GetParam());
    in.back().lengths = Tensor::ids({B}, {0, 1});
    // Several vectors of the same tokens are equally many.
    if (GetParam()->name == "meta_embedding") in[0].lengths = in[1].lengths;
    in.back().rows = parameter(in.back().rows);
    Tape tape;
    const FeatureOutput out = mechanism(in);
    const Tensor& of_empty = GetParam()->inputs == 3 ? out.contexts[1] : out.contexts.back();
    for (int64_t d = 0; d < D; ++d) EXPECT_EQ(of_empty.read()[d], 0) << GetParam()->name;
    const Gradients g = tape.backward(sum(out.joined()));
    for (const auto& parameter : table.entries()) {
      const Tensor gradient = g.or_zeros(parameter);
      for (float x : gradient.read()) EXPECT_TRUE(std::isfinite(x));
    }
  }
}

TEST_P(EveryFeature, GradientsWithEveryScoreAndSmoothAlignment) {
  const auto error = [&](const AttentionOptions& o) {
    Parameters table(4, Dtype::f64);
    const auto mechanism = GetParam()->features(table, o);
    const auto in = some_inputs(*GetParam(), Dtype::f64);
    std::vector<Tensor> rows;
    for (const Features& f : in) rows.push_back(f.rows);
    const Function f = [&](const std::vector<Tensor>& x) {
      std::vector<Features> at = in;
      for (size_t i = 0; i < at.size(); ++i) at[i].rows = x[i];
      return mechanism(at).joined();
    };
    return layer_error(table, f, rows);
  };
  for (const Entry& entry : catalog()) {
    if (entry.kind != Entry::Kind::score) continue;
    for (const bool pooled : {false, true}) {
      // Of parallel attention the pooled form, of meta-embeddings the contextual one.
      const bool other = GetParam()->name == "parallel" || GetParam()->name == "meta_embedding";
      if (pooled && !other) continue;
      SCOPED_TRACE(entry.name + (pooled ? ", the other form" : ""));
      AttentionOptions o = options_of(entry.name, "softmax");
      o.pooled = o.contextual = pooled;
      EXPECT_LT(error(o), 2e-5);
    }
  }
  for (const char* align : {"sigmoid", "sparsemax", "entmax", "local_p"}) {
    SCOPED_TRACE(align);
    AttentionOptions o = options_of("general", align);
    o.reach = 3;  // a window that begins at half the rows must not end upon one
    EXPECT_LT(error(o), 2e-5);
  }
}

TEST_P(EveryFeature, FloatAgreesWithDouble) {
  const auto in = some_inputs(*GetParam());
  std::vector<Tensor> values;
  for (const Features& f : in) values.push_back(f.rows);
  for (const char* score : {"general", "additive", "trilinear", "activated_general"}) {
    for (const bool pooled : {false, true}) {
      AttentionOptions o = options_of(score, "softmax");
      o.pooled = pooled;
      SCOPED_TRACE(score);
      check_float(
          [&](Scope s) -> Function {
            const auto mechanism = GetParam()->features(s, o);
            return [mechanism, in](const std::vector<Tensor>& x) {
              std::vector<Features> at = in;
              for (size_t i = 0; i < at.size(); ++i) at[i].rows = x[i];
              return mechanism(at).joined();
            };
          },
          values, 1e-4);
    }
  }
}

TEST_P(EveryFeature, GivesWhatADrawingAlignmentDrew) {
  Parameters table(3);
  const auto mechanism = GetParam()->features(table, options_of("general", "hard_reinforce"));
  Random random(5);
  Tape tape(random);
  const FeatureOutput out = mechanism(some_inputs(*GetParam()));
  ASSERT_EQ(out.log_probability.shape(), Shape({B}));
  EXPECT_LT(out.log_probability.read()[0], 0);
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryFeature, testing::ValuesIn(feature_entries_listed()),
                         [](const auto& info) { return info.param->name; });

// --- The equations, once more. ---

// One example, with all rows counted.
Features whole(const Tensor& rows) {
  return {reshape(rows, {1, rows.dim(0), rows.dim(1)}),
          Tensor::ids({1}, {static_cast<int32_t>(rows.dim(0))})};
}
// softmax(e) F for e [n] and F [n, d]: [1, d]
Tensor read(const Tensor& e, const Tensor& F) { return matmul(softmax(reshape(e, {1, -1})), F); }
Tensor value_of(const Parameters& table, const std::string& name) { return table[name].value(); }

struct Written : testing::Test {
  Parameters table{5, Dtype::f64};
  const Tensor F_1 = random_tensor({4, D}, 1), F_2 = random_tensor({3, D}, 2),
               F_3 = random_tensor({5, D}, 3);
  const FeatureOptions general{
      [](Scope s, int64_t d_q, int64_t d_k) { return general_score(s, d_q, d_k); }, {}};
  Tensor W(const std::string& of) const { return value_of(table, of + "/score/weight"); }
  // attend(q, F) with e = F W q
  Tensor asked(const Tensor& q, const Tensor& F, const std::string& of) const {
    return read(matmul(F, matmul(W(of), reshape(q, {-1, 1}))), F);
  }
};

TEST_F(Written, Interactive) {
  const InteractiveCoAttention layer(table, D, D, general);
  const FeatureOutput out = layer(whole(F_1), whole(F_2));
  expect_close(out.contexts[0], asked(mean(F_2, 0), F_1, "first"), 1e-12);
  expect_close(out.contexts[1], asked(mean(F_1, 0), F_2, "second"), 1e-12);
}

TEST_F(Written, Alternating) {
  const AlternatingCoAttention layer(table, D, D, general);
  const FeatureOutput out = layer(whole(F_1), whole(F_2));
  const Tensor c_0 = asked(layer.start.value(), F_1, "first");
  const Tensor c_2 = asked(c_0, F_2, "second");
  expect_close(out.contexts[0], asked(c_2, F_1, "first"), 1e-12);
  expect_close(out.contexts[1], c_2, 1e-12);
}

TEST_F(Written, RotatoryWithHops) {
  const RotatoryAttention layer(table, D, D, {general, 2});
  const FeatureOutput out = layer(whole(F_1), whole(F_2), whole(F_3));
  Tensor lt = mean(F_1, 0), rt = lt, l, r;
  for (int hop = 0; hop < 2; ++hop) {
    l = asked(lt, F_2, "left"), r = asked(rt, F_3, "right");
    lt = asked(l, F_1, "target_by_left"), rt = asked(r, F_1, "target_by_right");
  }
  expect_close(out.joined(), concat({l, r, lt, rt}, -1), 1e-12);
}

// Parallel co-attention against its equations, in ops.
void expect_parallel(Parameters& table, const Tensor& F_1, const Tensor& F_2, double tolerance) {
  const ParallelCoAttention layer(table, D, D);
  const FeatureOutput out = layer(whole(F_1), whole(F_2));
  // act(F_1 W^T F_2^T + b): queries are rows of the first input.
  const Tensor A = tanh(
      matmul(matmul(F_1, value_of(table, "affinity/weight"), Transpose::b), F_2, Transpose::b));
  const Tensor V_1 = layer.hidden->W_1(F_1), V_2 = layer.hidden->W_2(F_2);
  const auto column = [](const Parameter& w) { return reshape(w, {-1, 1}); };
  const Tensor e_1 = matmul(tanh(V_1 + matmul(A, V_2)), column(layer.hidden->w_1));
  const Tensor e_2 = matmul(tanh(V_2 + matmul(A, V_1, Transpose::a)), column(layer.hidden->w_2));
  expect_close(out.contexts[0], read(e_1, F_1), tolerance);
  expect_close(out.contexts[1], read(e_2, F_2), tolerance);
}

TEST_F(Written, Parallel) { expect_parallel(table, F_1, F_2, 1e-12); }

// Too long for the affinity to be in memory as a whole.
TEST_F(Written, ParallelOfLongInputs) {
  expect_parallel(table, random_tensor({1100, D}, 4), random_tensor({1000, D}, 5), 1e-9);
}

TEST_F(Written, ParallelPooledAffinityOfConcatenatedRows) {
  ParallelOptions o;
  o.score = [](Scope s, int64_t d, int64_t) { return trilinear_score(s, d); };
  o.pooled = true;
  const ParallelCoAttention layer(table, D, D, o);
  const FeatureOutput out = layer(whole(F_1), whole(F_2));
  Tensor A({4, 3}, Dtype::f64);
  const Tensor a = value_of(table, "affinity/query"), b = value_of(table, "affinity/key"),
               c = value_of(table, "affinity/product");
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      double e = 0;
      for (int64_t d = 0; d < D; ++d) {
        const double x = F_1.read<double>()[i * D + d], y = F_2.read<double>()[j * D + d];
        e += a.read<double>()[d] * x + b.read<double>()[d] * y + c.read<double>()[d] * x * y;
      }
      A.write<double>()[i * 3 + j] = e;
    }
  }
  expect_close(out.contexts[0], read(max(A, 1), F_1), 1e-12);
  expect_close(out.contexts[1], read(max(A, 0), F_2), 1e-12);
}

TEST_F(Written, MultiGrained) {
  MultiGrainedOptions o;
  static_cast<FeatureOptions&>(o) = general;
  const MultiGrainedCoAttention layer(table, D, D, o);
  const FeatureOutput out = layer(whole(F_1), whole(F_2));
  ASSERT_EQ(out.contexts.size(), 4u);
  expect_close(out.contexts[0], asked(mean(F_2, 0), F_1, "coarse/first"), 1e-12);
  expect_close(out.contexts[1], asked(mean(F_1, 0), F_2, "coarse/second"), 1e-12);
  const auto column = [&](const char* name) {
    return reshape(value_of(table, std::string("fine/affinity/") + name), {-1, 1});
  };
  const Tensor A = matmul(F_1, column("query")) + reshape(matmul(F_2, column("key")), {1, -1}) +
                   matmul(F_1 * reshape(column("product"), {1, -1}), F_2, Transpose::b);
  expect_close(out.contexts[2], read(max(A, 1), F_1), 1e-12);
  expect_close(out.contexts[3], read(max(A, 0), F_2), 1e-12);
}

TEST_F(Written, Via) {
  const ViaAttention layer(table, D, D, D, general);
  const Tensor q = random_tensor({2, D}, 4);
  const auto out = layer(reshape(q, {1, 2, D}), whole(F_1), whole(F_3));
  for (int64_t i = 0; i < 2; ++i) {
    const Tensor one = slice(q, 0, i, i + 1), c_w = asked(one, F_1, "words");
    expect_close(reshape(slice(out.words, 1, i, i + 1), {1, D}), c_w, 1e-12);
    expect_close(reshape(slice(out.letters, 1, i, i + 1), {1, D}),
                 asked(layer.query(concat({one, c_w}, -1)), F_3, "letters"), 1e-12);
  }
}

TEST_F(Written, MetaEmbeddingsDynamicAndContextual) {
  for (const bool contextual : {false, true}) {
    Parameters own(6, Dtype::f64);
    MetaEmbeddingOptions o;
    o.contextual = contextual;
    const std::vector<int64_t> widths{D, 3};
    const MetaEmbedding layer(own, widths, 5, o);
    // Two sentences of three words and one.
    const Packing cut(Tensor::ids({3}, {0, 3, 4}));
    const std::vector<Tensor> sets{F_1, random_tensor({4, 3}, 9)};
    const auto at = [&](const char* name) { return value_of(own, std::string("score/") + name); };
    std::vector<Tensor> values, scores;
    for (size_t i = 0; i < 2; ++i) {
      values.push_back(layer.project[i](sets[i]));
      const Tensor keys =
          contextual ? (*layer.reader)({.x = values[i], .offsets = cut.offsets}).y : values[i];
      const Tensor h = tanh(matmul(keys, at("key/weight"), Transpose::b) + at("key/bias"));
      scores.push_back(matmul(h, reshape(at("w"), {-1, 1})));
    }
    const Tensor a = softmax(concat({scores[0], scores[1]}, 1));
    const Tensor expected = slice(a, 1, 0, 1) * values[0] + slice(a, 1, 1, 2) * values[1];
    Recorder recorder;
    expect_close(layer(sets, cut).rows, expected, 1e-12);
    // The share of each set, sentence by sentence.
    const Tensor& share = recorder.maps().at(0).weights.rows;
    ASSERT_EQ(share.shape(), Shape({2, 1, 3, 2}));
    EXPECT_NEAR(share.read<double>()[6], a.read<double>()[6], 1e-12);
    EXPECT_EQ(share.read<double>()[8], 0) << "no word stands there";
    const Function f = [&](const std::vector<Tensor>& x) { return layer(x, cut).rows; };
    EXPECT_LT(layer_error(own, f, sets), 1e-5);
  }
}

TEST(Parallel, MaximaOfALongAffinityAreThoseOfItsBlocks) {
  const int64_t T = 1500;  // more than one block, which is run again for the gradient
  Parameters table(3);
  const Score score = general_score(table, D, D);
  const Features a{parameter(random_tensor({1, T, D}, 1, -1, 1, Dtype::f32)),
                   Tensor::ids({1}, {static_cast<int32_t>(T)})};
  const Features b{random_tensor({1, T, D}, 2, -1, 1, Dtype::f32), a.lengths};
  Tape tape;
  const Tensor most = largest_scores(a, b, score);
  const Tensor W = value_of(table, "weight");
  const Tensor A = matmul(matmul(reshape(a.rows, {T, D}), W, Transpose::b), reshape(b.rows, {T, D}),
                          Transpose::b);
  expect_close(reshape(most, {T}), max(A, 1));
  const Gradients g = tape.backward(sum(most) + sum(max(A, 1)) * -1.0);
  EXPECT_LT(largest(g.or_zeros(a.rows)), 1e-5);
}

TEST(Hierarchical, ThreeLevels) {
  Parameters table(7, Dtype::f64);
  const HierarchicalAttention layer(table, std::vector<int64_t>{D, D, D});
  // Five words in three sentences (one empty) in two paragraphs of one book.
  const Packing words(Tensor::ids({4}, {0, 2, 2, 5})), sentences(Tensor::ids({3}, {0, 2, 3})),
      paragraphs(Tensor::ids({2}, {0, 2}));
  const Tensor rows = random_tensor({5, D}, 1);
  const std::vector<Packing> cuts{words, sentences, paragraphs};
  const auto pooled = [&](size_t i, const Tensor& F) {
    const auto at = [&](const char* name) { return value_of(table, say(i, "/score/", name)); };
    const Tensor h = tanh(matmul(F, at("key/weight"), Transpose::b) + at("key/bias"));
    return read(matmul(h, reshape(at("w"), {-1, 1})), F);
  };
  const Tensor none = Tensor::zeros({1, D}, Dtype::f64);
  const Tensor first = pooled(1, concat({pooled(0, slice(rows, 0, 0, 2)), none}, 0));
  const Tensor second = pooled(1, pooled(0, slice(rows, 0, 2, 5)));
  expect_close(layer(rows, cuts).contexts[0], pooled(2, concat({first, second}, 0)), 1e-12);
  const Function f = [&](const std::vector<Tensor>& x) { return layer(x[0], cuts).contexts[0]; };
  EXPECT_LT(layer_error(table, f, std::vector<Tensor>{rows}), 1e-5);
}

TEST(Features, WrongInputsAreOneSentence) {
  Parameters table(1);
  const auto two = find_entry(Entry::Kind::feature, "parallel")
                       .features(Scope(table) / "a", options_of("dot", "softmax"));
  EXPECT_THROW(two(some_inputs(find_entry(Entry::Kind::feature, "hierarchical"))), Error);
  EXPECT_THROW(find_entry(Entry::Kind::feature, "paralel"), Error);
  EXPECT_THROW(MetaEmbedding(Scope(table) / "d", std::vector<int64_t>{}, D), Error);
  EXPECT_THROW(RotatoryAttention(Scope(table) / "b", D, D, {{}, 0}), Error);
  EXPECT_THROW(score_factory(options_of("trilinear", "softmax"))(Scope(table) / "c", 3, 4), Error);
}

}  // namespace
}  // namespace fovea::test
