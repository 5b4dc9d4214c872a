#include "fovea/memory/addressing.h"

#include "fovea/attention/engine.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {

Tensor content_address(const Tensor& memory, const Tensor& keys, const Score& score,
                       const Alignment& align, const std::string& name) {
  const int64_t B = keys.dim(0), H = keys.dim(1), D = keys.dim(2), N = memory.dim(2);
  AttentionInputs in;
  in.q = reshape(keys, {B, H, 1, D});
  in.k = reshape(transposed(memory), {B, N, 1, D});
  in.v = Tensor::zeros({B, N, 1, 1}, memory.dtype());  // what is read is not asked for here
  in.capture.what = Capture::What::with_gradient;
  in.name = name;
  return reshape(attend(in, score, align).weights.rows, {B, H, N});
}

Tensor gated_address(const Tensor& content, const Tensor& before, const Tensor& gate) {
  return before + gate * (content - before);
}

Tensor shifted_address(const Tensor& w, const Tensor& shift) {
  const int64_t N = w.dim(-1), reach = shift.dim(-1) / 2;
  Tensor moved;
  for (int64_t j = -reach; j <= reach; ++j) {
    const int64_t by = naive::wrapped(j, N);
    const Tensor turned =
        by == 0 ? w : concat({slice(w, -1, N - by, N), slice(w, -1, 0, N - by)}, -1);
    const Tensor part = turned * slice(shift, -1, j + reach, j + reach + 1);
    moved = moved.empty() ? part : moved + part;
  }
  return moved;
}

Tensor sharpened_address(const Tensor& w, const Tensor& sharpness) {
  return softmax(sharpness * log(w + naive::address_floor));
}

namespace {

// Sequences of a batch that one thread takes.
int64_t grain_of(const Slots& m) { return kernel::row_grain(kernel::light_grain, 2 * m.D * m.N); }

void check_memory(const char* what, const Slots& m, const Tensor& memory) {
  check(memory.rank() == 3 && memory.dim(1) == m.D && memory.dim(2) == m.N, what,
        ": needs a memory [B, ", m.D, ", ", m.N, "], got ", memory.shape());
}
void check_weights(const char* what, const Tensor& memory, const Tensor& w) {
  check(w.shape() == Shape({memory.dim(0), memory.dim(2)}), what, ": needs weights ",
        Shape({memory.dim(0), memory.dim(2)}), ", got ", w.shape());
}
void check_controls(const char* what, const Tensor& memory, const Tensor& controls, int64_t at,
                    int64_t needed) {
  check(controls.rank() == 2 && controls.dim(0) == memory.dim(0) && at >= 0 &&
            at + needed <= controls.dim(1),
        what, ": needs ", needed, " controls from column ", at, " of [", memory.dim(0),
        ", ...], got ", controls.shape());
}

// The gradient of an input, to be added to in place: what others gave, or zeros. Null if unwanted.
class Sum {
 public:
  Sum(InputGradients& dx, int input, const Tensor& like) : dx_(dx), input_(input) {
    if (!dx.wants(input)) return;
    to_ = dx.begun(input);
    if (!to_) to_ = &(fresh_ = Tensor::zeros(like.shape(), like.dtype()));
  }
  ~Sum() {
    if (!fresh_.empty()) dx_.add(input_, std::move(fresh_));
  }
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;
  template <class T>
  T* data() {
    return to_ ? to_->write<T>().data() : nullptr;
  }

 private:
  InputGradients& dx_;
  int input_;
  Tensor* to_ = nullptr;
  Tensor fresh_;
};

template <class T>
T* advanced(T* p, int64_t by) {
  return p ? p + by : nullptr;
}

template <class T>
kernel::AddressKept<T> kept_at(T* p, int64_t N) {
  return {p, p + N, p + 2 * N, p + 3 * N, p + 4 * N};
}

}  // namespace

