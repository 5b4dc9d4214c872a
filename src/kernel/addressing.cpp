#include "fovea/kernel/addressing.h"

#include "fovea/kernel/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/addressing.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// Loops without a sum are plain: the compiler makes vectors of them, for this target.

struct ExponentialFrom {  // exp(scale x - most)
  float scale, most;
  V operator()(D d, V x) const {
    return hn::Exp(d, hn::MulSub(x, hn::Set(d, scale), hn::Set(d, most)));
  }
};
struct LogarithmAbove {
  V operator()(D d, V x) const {
    return hn::Log(d, hn::Add(x, hn::Set(d, static_cast<float>(naive::address_floor))));
  }
};

float sum_of_products(const float* a, const float* b, int64_t n) {
  return sum_of2(Times{}, a, b, n);
}

// x becomes softmax(scale x).
void softmax_in_place(float* x, float scale, int64_t n) {
  const float most = scale * max_of(x, n);  // scale is not negative
  map1(ExponentialFrom{scale, most}, x, x, n);
  const float part = 1 / sum_of(Same{}, x, n);
  for (int64_t i = 0; i < n; ++i) x[i] *= part;
}

// to[i] += factor * from[i - by], round the ring of N slots.
void add_turned(float* HWY_RESTRICT to, const float* HWY_RESTRICT from, float factor, int64_t by,
                int64_t N) {
  const int64_t first = naive::wrapped(by, N);
  for (int64_t i = first; i < N; ++i) to[i] += factor * from[i - first];
  for (int64_t i = 0; i < first; ++i) to[i] += factor * from[N - first + i];
}
float sum_of_turned(const float* a, const float* from, int64_t by, int64_t N) {
  const int64_t first = naive::wrapped(by, N);
  return sum_of_products(a + first, from, N - first) + sum_of_products(a, from + N - first, first);
}

void address_one(const Slots& m, float* HWY_RESTRICT w, const AddressKept<float>& kept,
                 const float* HWY_RESTRICT memory, const float* HWY_RESTRICT controls,
                 const float* HWY_RESTRICT before) {
  const naive::HeadSettings<float> head(m, controls);
  const int64_t N = m.N;
  const auto floor = static_cast<float>(naive::length_floor);
  const float key = std::sqrt(floor + sum_of_products(controls, controls, m.D));
  float* HWY_RESTRICT cosine = kept.cosine;
  float* HWY_RESTRICT length = kept.length;
  float* HWY_RESTRICT content = kept.content;
  float* HWY_RESTRICT gated = kept.gated;
  float* HWY_RESTRICT shifted = kept.shifted;
  for (int64_t i = 0; i < N; ++i) cosine[i] = 0, length[i] = floor, shifted[i] = 0;
  for (int64_t d = 0; d < m.D; ++d) {
    const float* HWY_RESTRICT x = memory + d * N;
    const float k = controls[d];
    for (int64_t i = 0; i < N; ++i) cosine[i] += k * x[i], length[i] += x[i] * x[i];
  }
  for (int64_t i = 0; i < N; ++i) {
    length[i] = std::sqrt(length[i]);
    cosine[i] /= key * length[i];
    content[i] = cosine[i];
  }
  softmax_in_place(content, head.strength, N);
  const float gate = head.gate;
  for (int64_t i = 0; i < N; ++i) gated[i] = gate * content[i] + (1 - gate) * before[i];
  for (int64_t j = -m.reach; j <= m.reach; ++j)
    add_turned(shifted, gated, head.shift[j + m.reach], j, N);
  map1(LogarithmAbove{}, w, shifted, N);
  softmax_in_place(w, head.sharpness, N);
}

void address_grad_one(const Slots& m, const AddressGradient<float>& to, const float* dw,
                      const float* w, const AddressKept<float>& kept, const float* memory,
                      const float* controls, const float* before) {
  const naive::HeadSettings<float> head(m, controls);
  const int64_t N = m.N, S = m.shifts();
  Scratch scratch(4 * Scratch::bytes<float>(N) + Scratch::bytes<float>(S));
  float* HWY_RESTRICT moved = scratch.take<float>(N);
  float* HWY_RESTRICT gated = scratch.take<float>(N);
  float* HWY_RESTRICT along = scratch.take<float>(N);   // to the key's direction
  float* HWY_RESTRICT within = scratch.take<float>(N);  // to the slot's own
  float* dshift = scratch.take<float>(S);

  const float mean = sum_of_products(w, dw, N);
  const auto floor = static_cast<float>(naive::address_floor);
  map1(LogarithmAbove{}, along, kept.shifted, N);
  for (int64_t i = 0; i < N; ++i) moved[i] = w[i] * (dw[i] - mean);
  const float dsharpness = sum_of_products(moved, along, N);
  for (int64_t i = 0; i < N; ++i) {
    moved[i] *= head.sharpness / (kept.shifted[i] + floor);
    gated[i] = 0;
  }
  for (int64_t j = -m.reach; j <= m.reach; ++j) {
    add_turned(gated, moved, head.shift[j + m.reach], -j, N);
    dshift[j + m.reach] = sum_of_turned(moved, kept.gated, j, N);
  }
  const float gate = head.gate;
  const float dgate = sum_of_products(gated, kept.content, N) - sum_of_products(gated, before, N);
  if (to.before) {
    float* HWY_RESTRICT dbefore = to.before;
    for (int64_t i = 0; i < N; ++i) dbefore[i] += (1 - gate) * gated[i];
  }
  const float middle = gate * sum_of_products(kept.content, gated, N);
  for (int64_t i = 0; i < N; ++i) moved[i] = kept.content[i] * (gate * gated[i] - middle);
  const float dstrength = sum_of_products(moved, kept.cosine, N);
  const float square =
      static_cast<float>(naive::length_floor) + sum_of_products(controls, controls, m.D);
  const float key = std::sqrt(square);
  for (int64_t i = 0; i < N; ++i) {
    const float dcosine = head.strength * moved[i];
    along[i] = dcosine / (key * kept.length[i]);
    within[i] = -dcosine * kept.cosine[i] / (kept.length[i] * kept.length[i]);
  }
  const float pull = head.strength * dstrength / square;
  for (int64_t d = 0; d < m.D; ++d) {
    const float* HWY_RESTRICT x = memory + d * N;
    const float k = controls[d];
    if (to.controls) to.controls[d] += sum_of_products(along, x, N) - k * pull;
    if (!to.memory) continue;
    float* HWY_RESTRICT dx = to.memory + d * N;
    for (int64_t i = 0; i < N; ++i) dx[i] += along[i] * k + within[i] * x[i];
  }
  if (!to.controls) return;
  float* dh = to.controls + m.D;
  dh[0] += dstrength * naive::sigmoid_of(controls[m.D]);
  dh[1] += dgate * gate * (1 - gate);
  float centre = 0;
  for (int64_t j = 0; j < S; ++j) centre += head.shift[j] * dshift[j];
  for (int64_t j = 0; j < S; ++j) dh[2 + j] += head.shift[j] * (dshift[j] - centre);
  dh[2 + S] += dsharpness * naive::sigmoid_of(controls[m.D + 2 + S]);
}

