#include "fovea/attention/feature/parallel.h"

#include <limits>

#include "fovea/attention/align/given.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/recorder.h"
#include "fovea/attention/score/general.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/recompute.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

constexpr int64_t block_elements = 1 << 20;  // of the affinity

// Scores are weights as they are.
struct AsTheyAre {
  template <class T>
  void forward(std::span<T> row) const {
    for (T& x : row) x = x > -std::numeric_limits<T>::infinity() ? x : T(0);
  }
  // What is exactly 0 is what may not be looked at, and has no slope.
  template <class T>
  void backward(std::span<const T> weights, std::span<T> gradient) const {
    for (size_t j = 0; j < weights.size(); ++j) {
      if (weights[j] == T(0)) gradient[j] = T(0);
    }
  }
};
Alignment unaligned() { return row_alignment("none", AsTheyAre{}); }

Tensor with_one_head(const Tensor& x) { return reshape(x, {x.dim(0), x.dim(1), 1, x.dim(2)}); }

// sum_j A_ij v_j: [B, Tq, dv], from blocks of the affinity.
Tensor summed(const Features& queries, const Features& keys, const Tensor& v, const Score& score) {
  AttentionInputs in;
  in.q = with_one_head(queries.rows);
  in.k = with_one_head(keys.rows);
  in.v = with_one_head(v);
  in.who = lengths(keys.lengths);
  const Tensor read = attend_unrecorded(in, score, unaligned()).context;
  return reshape(read, {v.dim(0), queries.rows.dim(1), v.dim(2)});
}

// A itself, with a gradient: [B, Tq, Tk], 0 at keys that do not count.
Tensor whole_affinity(const Tensor& q, const Tensor& k, const Tensor& key_lengths,
                      const Score& score) {
  AttentionInputs in;
  in.q = q, in.k = k;
  in.v = Tensor::zeros({k.dim(0), k.dim(1), 1, 1}, q.dtype());
  in.who = lengths(key_lengths);
  in.capture.what = Capture::What::with_gradient;
  const Tensor rows = attend_unrecorded(in, score, unaligned()).weights.rows;
  return reshape(rows, {rows.dim(0), rows.dim(2), rows.dim(3)});
}

// Leaves the affinity itself, of what is not too long to be looked at, to a Recorder: what is not
// above 0 is no affinity to see.
void show_affinity(const std::string& name, const Features& f_1, const Features& f_2,
                   const Score& score) {
  Recorder* recorder = Recorder::current();
  if (recorder == nullptr || recorder->capture().what == Capture::What::summary) return;
  const int64_t B = f_1.rows.dim(0), T_1 = f_1.rows.dim(1), T_2 = f_2.rows.dim(1);
  if (B * T_1 * T_2 > block_elements) return;
  AttentionInputs in;
  in.q = with_one_head(f_1.rows);
  in.k = with_one_head(f_2.rows);
  in.v = Tensor::zeros({B, T_2, 1, 1}, f_1.rows.dtype());
  in.who = lengths(f_2.lengths);
  in.capture.what = Capture::What::rows;
  Weights weights;
  weights.rows = relu(attend_unrecorded(in, score, unaligned()).weights.rows);
  recorder->keep(name + "/affinity", std::move(weights));
}

// int32 [B, 1, T]: which rows count.
Tensor counted(const Features& f) {
  const int64_t B = f.rows.dim(0), T = f.rows.dim(1);
  Tensor mask({B, 1, T}, Dtype::i32);
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t t = 0; t < T; ++t) {
      mask.write<int32_t>()[b * T + t] = t < f.lengths.read<int32_t>()[b];
    }
  }
  return mask;
}

// A score that is made already.
Score made(const ScoreForm& form) {
  return [form](const Heads&, const Heads&) { return form; };
}

// The rows of f weighted by query . keys_l: [B, d].
Tensor weighted(const Tensor& query, const Tensor& keys, const Features& f, const Alignment& align,
                const std::string& name, FeatureOutput& out) {
  const int64_t B = f.rows.dim(0), d = f.rows.dim(2);
  AttentionInputs in;
  in.q = broadcast_to(reshape(query, {1, 1, 1, -1}), {B, 1, 1, query.elements()});
  in.k = with_one_head(keys);
  in.v = with_one_head(f.rows);
  in.who = lengths(f.lengths);
  in.lengths = f.lengths;
  in.name = name;
  const AttentionOutput read = attend(in, dot_score(), align);
  out.drew(read.log_probability);
  return reshape(read.context, {B, d});
}

}  // namespace

Score flipped(const Score& score) {
  return [score](const Heads& q, const Heads& k) {
    ScoreForm form = score(k, q);
    std::swap(form.q, form.k);
    if (!form.more.empty()) form.more = transposed(form.more);
    return form;
  };
}

