#include "fovea/attention/efficient/self_attention.h"

#include <algorithm>

#include "fovea/attention/alignment.h"
#include "fovea/attention/prepared.h"
#include "fovea/attention/recorder.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

// [B, Tk, H, last - first]: 1 where row and column are one key.
Tensor single_keys(const AttentionInputs& in, int64_t first, int64_t last) {
  const int64_t B = in.v.dim(0), Tk = in.v.dim(1), H = in.v.dim(2);
  Tensor v = Tensor::zeros({B, Tk, H, last - first}, in.v.dtype());
  with_real(v.dtype(), [&]<class T>(T) {
    auto to = v.write<T>();
    for (int64_t b = 0; b < B; ++b) {
      for (int64_t j = first; j < last; ++j) {
        for (int64_t h = 0; h < H; ++h) {
          to[static_cast<size_t>(((b * Tk + j) * H + h) * (last - first) + j - first)] = 1;
        }
      }
    }
  });
  return v;
}

}  // namespace

AttentionOutput with_weights(const AttentionInputs& in, const std::string& name,
                             const std::function<Tensor(const AttentionInputs&)>& context) {
  using What = Capture::What;
  AttentionInputs plain = in;
  plain.capture = {};
  AttentionOutput out;
  out.context = context(plain);
  Recorder* recorder = in.capture.what == What::nothing ? Recorder::current() : nullptr;
  const Capture capture = recorder ? recorder->capture() : in.capture;
  if (capture.what == What::nothing) return out;
  const int64_t Tk = in.k.dim(1);
  check(Tk <= most_watched_keys, "attention '", name, "' has no weights of its own; they are ",
        "worked out for up to ", most_watched_keys, " tokens, and these are ", Tk);
  constexpr int64_t columns = 256;
  std::vector<Tensor> parts;
  plain.dropout = 0;
  for (int64_t first = 0; first < Tk; first += columns) {
    plain.v = single_keys(in, first, std::min(first + columns, Tk));
    parts.push_back(context(plain));
  }
  const Tensor all = permute(concat(parts, 3), {0, 2, 1, 3});  // [B, H, Tq, Tk]
  if (capture.what == What::with_gradient) {
    out.weights.rows = all;
    return out;
  }
  AttentionInputs asked = in;
  asked.capture = capture;
  const Alignment align;
  const PreparedAttention call{.in = asked,
                               .align = align,
                               .e = {in.q.dim(0), in.q.dim(2), in.q.dim(1), Tk},
                               .Hk = in.k.dim(2),
                               .form = {}};
  Weights weights = captured(call, all);
  if (recorder) {
    recorder->keep(in.name, std::move(weights));
  } else {
    out.weights = std::move(weights);
  }
  return out;
}

}  // namespace fovea