void write_one(const Slots& m, float* HWY_RESTRICT after, const float* HWY_RESTRICT memory,
               const float* HWY_RESTRICT w, const float* controls) {
  const int64_t N = m.N;
  for (int64_t d = 0; d < m.D; ++d) {
    const float erase = naive::sigmoid_of(controls[d]), add = controls[m.D + d];
    for (int64_t i = d * N; i < (d + 1) * N; ++i)
      after[i] = memory[i] + w[i - d * N] * (add - erase * memory[i]);
  }
}

void write_grad_one(const Slots& m, const WriteGradient<float>& to, const float* dafter,
                    const float* memory, const float* w, const float* controls) {
  const int64_t N = m.N;
  Scratch scratch(Scratch::bytes<float>(N));
  float* HWY_RESTRICT weighted = scratch.take<float>(N);
  for (int64_t d = 0; d < m.D; ++d) {
    const float erase = naive::sigmoid_of(controls[d]), add = controls[m.D + d];
    const float* HWY_RESTRICT g = dafter + d * N;
    const float* HWY_RESTRICT x = memory + d * N;
    for (int64_t i = 0; i < N; ++i) weighted[i] = g[i] * w[i];
    if (to.controls) {
      const float derase = -sum_of_products(weighted, x, N);
      to.controls[d] += derase * erase * (1 - erase);
      to.controls[m.D + d] += sum_of(Same{}, weighted, N);
    }
    if (to.w) {
      float* HWY_RESTRICT dw = to.w;
      for (int64_t i = 0; i < N; ++i) dw[i] += g[i] * (add - erase * x[i]);
    }
    if (to.memory) {
      float* HWY_RESTRICT dx = to.memory + d * N;
      for (int64_t i = 0; i < N; ++i) dx[i] += g[i] - weighted[i] * erase;
    }
  }
}

void read_one(const Slots& m, float* r, const float* memory, const float* w) {
  for (int64_t d = 0; d < m.D; ++d) r[d] = sum_of_products(memory + d * m.N, w, m.N);
}

void read_grad_one(const Slots& m, float* dmemory, float* dw, const float* dr, const float* memory,
                   const float* w) {
  const int64_t N = m.N;
  for (int64_t d = 0; d < m.D; ++d) {
    if (dmemory) map2(AddScaled{dr[d]}, dmemory + d * N, dmemory + d * N, w, N);
    if (dw) map2(AddScaled{dr[d]}, dw, dw, memory + d * N, N);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(address_one);
HWY_EXPORT(address_grad_one);
HWY_EXPORT(write_one);
HWY_EXPORT(write_grad_one);
HWY_EXPORT(read_one);
HWY_EXPORT(read_grad_one);

void address(const Slots& m, float* w, const AddressKept<float>& kept, const float* memory,
             const float* controls, const float* before) {
  FOVEA_DISPATCH(address_one)(m, w, kept, memory, controls, before);
}
void address_grad(const Slots& m, const AddressGradient<float>& to, const float* dw, const float* w,
                  const AddressKept<float>& kept, const float* memory, const float* controls,
                  const float* before) {
  FOVEA_DISPATCH(address_grad_one)(m, to, dw, w, kept, memory, controls, before);
}
void write_slots(const Slots& m, float* after, const float* memory, const float* w,
                 const float* controls) {
  FOVEA_DISPATCH(write_one)(m, after, memory, w, controls);
}
void write_slots_grad(const Slots& m, const WriteGradient<float>& to, const float* dafter,
                      const float* memory, const float* w, const float* controls) {
  FOVEA_DISPATCH(write_grad_one)(m, to, dafter, memory, w, controls);
}
void read_slots(const Slots& m, float* r, const float* memory, const float* w) {
  FOVEA_DISPATCH(read_one)(m, r, memory, w);
}
void read_slots_grad(const Slots& m, float* dmemory, float* dw, const float* dr,
                     const float* memory, const float* w) {
  FOVEA_DISPATCH(read_grad_one)(m, dmemory, dw, dr, memory, w);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
