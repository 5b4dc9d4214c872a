#include "fovea/op/matmul.h"

#include <vector>

#include "fovea/kernel/binary.h"
#include "fovea/kernel/gemm.h"
#include "fovea/kernel/index.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

Shape batch_of(const Shape& shape) { return Shape(std::span(shape.begin(), shape.rank() - 2)); }

// One product of stacked matrices, beta = 0 or 1. Batches of a and b broadcast to c's.
void multiply(const Tensor& a, bool ta, const Tensor& b, bool tb, Tensor& c, float beta) {
  const kernel::Gemm g{.transpose_a = ta,
                       .transpose_b = tb,
                       .m = c.dim(-2),
                       .n = c.dim(-1),
                       .k = a.dim(ta ? -2 : -1),
                       .lda = a.dim(-1),
                       .ldb = b.dim(-1),
                       .ldc = c.dim(-1),
                       .beta = beta};
  with_real(c.dtype(), [&]<class T>(T) {
    T* out = c.write<T>().data();
    const T *pa = a.read<T>().data(), *pb = b.read<T>().data();
    const int64_t count = c.shape().product(0, c.rank() - 2);
    if (count == 1) return kernel::gemm(g, pa, pb, out);
    // Where each product's matrices start: element 0 of the batch axes, walked by broadcasting.
    std::vector<int64_t> at_a(count), at_b(count), at_c(count);
    const Shape all = batch_of(c.shape());
    auto starts = [&](const Shape& batch, int64_t size, std::vector<int64_t>& at) {
      const kernel::Broadcast how = kernel::broadcast(batch, all);
      for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i, step = 0;
        for (int axis = how.rank - 1; axis >= 0; --axis) {
          step += rest % how.dims[axis] * how.step_a[axis];
          rest /= how.dims[axis];
        }
        at[i] = step * size;
      }
    };
    starts(batch_of(a.shape()), a.dim(-2) * a.dim(-1), at_a);
    starts(batch_of(b.shape()), b.dim(-2) * b.dim(-1), at_b);
    for (int64_t i = 0; i < count; ++i) at_c[i] = i * g.m * g.n;
    kernel::gemm_batch(g, {count, at_a.data(), at_b.data(), at_c.data()}, pa, pb, out);
  });
}

// dx.add(input, a b), into the sum that is there already where the shapes allow it.
void add_product(InputGradients& dx, int input, const Shape& shape, const Tensor& a, bool ta,
                 const Tensor& b, bool tb) {
  if (!dx.wants(input)) return;
  const Shape batch = kernel::broadcast_shape(batch_of(a.shape()), batch_of(b.shape()));
  const bool whole = batch == batch_of(shape);
  if (Tensor* begun = whole ? dx.begun(input) : nullptr) return multiply(a, ta, b, tb, *begun, 1);
  Shape full = batch;
  full.push_back(shape[-2]);
  full.push_back(shape[-1]);
  Tensor g(full, a.dtype());
  multiply(a, ta, b, tb, g, 0);
  dx.add(input, sum_to(g, shape));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, Transpose transpose) {
  check(a.rank() >= 2 && b.rank() >= 2, "matmul: needs at least 2 axes on both sides, got ",
        a.shape(), " and ", b.shape());
  check(a.dtype() == b.dtype(), "matmul: both sides need one type, got ", a.dtype(), " and ",
        b.dtype());
  const bool ta = transpose == Transpose::a, tb = transpose == Transpose::b;
  check(a.dim(ta ? -2 : -1) == b.dim(tb ? -1 : -2), "matmul: inner sizes differ in ", a.shape(),
        ta ? " transposed" : "", " x ", b.shape(), tb ? " transposed" : "");
  Shape shape = kernel::broadcast_shape(batch_of(a.shape()), batch_of(b.shape()));
  shape.push_back(a.dim(ta ? -1 : -2));
  shape.push_back(b.dim(tb ? -2 : -1));
  Tensor y(shape, a.dtype());
  multiply(a, ta, b, tb, y, 0);
  return record("matmul", {a, b}, y, [a, b, ta, tb](const Tensor& dy, InputGradients& dx) {
    // y = op(a) op(b): d op(a) = dy op(b)^T, d op(b) = op(a)^T dy, each turned back where op
    // turned.
    if (ta) {
      add_product(dx, 0, a.shape(), b, tb, dy, true);
    } else {
      add_product(dx, 0, a.shape(), dy, false, b, !tb);
    }
    if (tb) {
      add_product(dx, 1, b.shape(), dy, true, a, ta);
    } else {
      add_product(dx, 1, b.shape(), a, !ta, dy, false);
    }
  });
}

}  // namespace fovea
