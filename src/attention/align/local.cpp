#include "fovea/attention/align/local.h"

#include "fovea/attention/align/learned_number.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

void check_reach(double reach) {
  check(reach > 0, "local alignment: the window must reach further than 0, got ", reach);
}

// [B, Tq, H]: where the queries stand.
Tensor places_of(const AttentionInputs& in, const Extent& e) {
  Tensor at({e.B, e.Tq, e.H}, Dtype::f64);
  auto to = at.write<double>();
  const Tensor given = in.places.empty() ? Tensor() : in.places.to(Dtype::f64);
  check(given.empty() || given.shape() == Shape({e.B, e.Tq}),
        "attend: places must be [B, Tq] = ", Shape{e.B, e.Tq}, ", got ",
        given.empty() ? Shape() : given.shape());
  for (int64_t i = 0; i < at.elements(); ++i) {
    const int64_t query = i / e.H;
    to[i] =
        given.empty() ? static_cast<double>(query % e.Tq + in.offset) : given.read<double>()[query];
  }
  return at;
}

}  // namespace

Alignment local_m_alignment(double reach) {
  check_reach(reach);
  return {.name = "local_m", .start = [reach](const AttentionInputs& in, const Extent& e) {
            return AlignmentStart{.who = around(places_of(in, e), reach)};
          }};
}

Alignment local_p_alignment(Scope s, int64_t d_q, double reach) {
  check_reach(reach);
  const LearnedNumber place(s, d_q);
  const double sigma = reach / 2;
  return {
      .name = "local_p",
      .start =
          [place, reach](const AttentionInputs& in, const Extent& e) {
            // In float64: n times a rounding error of float32 shows in the weights from n = 100
            // on. A center is a part of the sentence, not of the sentence and its padding.
            const Tensor part = sigmoid(place(in.q, precise_linear));
            const Tensor p = in.lengths.empty()
                                 ? part * static_cast<double>(e.Tk)
                                 : part * in.lengths.to(part.dtype()).reshaped({e.B, 1, 1});
            AlignmentStart start;
            start.center = convert(p, Dtype::f64);
            start.who = around(start.center, reach);
            return start;
          },
      .weights =
          [sigma](const Tensor& e, const AlignmentStart& start) {
            const int64_t B = e.dim(0), H = e.dim(1), Tq = e.dim(2), Tk = e.dim(3);
            Tensor position({Tk}, Dtype::f64);
            auto to = position.write<double>();
            for (int64_t j = 0; j < Tk; ++j) to[j] = static_cast<double>(j);
            const Tensor p = reshape(permute(start.center, {0, 2, 1}), {B, H, Tq, 1});
            const Tensor bell = exp(square(position - p) * (-0.5 / (sigma * sigma)));
            return AlignedWeights{softmax(e) * convert(bell, e.dtype())};
          },
      .rows = RowAlignment{.align = kernel::RowAlign::local, .sigma = static_cast<float>(sigma)}};
}

}  // namespace fovea
