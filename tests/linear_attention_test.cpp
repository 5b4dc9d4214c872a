// Linear attention's chunks against every pair by itself, at sizes that fill no chunk.
#include "fovea/kernel/linear_attention.h"

#include <gtest/gtest.h>

#include "fovea/kernel/naive/linear_attention.h"
#include "support/twin.h"

namespace fovea::test {
namespace {

using kernel::HeadView;
using kernel::LinearStretch;

void forward(const kernel::LinearInputs<float>& in, HeadView<float> out, float* den, float* sums) {
  kernel::linear_attention_forward(in, out, den, sums);
}
void forward(const kernel::LinearInputs<double>& in, HeadView<double> out, double* den,
             double* sums) {
  naive::linear_attention_forward(in, out, den, sums);
}
template <class... More>
void backward(const kernel::LinearInputs<float>& in, More... more) {
  kernel::linear_attention_backward(in, more...);
}
template <class... More>
void backward(const kernel::LinearInputs<double>& in, More... more) {
  naive::linear_attention_backward(in, more...);
}

void check_sizes(int64_t B, int64_t Tq, int64_t Tk, int64_t H, int64_t M, int64_t Dv, bool elu,
                 const std::vector<LinearStretch>& stretches) {
  check_against_twin([&]<class T>(Call& call, T) {
    kernel::LinearInputs<T> in;
    in.B = B, in.H = H, in.M = M, in.Dv = Dv, in.Tq = Tq, in.Tk = Tk, in.elu = elu;
    // Features that are there already are not below 0.
    const double low = elu ? -2 : 0.1;
    const auto rows = [&](int64_t n, int64_t width, double least) {
      return HeadView<const T>{call.in<T>(B * n * H * width, least, 2), n * H * width, H * width,
                               width};
    };
    in.q = rows(Tq, M, low), in.k = rows(Tk, M, low), in.v = rows(Tk, Dv, -2);
    in.stretches = stretches.data(), in.count = static_cast<int64_t>(stretches.size());
    const auto out = [&](int64_t n, int64_t width) {
      return HeadView<T>{call.out<T>(B * n * H * width), n * H * width, H * width, width};
    };
    kernel::LinearInputs<float> sizes;
    sizes.H = H, sizes.M = M, sizes.Dv = Dv;
    sizes.stretches = in.stretches, sizes.count = in.count;
    std::vector<T> sums(static_cast<size_t>(kernel::linear_attention_room(sizes)));
    std::vector<T> room(static_cast<size_t>(kernel::linear_attention_back_room(sizes)));
    const auto y = out(Tq, Dv);
    T* den = call.inout<T>(B * H * Tq);
    for (int64_t i = 0; i < B * Tq * H * Dv; ++i) y.data[i] = 0;  // rows in no stretch
    forward(in, y, den, sums.data());
    const HeadView<const T> context{y.data, y.batch, y.row, y.head};
    const auto dy = rows(Tq, Dv, -2);
    backward(in, context, dy, static_cast<const T*>(den), static_cast<const T*>(sums.data()),
             room.data(), out(Tq, M), out(Tk, M), out(Tk, Dv));
  });
}

TEST(LinearAttentionKernel, AgreesWithItsTwin) {
  for (const int64_t n : {2, 63, 64, 65, 200}) {
    SCOPED_TRACE(n);
    check_sizes(2, n, n, 2, 5, 7, true, {{0, 0, n, 0, n, true}, {1, 0, n, 0, n, true}});
    check_sizes(2, n, n, 2, 5, 7, true, {{0, 0, n, 0, n, false}, {1, 0, n, 0, n, false}});
  }
  check_sizes(1, 90, 90, 3, 33, 16, false, {{0, 0, 90, 0, 90, true}});
  // Long enough for several shares of keys that all see.
  check_sizes(1, 3, 2500, 1, 4, 4, true, {{0, 0, 3, 0, 2500, false}});
}

TEST(LinearAttentionKernel, TakesPackedShortAndSharedStretches) {
  // Two sequences in a row, and keys that nobody sees.
  check_sizes(1, 150, 160, 2, 6, 5, true, {{0, 0, 70, 0, 70, true}, {0, 70, 150, 80, 160, false}});
  // Queries that go on from keys before them.
  check_sizes(1, 70, 170, 2, 6, 5, true, {{0, 0, 70, 0, 170, true}});
  // Behind a sequence's end queries see it whole: both stretches have a part in its keys.
  check_sizes(1, 100, 100, 2, 6, 5, true, {{0, 0, 80, 0, 80, true}, {0, 80, 100, 0, 80, false}});
  // Nothing to see.
  check_sizes(2, 4, 4, 1, 3, 3, true, {{0, 0, 4, 0, 0, false}, {1, 0, 4, 0, 4, false}});
}

}  // namespace
}  // namespace fovea::test