Tensor largest_scores(const Features& queries, const Features& keys, const Score& score) {
  const int64_t B = queries.rows.dim(0), Tq = queries.rows.dim(1), Tk = keys.rows.dim(1);
  const Tensor mask = counted(keys);
  const ScoreForm form = score(with_one_head(queries.rows), with_one_head(keys.rows));
  const Tensor k = form.k;
  // One block: the scores as they are, with their gradient, and of each row the largest.
  const auto maxima = [form, mask, keys](std::span<const Tensor> x) {
    ScoreForm part = form;
    part.q = x[0], part.k = x[1];
    if (!form.w.empty()) part.w = x[2];
    part.more = form.more.empty() ? Tensor() : x.back();
    const Tensor all = whole_affinity(x[0], x[1], keys.lengths, made(part));
    return max(where(mask, all, -std::numeric_limits<double>::infinity()), -1);
  };
  const int64_t block = std::max<int64_t>(1, block_elements / std::max<int64_t>(1, B * Tk));
  std::vector<Tensor> parts;
  for (int64_t from = 0; from < Tq; from += block) {
    const int64_t to = std::min(from + block, Tq);
    std::vector<Tensor> inputs{slice(form.q, 1, from, to), k};
    if (!form.w.empty()) inputs.push_back(form.w);
    if (!form.more.empty()) {
      inputs.push_back(form.more.dim(-2) == 1 ? form.more : slice(form.more, -2, from, to));
    }
    parts.push_back(block >= Tq ? maxima(inputs) : recomputed(maxima, inputs));
  }
  Tensor some({B, 1}, Dtype::i32);
  for (int64_t b = 0; b < B; ++b) {
    some.write<int32_t>()[b] = keys.lengths.read<int32_t>()[b] > 0;
  }
  return where(some, concat(parts, 1), 0);
}

ParallelCoAttention::ParallelCoAttention(Scope s, int64_t d_1, int64_t d_2,
                                         const ParallelOptions& o)
    : affinity(o.score ? o.score(s / "affinity", d_1, d_2)
                       : activated_general_score(s / "affinity", d_1, d_2)),
      name(s.path()) {
  const int64_t width = o.pooled ? 1 : o.width > 0 ? o.width : d_1;
  if (o.align) align_1 = o.align(s / "align_1", width), align_2 = o.align(s / "align_2", width);
  if (o.pooled) return;
  hidden.emplace(Hidden{Linear(s / "W_1", d_1, width, {.bias = false}),
                        Linear(s / "W_2", d_2, width, {.bias = false}),
                        s.param("w_1", {width}, init::xavier_uniform()),
                        s.param("w_2", {width}, init::xavier_uniform())});
}

FeatureOutput ParallelCoAttention::operator()(const Features& f_1, const Features& f_2) const {
  FeatureOutput out;
  show_affinity(name, f_1, f_2, affinity);
  const std::string name_1 = name + "/first", name_2 = name + "/second";
  if (!hidden) {
    const Tensor one = Tensor::full({1}, 1, f_1.rows.dtype());
    const auto read = [&](const Features& f, const Features& other, const Score& score,
                          const Alignment& align, const std::string& called) {
      const Tensor e = largest_scores(f, other, score);
      return weighted(one, reshape(e, {e.dim(0), e.dim(1), 1}), f, align, called, out);
    };
    const Tensor c_1 = read(f_1, f_2, affinity, align_1, name_1);
    out.contexts = {c_1, read(f_2, f_1, flipped(affinity), align_2, name_2)};
    return out;
  }
  const Tensor v_1 = hidden->W_1(f_1.rows), v_2 = hidden->W_2(f_2.rows);
  // One score for both ways, so that its products are made once.
  const ScoreForm form = affinity(with_one_head(f_1.rows), with_one_head(f_2.rows));
  Tensor sum_1, sum_2;
  if (f_1.rows.dim(0) * f_1.rows.dim(1) * f_2.rows.dim(1) <= block_elements) {
    const Tensor counts = reshape(counted(f_1), {f_1.rows.dim(0), f_1.rows.dim(1), 1});
    const Tensor A = where(counts, whole_affinity(form.q, form.k, f_2.lengths, made(form)), 0);
    sum_1 = matmul(A, v_2);
    sum_2 = matmul(A, v_1, Transpose::a);
  } else {
    sum_1 = summed(f_1, f_2, v_2, made(form));
    sum_2 = summed(f_2, f_1, v_1, flipped(made(form)));
  }
  const Tensor h_1 = tanh(v_1 + sum_1), h_2 = tanh(v_2 + sum_2);
  const Tensor c_1 = weighted(hidden->w_1, h_1, f_1, align_1, name_1, out);
  out.contexts = {c_1, weighted(hidden->w_2, h_2, f_2, align_2, name_2, out)};
  return out;
}

}  // namespace fovea
