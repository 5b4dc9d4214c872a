#include "fovea/op/recurrent.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "fovea/kernel/gemm.h"
#include "fovea/kernel/recurrent.h"
#include "fovea/op/pack.h"

namespace fovea {
namespace {

// What both passes need. States and biases that were left out are zeros here.
struct Layer {
  Cell cell;
  bool reverse;
  Tensor x, w_input, w_hidden, b_input, b_hidden, h0, c0;
  Tensor offsets, order;

  int64_t B() const { return offsets.elements() - 1; }
  int64_t C() const { return w_input.dim(1); }
  int64_t H() const { return w_hidden.dim(1); }
  int64_t G() const { return w_hidden.dim(0); }
  int64_t rows() const { return x.shape().product(0, x.rank() - 1); }
  kernel::Recurrence recurrence() const {
    return {cell, B(), H(), offsets.read<int32_t>().data(), order.read<int32_t>().data(), reverse};
  }
  Tensor workspace() const {
    return Tensor(Shape{kernel::recurrent_workspace(recurrence())}, x.dtype());
  }
};

template <class T>
const T* read_if(const Tensor& t) {
  return t.empty() ? nullptr : t.read<T>().data();
}
template <class T>
T* write_if(Tensor& t) {
  return t.empty() ? nullptr : t.write<T>().data();
}

Tensor or_zeros(const Tensor& t, const Shape& shape, Dtype dtype) {
  return t.empty() ? Tensor::zeros(shape, dtype) : t;
}

// Longest first, equal ones as they came.
Tensor order_of(const Tensor& offsets) {
  const auto at = offsets.read<int32_t>();
  Tensor order(Shape{offsets.elements() - 1}, Dtype::i32);
  const auto b = order.write<int32_t>();
  std::iota(b.begin(), b.end(), 0);
  std::ranges::stable_sort(b, std::greater(), [&](int32_t i) { return at[i + 1] - at[i]; });
  return order;
}

Layer layer_of(const RecurrentInputs& in, const Tensor& offsets) {
  const RecurrentWeights& w = in.w;
  const int64_t gates = gates_of(in.cell), C = in.x.dim(-1);
  check(w.hidden.rank() == 2 && w.hidden.dim(0) == gates * w.hidden.dim(1),
        "recurrent: the hidden weight needs shape [", gates, " H, H], got ", w.hidden.shape());
  const int64_t H = w.hidden.dim(1), G = w.hidden.dim(0), B = offsets.elements() - 1;
  auto given = [&](const char* what, const Tensor& t, const Shape& shape) {
    check(t.shape() == shape, "recurrent: ", what, " needs shape ", shape, ", got ", t.shape());
    check(t.dtype() == in.x.dtype(), "recurrent: ", what, " needs the type of x, ", in.x.dtype(),
          ", got ", t.dtype());
    return t;
  };
  auto optional = [&](const char* what, const Tensor& t, const Shape& shape) {
    return t.empty() ? Tensor::zeros(shape, in.x.dtype()) : given(what, t, shape);
  };
  const bool lstm = in.cell == Cell::lstm;
  check(lstm || in.start.c.empty(), "recurrent: only an LSTM starts with a c");
  return {in.cell,
          in.reverse,
          in.x,
          given("the input weight", w.input, {G, C}),
          given("the hidden weight", w.hidden, {G, H}),
          optional("the input bias", w.b_input, {G}),
          optional("the hidden bias", w.b_hidden, {G}),
          optional("the first h", in.start.h, {B, H}),
          lstm ? optional("the first c", in.start.c, {B, H}) : Tensor(),
          offsets,
          order_of(offsets)};
}

// Gradients of gates: `width` columns of rows that are `stride` apart.
struct Columns {
  const Tensor& of;
  int64_t width, stride;
};

// dx.add(input, [parts]^T times), the parts' columns side by side. A bias is the weight of an input
// that is always 1.
void add_weight_gradient(InputGradients& dx, int input, const Tensor& weight,
                         std::span<const Columns> parts, const Tensor& times) {
  if (!dx.wants(input)) return;
  Tensor fresh;
  Tensor* sum = dx.begun(input);
  const float beta = sum ? 1 : 0;
  if (!sum) sum = &(fresh = Tensor(weight.shape(), weight.dtype()));
  const int64_t rows = times.shape().product(0, times.rank() - 1), n = times.dim(-1);
  with_real(weight.dtype(), [&]<class T>(T) {
    T* to = sum->write<T>().data();
    const T* b = times.read<T>().data();
    for (const Columns& part : parts) {
      const T* a = part.of.read<T>().data();
      const int64_t width = part.width, stride = part.stride;
      if (n == 1) {  // one row times a matrix reads that matrix in its own order
        kernel::gemm(
            {.m = 1, .n = width, .k = rows, .lda = rows, .ldb = stride, .ldc = width, .beta = beta},
            b, a, to);
      } else {
        kernel::gemm({.transpose_a = true,
                      .m = width,
                      .n = n,
                      .k = rows,
                      .lda = stride,
                      .ldb = n,
                      .ldc = n,
                      .beta = beta},
                     a, b, to);
      }
      to += width * n;
    }
  });
  if (!fresh.empty()) dx.add(input, std::move(fresh));
}

// The tape knows one output for each op. y is the recorded one; the last states are nodes after it
// that leave their gradients here, where y's adjoint, which runs after theirs, finds them.
struct LastGradients {
  Tensor dh, dc;
};

Tensor record_last(const Tensor& y, const Tensor& last, std::shared_ptr<LastGradients> to,
                   Tensor LastGradients::*which) {
  return record("recurrent_last", {y}, last,
                [=, shape = y.shape()](const Tensor& dy, InputGradients& dx) {
                  to.get()->*which = dy;
                  // y's adjoint runs only if y has a gradient, and nothing else may have given it
                  // one.
                  if (!dx.begun(0)) dx.add(0, Tensor::zeros(shape, dy.dtype()));
                });
}

void backward(const Layer& l, const Tensor& y, Tensor& gates, Tensor& kept,
              const LastGradients& last, const Tensor& dy, InputGradients& dx) {
  enum { x, w_input, w_hidden, b_input, b_hidden, h0, c0 };
  const kernel::Recurrence r = l.recurrence();
  const int64_t H = l.H(), rows = l.rows();
  const Dtype dtype = dy.dtype();
  const Shape state{l.B(), H};
  const bool lstm = l.cell == Cell::lstm;
  const Tensor dh_last = or_zeros(last.dh, state, dtype);
  const Tensor dc_last = lstm ? or_zeros(last.dc, state, dtype) : Tensor();
  Tensor h_before = dx.wants(w_hidden) ? Tensor({rows, H}, dtype) : Tensor();
  Tensor dh0 = dx.wants(h0) ? Tensor(state, dtype) : Tensor();
  Tensor dc0 = lstm ? Tensor(state, dtype) : Tensor();
  Tensor workspace = l.workspace();
  with_real(dtype, [&]<class T>(T) {
    kernel::recurrent_backward(
        r,
        kernel::RecurrentBackward<T>{l.w_hidden.read<T>().data(), l.h0.read<T>().data(),
                                     read_if<T>(l.c0), y.read<T>().data(), dy.read<T>().data(),
                                     dh_last.read<T>().data(), read_if<T>(dc_last),
                                     gates.write<T>().data(), write_if<T>(kept),
                                     write_if<T>(h_before), write_if<T>(dh0), write_if<T>(dc0)},
        workspace.write<T>().data());
    if (dx.wants(x)) {
      Tensor g(l.x.shape(), dtype);
      kernel::gemm(
          {.m = rows, .n = l.C(), .k = l.G(), .lda = r.stride(), .ldb = l.C(), .ldc = l.C()},
          gates.read<T>().data(), l.w_input.read<T>().data(), g.write<T>().data());
      dx.add(x, std::move(g));
    }
  });
  // `gates` and `kept` now hold gradients: of what the input gave the gates, and, where a GRU's
  // reset gate makes a difference, of what the state gave them.
  const Tensor ones = Tensor::full({rows, 1}, 1, dtype);
  const Columns from_input[] = {{gates, l.G(), r.stride()}};
  const Columns reset[] = {{gates, 2 * H, r.stride()}, {kept, H, H}};
  const std::span<const Columns> from_state =
      l.cell == Cell::gru ? std::span<const Columns>(reset) : from_input;
  add_weight_gradient(dx, w_input, l.w_input, from_input, l.x);
  add_weight_gradient(dx, w_hidden, l.w_hidden, from_state, h_before);
  add_weight_gradient(dx, b_input, l.b_input, from_input, ones);
  add_weight_gradient(dx, b_hidden, l.b_hidden, from_state, ones);
  if (dx.wants(h0)) dx.add(h0, std::move(dh0));
  if (dx.wants(c0)) dx.add(c0, std::move(dc0));
}

// Sequences without padding.
RecurrentOutput run(const RecurrentInputs& in, const Tensor& offsets) {
  const Layer l = layer_of(in, offsets);
  const kernel::Recurrence r = l.recurrence();
  const int64_t H = l.H(), rows = l.rows();
  const Dtype dtype = in.x.dtype();
  Shape shape = in.x.shape();
  shape.set(-1, H);
  const bool lstm = l.cell == Cell::lstm;
  Tensor y(shape, dtype), gates({rows, r.stride()}, dtype);
  Tensor kept = l.cell == Cell::rnn ? Tensor() : Tensor({rows, H}, dtype);
  Tensor h(Shape{l.B(), H}, dtype), c = lstm ? Tensor(h.shape(), dtype) : Tensor();
  Tensor workspace = l.workspace();
  with_real(dtype, [&]<class T>(T) {
    T* to = gates.write<T>().data();
    kernel::gemm({.transpose_b = true,
                  .m = rows,
                  .n = l.G(),
                  .k = l.C(),
                  .lda = l.C(),
                  .ldb = l.C(),
                  .ldc = r.stride()},
                 l.x.read<T>().data(), l.w_input.read<T>().data(), to);
    kernel::recurrent_forward(
        r,
        kernel::RecurrentForward<T>{l.w_hidden.read<T>().data(), l.b_input.read<T>().data(),
                                    l.b_hidden.read<T>().data(), l.h0.read<T>().data(),
                                    read_if<T>(l.c0), to, write_if<T>(kept), y.write<T>().data(),
                                    h.write<T>().data(), write_if<T>(c)},
        workspace.write<T>().data());
  });
  auto last = std::make_shared<LastGradients>();
  y = record("recurrent",
             {in.x, in.w.input, in.w.hidden, in.w.b_input, in.w.b_hidden, in.start.h, in.start.c},
             y,
             [l, y, gates = std::move(gates), kept = std::move(kept), last](
                 const Tensor& dy, InputGradients& dx) mutable {
               backward(l, y, gates, kept, *last, dy, dx);
             });
  h = record_last(y, h, last, &LastGradients::dh);
  if (lstm) c = record_last(y, c, last, &LastGradients::dc);
  return {y, {h, c}};
}

}  // namespace

RecurrentOutput recurrent(const RecurrentInputs& in) {
  if (!in.offsets.empty()) {
    check(in.lengths.empty(), "recurrent: takes lengths or offsets, not both");
    check(in.x.rank() == 2, "recurrent: packed x needs shape [rows, C], got ", in.x.shape());
    check_offsets("recurrent", in.offsets, in.x.dim(0));
    return run(in, in.offsets);
  }
  check(in.x.rank() == 3, "recurrent: x needs shape [B, T, C], got ", in.x.shape());
  const int64_t B = in.x.dim(0), T = in.x.dim(1);
  const Tensor full = even_offsets(B, T);
  if (in.lengths.empty()) return run(in, full);
  check(in.lengths.dtype() == Dtype::i32 && in.lengths.shape() == Shape{B},
        "recurrent: lengths need int32 [", B, "], got ", in.lengths.dtype(), in.lengths.shape());
  const auto all = [&](int32_t length) { return length == T; };
  if (std::ranges::all_of(in.lengths.read<int32_t>(), all)) return run(in, full);
  const Tensor offsets = offsets_of(in.lengths);
  RecurrentInputs packed = in;
  packed.x = pack(in.x, offsets);
  RecurrentOutput out = run(packed, offsets);
  out.y = unpack(out.y, offsets, T);
  return out;
}

RecurrentState recurrent_step(Cell cell, const Tensor& x, const RecurrentWeights& w,
                              const RecurrentState& before) {
  check(x.rank() == 2, "recurrent_step: x needs shape [B, C], got ", x.shape());
  const RecurrentOutput out =
      run({.cell = cell, .x = x, .w = w, .start = before}, even_offsets(x.dim(0), 1));
  return {out.y, out.last.c};
}

}  // namespace fovea
