#include "fovea/attention/multidim.h"

#include <limits>

#include "fovea/attention/recorder.h"
#include "fovea/attention/score/map.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/recompute.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

constexpr int64_t block_elements = 256 << 10;  // scores of one block of queries: some stay in cache

// int32 [B, Hk, H / Hk, queries, 1, Tk] for the queries [from, to).
Tensor allowed(const ResolvedPattern& who, const Extent& e, int64_t Hk, int64_t from, int64_t to) {
  Tensor mask({e.B, Hk, e.H / Hk, to - from, 1, e.Tk}, Dtype::i32);
  auto at = mask.write<int32_t>().begin();
  for (int64_t b = 0; b < e.B; ++b) {
    for (int64_t h = 0; h < e.H; ++h) {
      for (int64_t i = from; i < to; ++i) {
        for (int64_t j = 0; j < e.Tk; ++j) *at++ = who.allows(e, b, h, i, j);
      }
    }
  }
  return mask;
}

Tensor masked(const Tensor& mask, const Tensor& e) {
  return where(mask, e, -std::numeric_limits<double>::infinity());
}

void check_inputs(const MultiDimensional& m, const AttentionInputs& in) {
  check(
      in.q.rank() == 4 && in.k.rank() == 4 && in.v.rank() == 4 && in.q.dim(0) == in.k.dim(0) &&
          in.k.dim(0) == in.v.dim(0) && in.k.dim(1) == in.v.dim(1) && in.k.dim(2) == in.v.dim(2),
      "multi-dimensional: needs q [B, Tq, H, d_q], k [B, Tk, Hk, d_k] and v [B, Tk, Hk, d_v], got ",
      in.q.shape(), ", ", in.k.shape(), " and ", in.v.shape());
  check(in.q.dim(3) == m.W_1.weight.dim(1) && in.k.dim(3) == m.W_2.weight.dim(1) &&
            in.v.dim(3) == m.W_d.dim(0),
        "multi-dimensional: made for queries, keys and values ", m.W_1.weight.dim(1), ", ",
        m.W_2.weight.dim(1), " and ", m.W_d.dim(0), " wide, got ", in.q.shape(), ", ", in.k.shape(),
        " and ", in.v.shape());
  check(in.k.dim(2) > 0 && in.q.dim(2) % in.k.dim(2) == 0, "multi-dimensional: ", in.q.dim(2),
        " query heads cannot share ", in.k.dim(2), " key heads in equal groups");
}

}  // namespace

MultiDimensional::MultiDimensional(Scope s, int64_t d_q, int64_t d_k, int64_t d_v,
                                   const MultiDimensionalOptions& o)
    : options(o),
      name(s.path()),
      W_1(s / "query", d_q, o.d_w ? o.d_w : d_v, {.bias = false}),
      W_2(s / "key", d_k, o.d_w ? o.d_w : d_v),
      W_d(s.param("weight", {d_v, o.d_w ? o.d_w : d_v}, init::xavier_uniform())) {
  check(!o.align.start && o.align.rows, "multi-dimensional: the alignment '", o.align.name,
        "' draws or goes by places; feature by feature only those can align that go by the scores ",
        "alone, as softmax, sigmoid, sparsemax and entmax do");
}

AttentionOutput MultiDimensional::operator()(const AttentionInputs& in) const {
  check_inputs(*this, in);
  const Extent e{in.q.dim(0), in.q.dim(2), in.q.dim(1), in.k.dim(1)};
  const int64_t Hk = in.k.dim(2), G = e.H / Hk, d_w = W_d.dim(1), d_v = W_d.dim(0);
  const std::shared_ptr<const ResolvedPattern> who = in.who.resolve(e);
  // Heads in front, and axes of size 1 where queries meet keys: [B, Hk, G, Tq, 1 or d_v, Tk or
  // features].
  const Tensor q = reshape(permute(W_1(in.q), {0, 2, 1, 3}), {e.B, Hk, G, e.Tq, 1, d_w});
  const Tensor k = reshape(permute(W_2(in.k), {0, 2, 1, 3}), {e.B, Hk, 1, 1, e.Tk, d_w});
  const Tensor v = reshape(permute(in.v, {0, 2, 3, 1}), {e.B, Hk, 1, 1, d_v, e.Tk});

  Recorder* recorder = in.capture.what == Capture::What::nothing ? Recorder::current() : nullptr;
  const bool capture = recorder || in.capture.what != Capture::What::nothing;
  const int64_t row = std::max<int64_t>(1, e.B * e.H * e.Tk * std::max(d_w, d_v));
  const int64_t block = std::max<int64_t>(1, block_elements / row);
  std::vector<Tensor> contexts, weights;
  for (int64_t from = 0; from < e.Tq; from += block) {
    const int64_t to = std::min(from + block, e.Tq);
    const Tensor mask = allowed(*who, e, Hk, from, to);
    auto weigh = [mask, act = options.act, align = options.align](const Tensor& q, const Tensor& k,
                                                                  const Tensor& W_d) {
      // [B, Hk, G, queries, d_v, Tk]: keys last, where alignments work.
      return aligned(align, masked(mask, matmul(W_d, apply(act, q + k), Transpose::b))).a;
    };
    const Tensor queries = slice(q, 3, from, to);
    contexts.push_back(recomputed(
        [weigh](std::span<const Tensor> x) { return sum(weigh(x[0], x[1], x[3]) * x[2], -1); },
        {queries, k, v, W_d}));
    if (capture) weights.push_back(mean(weigh(queries, k, W_d), -2));
  }
  AttentionOutput out;
  if (contexts.empty()) {
    out.context = Tensor::zeros({e.B, 0, e.H, d_v}, v.dtype());
    return out;
  }
  const Tensor c = reshape(concat(contexts, 3), {e.B, e.H, e.Tq, d_v});
  out.context = permute(c, {0, 2, 1, 3});
  if (capture) out.weights.rows = reshape(concat(weights, 3), {e.B, e.H, e.Tq, e.Tk});
  if (recorder) {
    recorder->keep(in.name.empty() ? name : in.name, std::move(out.weights));
    out.weights = {};
  }
  return out;
}

}  // namespace fovea
