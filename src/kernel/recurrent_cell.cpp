#include "fovea/kernel/recurrent_cell.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/recurrent_cell.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// A whole vector, or the last part of a row.
struct Whole {
  D d;
  V get(const float* from) const { return hn::LoadU(d, from); }
  void put(V v, float* to) const { hn::StoreU(v, d, to); }
};
struct Part {
  D d;
  int64_t count;
  V get(const float* from) const { return load_part(d, from, count); }
  void put(V v, float* to) const { store_part(v, d, to, count); }
};

// x (1 - x), the slope of a sigmoid, and 1 - x^2, that of tanh, times dy.
HWY_INLINE V through_sigmoid(V dy, V x) { return hn::Mul(dy, hn::NegMulAdd(x, x, x)); }
HWY_INLINE V through_tanh(D d, V dy, V x) {
  return hn::Mul(dy, hn::NegMulAdd(x, x, hn::Set(d, 1.0f)));
}

template <class Lanes>
HWY_INLINE V input_part(const Lanes& m, const CellStep<float>& s, int64_t k) {
  return hn::Add(m.get(s.gates + k), m.get(s.b_input + k));
}
template <class Lanes>
HWY_INLINE V hidden_part(const Lanes& m, const CellStep<float>& s, int64_t k) {
  return hn::Add(m.get(s.hidden + k), m.get(s.b_hidden + k));
}
template <class Lanes>
HWY_INLINE V both_parts(const Lanes& m, const CellStep<float>& s, int64_t k) {
  return hn::Add(input_part(m, s, k), hidden_part(m, s, k));
}

template <class Lanes>
HWY_INLINE void put_both(const Lanes& m, const CellStepGrad<float>& s, int64_t k, V da) {
  m.put(da, s.gates + k);
  m.put(da, s.hidden + k);
}

struct Rnn {
  template <class Lanes>
  static void step(const Lanes& m, const CellStep<float>& s, int64_t, int64_t j) {
    m.put(tanh_of(m.d, both_parts(m, s, j)), s.h + j);
  }
  template <class Lanes>
  static void grad(const Lanes& m, const CellStepGrad<float>& s, int64_t, int64_t j) {
    const V dh = hn::Add(m.get(s.dh + j), m.get(s.dy + j));
    put_both(m, s, j, through_tanh(m.d, dh, m.get(s.h + j)));
    m.put(hn::Zero(m.d), s.dh + j);
  }
};

struct Gru {
  template <class Lanes>
  static void step(const Lanes& m, const CellStep<float>& s, int64_t H, int64_t j) {
    const V r = sigmoid_of(m.d, both_parts(m, s, j));
    const V z = sigmoid_of(m.d, both_parts(m, s, H + j));
    const V u = hidden_part(m, s, 2 * H + j);
    const V n = tanh_of(m.d, hn::MulAdd(r, u, input_part(m, s, 2 * H + j)));
    m.put(r, s.gates + j);
    m.put(z, s.gates + H + j);
    m.put(n, s.gates + 2 * H + j);
    m.put(u, s.kept + j);
    m.put(hn::MulAdd(z, hn::Sub(m.get(s.h_before + j), n), n), s.h + j);
  }
  template <class Lanes>
  static void grad(const Lanes& m, const CellStepGrad<float>& s, int64_t H, int64_t j) {
    const V dh = hn::Add(m.get(s.dh + j), m.get(s.dy + j));
    const V r = m.get(s.gates + j), z = m.get(s.gates + H + j), n = m.get(s.gates + 2 * H + j);
    const V dn = through_tanh(m.d, hn::NegMulAdd(dh, z, dh), n);
    put_both(m, s, j, through_sigmoid(hn::Mul(dn, m.get(s.kept + j)), r));
    const V dz = hn::Mul(dh, hn::Sub(m.get(s.h_before + j), n));
    put_both(m, s, H + j, through_sigmoid(dz, z));
    const V du = hn::Mul(dn, r);
    m.put(dn, s.gates + 2 * H + j);
    m.put(du, s.hidden + 2 * H + j);
    m.put(du, s.kept + j);
    m.put(hn::Mul(dh, z), s.dh + j);
  }
};

struct Lstm {
  template <class Lanes>
  static void step(const Lanes& m, const CellStep<float>& s, int64_t H, int64_t j) {
    const V i = sigmoid_of(m.d, both_parts(m, s, j));
    const V f = sigmoid_of(m.d, both_parts(m, s, H + j));
    const V g = tanh_of(m.d, both_parts(m, s, 2 * H + j));
    const V o = sigmoid_of(m.d, both_parts(m, s, 3 * H + j));
    m.put(i, s.gates + j);
    m.put(f, s.gates + H + j);
    m.put(g, s.gates + 2 * H + j);
    m.put(o, s.gates + 3 * H + j);
    const V c = hn::MulAdd(f, m.get(s.c_before + j), hn::Mul(i, g));
    m.put(c, s.kept + j);
    m.put(hn::Mul(o, tanh_of(m.d, c)), s.h + j);
  }
  template <class Lanes>
  static void grad(const Lanes& m, const CellStepGrad<float>& s, int64_t H, int64_t j) {
    const V dh = hn::Add(m.get(s.dh + j), m.get(s.dy + j));
    const V i = m.get(s.gates + j), f = m.get(s.gates + H + j);
    const V g = m.get(s.gates + 2 * H + j), o = m.get(s.gates + 3 * H + j);
    const V tanh_c = tanh_of(m.d, m.get(s.kept + j));
    const V dc = hn::Add(m.get(s.dc + j), through_tanh(m.d, hn::Mul(dh, o), tanh_c));
    put_both(m, s, j, through_sigmoid(hn::Mul(dc, g), i));
    put_both(m, s, H + j, through_sigmoid(hn::Mul(dc, m.get(s.c_before + j)), f));
    put_both(m, s, 2 * H + j, through_tanh(m.d, hn::Mul(dc, i), g));
    put_both(m, s, 3 * H + j, through_sigmoid(hn::Mul(dh, tanh_c), o));
    m.put(hn::Mul(dc, f), s.dc + j);
    m.put(hn::Zero(m.d), s.dh + j);
  }
};

template <class C>
void step_row(const CellStep<float>& s, int64_t H) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= H; j += lanes) C::step(Whole{d}, s, H, j);
  if (j < H) C::step(Part{d, H - j}, s, H, j);
}

template <class C>
void grad_row(const CellStepGrad<float>& s, int64_t H) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= H; j += lanes) C::grad(Whole{d}, s, H, j);
  if (j < H) C::grad(Part{d, H - j}, s, H, j);
}

void cell_row(Cell cell, const CellStep<float>& s, int64_t H) {
  switch (cell) {
    case Cell::rnn:
      return step_row<Rnn>(s, H);
    case Cell::gru:
      return step_row<Gru>(s, H);
    case Cell::lstm:
      return step_row<Lstm>(s, H);
  }
}

void cell_grad_row(Cell cell, const CellStepGrad<float>& s, int64_t H) {
  switch (cell) {
    case Cell::rnn:
      return grad_row<Rnn>(s, H);
    case Cell::gru:
      return grad_row<Gru>(s, H);
    case Cell::lstm:
      return grad_row<Lstm>(s, H);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(cell_row);
HWY_EXPORT(cell_grad_row);

void cell_step(Cell cell, const CellStep<float>& s, int64_t H) {
  FOVEA_DISPATCH(cell_row)(cell, s, H);
}

void cell_step_grad(Cell cell, const CellStepGrad<float>& s, int64_t H) {
  FOVEA_DISPATCH(cell_grad_row)(cell, s, H);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
