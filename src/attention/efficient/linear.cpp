#include "fovea/attention/efficient/linear.h"

#include "fovea/attention/efficient/spans.h"
#include "fovea/kernel/linear_attention.h"
#include "fovea/kernel/naive/linear_attention.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

using kernel::HeadView;
using kernel::LinearStretch;

struct Saved {
  Tensor q, k, v;
  bool elu;
  std::vector<LinearStretch> stretches;

  template <class T>
  kernel::LinearInputs<T> view() const {
    kernel::LinearInputs<T> in;
    in.B = q.dim(0), in.H = q.dim(2), in.M = q.dim(3), in.Dv = v.dim(3);
    in.Tq = q.dim(1), in.Tk = k.dim(1);
    in.q = rows<T>(q), in.k = rows<T>(k), in.v = rows<T>(v);
    in.elu = elu;
    in.stretches = stretches.data();
    in.count = static_cast<int64_t>(stretches.size());
    return in;
  }
  template <class T>
  static HeadView<const T> rows(const Tensor& x) {
    return {x.read<T>().data(), x.dim(1) * x.dim(2) * x.dim(3), x.dim(2) * x.dim(3), x.dim(3)};
  }
  template <class T>
  static HeadView<T> rows(Tensor& x) {
    return {x.write<T>().data(), x.dim(1) * x.dim(2) * x.dim(3), x.dim(2) * x.dim(3), x.dim(3)};
  }
};

// int32 [n, n]: 1 up to the diagonal.
Tensor lower(int64_t n) {
  Tensor mask({n, n}, Dtype::i32);
  auto to = mask.write<int32_t>().begin();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) *to++ = j <= i;
  }
  return mask;
}

Tensor phi(const Tensor& x) { return elu(x) + 1.0; }

}  // namespace

Tensor linear_attention(const AttentionInputs& in, bool elu, const std::string& name) {
  Saved saved{.q = in.q, .k = in.k, .v = in.v, .elu = elu, .stretches = {}};
  const int64_t B = saved.q.dim(0), Tq = saved.q.dim(1), H = saved.q.dim(2), Dv = saved.v.dim(3);
  for (const Stretch& s : stretches_of(spans_of(in, name), B, name)) {
    saved.stretches.push_back({s.b, s.q0, s.q1, s.k0, s.k1, s.causal});
  }
  const Dtype dtype = saved.q.dtype();
  Tensor out({B, Tq, H, Dv}, dtype), den({B, H, Tq}, dtype), sums;
  if (dtype == Dtype::f32) {
    const auto view = saved.view<float>();
    sums = Tensor({kernel::linear_attention_room(view)});
    kernel::linear_attention_forward(view, Saved::rows<float>(out), den.write().data(),
                                     sums.write().data());
  } else {
    naive::linear_attention_forward(saved.view<double>(), Saved::rows<double>(out),
                                    den.write<double>().data(), static_cast<double*>(nullptr));
  }
  return record("linear_attention", {saved.q, saved.k, saved.v}, out,
                [saved, out, den, sums](const Tensor& dy, InputGradients& dx) {
                  Tensor dq(saved.q.shape(), dy.dtype()), dk(saved.k.shape(), dy.dtype()),
                      dv(saved.v.shape(), dy.dtype());
                  if (dy.dtype() == Dtype::f32) {
                    const auto view = saved.view<float>();
                    Tensor room({kernel::linear_attention_back_room(view)});
                    kernel::linear_attention_backward(
                        view, Saved::rows<float>(out), Saved::rows<float>(dy), den.read().data(),
                        sums.read().data(), room.write().data(), Saved::rows<float>(dq),
                        Saved::rows<float>(dk), Saved::rows<float>(dv));
                  } else {
                    naive::linear_attention_backward(
                        saved.view<double>(), Saved::rows<double>(out), Saved::rows<double>(dy),
                        den.read<double>().data(), static_cast<const double*>(nullptr),
                        static_cast<double*>(nullptr), Saved::rows<double>(dq),
                        Saved::rows<double>(dk), Saved::rows<double>(dv));
                  }
                  dx.add(0, dq);
                  dx.add(1, dk);
                  dx.add(2, dv);
                });
}

Tensor linear_attention_step(const Tensor& q, const Tensor& k, const Tensor& v,
                             KeyValueCache& cache) {
  const int64_t B = q.dim(0), m = q.dim(1), H = q.dim(2), M = q.dim(3), Dv = v.dim(3);
  Tensor S, z;
  if (cache.sums().empty()) {
    S = Tensor::zeros({B, H, M, Dv}, q.dtype());
    z = Tensor::zeros({B, H, M, 1}, q.dtype());
  } else {
    S = cache.sums()[0], z = cache.sums()[1];
  }
  std::vector<Tensor> contexts;
  constexpr int64_t most = 128;  // rows that look at each other in pairs
  for (int64_t t = 0; t < m; t += most) {
    const int64_t rows = std::min(most, m - t);
    const auto part = [&](const Tensor& x) {
      return permute(slice(x, 1, t, t + rows), {0, 2, 1, 3});  // [B, H, rows, width]
    };
    const Tensor qt = part(q), kt = part(k), vt = part(v);
    const Tensor a = where(lower(rows), matmul(qt, kt, Transpose::b), 0);
    const Tensor num = matmul(qt, S) + matmul(a, vt);
    const Tensor den = matmul(qt, z) + sum(a, -1, true);
    contexts.push_back(permute(num / clamp(den, kernel::linear_least, 1e38), {0, 2, 1, 3}));
    S = S + matmul(kt, vt, Transpose::a);
    z = z + reshape(sum(kt, 2), z.shape());
  }
  cache.keep_sums({S, z}, m);
  return contexts.size() == 1 ? contexts[0] : concat(contexts, 1);
}

SelfAttention linear_self_attention() {
  SelfAttention self;
  self.attend = [](const AttentionInputs& in) {
    return with_weights(in, "linear", [](const AttentionInputs& at) {
      return linear_attention(at, true, "linear");
    });
  };
  self.step = [](const AttentionInputs& in, KeyValueCache& cache) {
    return AttentionOutput{linear_attention_step(phi(in.q), phi(in.k), in.v, cache), {}, {}};
  };
  return self;
}

}  // namespace fovea