Tensor head_address(const Slots& m, const Tensor& memory, const Tensor& controls, int64_t at,
                    const Tensor& before) {
  check(m.reach >= 0 && m.reach <= Slots::furthest, "head address: may shift by 0 to ",
        Slots::furthest, " slots, got ", m.reach);
  check_memory("head address", m, memory);
  check_weights("head address", memory, before);
  check_controls("head address", memory, controls, at, m.controls());
  const int64_t B = memory.dim(0), N = m.N, C = controls.dim(1), size = m.D * N;
  Tensor w({B, N}, memory.dtype()), kept({B, 5, N}, memory.dtype());
  with_real(w.dtype(), [&]<class T>(T) {
    T *to = w.write<T>().data(), *keep = kept.write<T>().data();
    const T *x = memory.read<T>().data(), *c = controls.read<T>().data() + at,
            *from = before.read<T>().data();
    parallel_for(B, grain_of(m), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        kernel::address(m, to + b * N, kept_at(keep + b * 5 * N, N), x + b * size, c + b * C,
                        from + b * N);
      }
    });
  });
  return record(
      "head_address", {memory, controls, before}, w,
      [=, kept = std::move(kept)](const Tensor& dw, InputGradients& dx) mutable {
        with_real(dw.dtype(), [&]<class T>(T) {
          Sum to_memory(dx, 0, memory), to_controls(dx, 1, controls), to_before(dx, 2, before);
          T *dm = to_memory.data<T>(), *dc = to_controls.data<T>(), *db = to_before.data<T>();
          T* keep = kept.write<T>().data();
          const T *d = dw.read<T>().data(), *y = w.read<T>().data(), *x = memory.read<T>().data(),
                  *c = controls.read<T>().data() + at, *from = before.read<T>().data();
          parallel_for(B, grain_of(m), [&](int64_t begin, int64_t end) {
            for (int64_t b = begin; b < end; ++b) {
              kernel::address_grad(
                  m, {advanced(dm, b * size), advanced(dc, at + b * C), advanced(db, b * N)},
                  d + b * N, y + b * N, kept_at(keep + b * 5 * N, N), x + b * size, c + b * C,
                  from + b * N);
            }
          });
        });
      });
}

Tensor written(const Slots& m, const Tensor& memory, const Tensor& w, const Tensor& controls,
               int64_t at) {
  check_memory("write", m, memory);
  check_weights("write", memory, w);
  check_controls("write", memory, controls, at, 2 * m.D);
  const int64_t B = memory.dim(0), N = m.N, C = controls.dim(1), size = m.D * N;
  Tensor after(memory.shape(), memory.dtype());
  with_real(w.dtype(), [&]<class T>(T) {
    T* to = after.write<T>().data();
    const T *x = memory.read<T>().data(), *c = controls.read<T>().data() + at,
            *by = w.read<T>().data();
    parallel_for(B, grain_of(m), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        kernel::write_slots(m, to + b * size, x + b * size, by + b * N, c + b * C);
    });
  });
  return record("write", {memory, w, controls}, after, [=](const Tensor& dy, InputGradients& dx) {
    with_real(dy.dtype(), [&]<class T>(T) {
      Sum to_memory(dx, 0, memory), to_w(dx, 1, w), to_controls(dx, 2, controls);
      T *dm = to_memory.data<T>(), *dw = to_w.data<T>(), *dc = to_controls.data<T>();
      const T *d = dy.read<T>().data(), *x = memory.read<T>().data(),
              *c = controls.read<T>().data() + at, *by = w.read<T>().data();
      parallel_for(B, grain_of(m), [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          kernel::write_slots_grad(
              m, {advanced(dm, b * size), advanced(dw, b * N), advanced(dc, at + b * C)},
              d + b * size, x + b * size, by + b * N, c + b * C);
        }
      });
    });
  });
}

Tensor read_of(const Slots& m, const Tensor& memory, const Tensor& w) {
  check_memory("read", m, memory);
  check_weights("read", memory, w);
  const int64_t B = memory.dim(0), N = m.N, size = m.D * N;
  Tensor r({B, m.D}, memory.dtype());
  with_real(w.dtype(), [&]<class T>(T) {
    T* to = r.write<T>().data();
    const T *x = memory.read<T>().data(), *by = w.read<T>().data();
    for (int64_t b = 0; b < B; ++b) kernel::read_slots(m, to + b * m.D, x + b * size, by + b * N);
  });
  return record("read", {memory, w}, r, [=](const Tensor& dr, InputGradients& dx) {
    with_real(dr.dtype(), [&]<class T>(T) {
      Sum to_memory(dx, 0, memory), to_w(dx, 1, w);
      T *dm = to_memory.data<T>(), *dw = to_w.data<T>();
      for (int64_t b = 0; b < B; ++b) {
        kernel::read_slots_grad(m, advanced(dm, b * size), advanced(dw, b * N),
                                dr.read<T>().data() + b * m.D, memory.read<T>().data() + b * size,
                                w.read<T>().data() + b * N);
      }
    });
  });
}

}  // namespace fovea
