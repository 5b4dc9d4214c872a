#include "fovea/memory/entity_slots.h"

#include <algorithm>
#include <numeric>

#include "fovea/kernel/entity_slots.h"
#include "fovea/kernel/gemm.h"

namespace fovea {
namespace {

// Stories, the longest first, so that those which go on at a time are the first ones: what is kept
// of time t begins at block start[t] and has `going(t)` blocks.
struct Times {
  std::vector<int64_t> story;  // by rank
  std::vector<int64_t> start;  // [times + 1], in blocks

  explicit Times(const Packing& stories) {
    const auto at = stories.offsets.read<int32_t>();
    const auto length = [&](int64_t b) { return int64_t{at[b + 1]} - at[b]; };
    story.resize(static_cast<size_t>(stories.count()));
    std::iota(story.begin(), story.end(), 0);
    std::stable_sort(story.begin(), story.end(),
                     [&](int64_t a, int64_t b) { return length(a) > length(b); });
    start.push_back(0);
    auto going = stories.count();
    for (int64_t t = 0; t < stories.longest; ++t) {
      while (going > 0 && length(story[going - 1]) <= t) --going;
      start.push_back(start.back() + going);
    }
  }
  int64_t count() const { return static_cast<int64_t>(start.size()) - 1; }
  int64_t going(int64_t t) const { return t < count() ? start[t + 1] - start[t] : 0; }
  int64_t blocks() const { return start.back(); }
};

// The recurrence over typed memory; every array of blocks is [blocks, N, d] unless said.
template <class T>
struct Recurrence {
  const Times& times;
  const int32_t* offsets;
  int64_t N, d;
  const T *s, *to_keys, *moved, *moved_keys, *turn, *slope;
  T *h, *turned;    // the slots before each sentence, and U times them
  T *gate, *scale;  // [blocks, N]
  T* last;          // [stories, N, d]

  int64_t size() const { return N * d; }
  int64_t row(int64_t t, int64_t rank) const { return offsets[times.story[rank]] + t; }
  T* after(int64_t t, int64_t rank) const {
    return rank < times.going(t + 1) ? h + (times.start[t + 1] + rank) * size()
                                     : last + times.story[rank] * size();
  }
  kernel::EntitySentence<T> sentence(int64_t t, int64_t rank) const {
    const int64_t block = times.start[t] + rank, r = row(t, rank);
    return {N,
            d,
            h + block * size(),
            turned + block * size(),
            s + r * d,
            to_keys + r * N,
            moved + r * d,
            moved_keys,
            slope};
  }
  // C [rows of time t] = A U^T, or A U added to C.
  void product(int64_t t, const T* a, T* c, bool back) const {
    kernel::gemm({.transpose_b = !back,
                  .m = times.going(t) * N,
                  .n = d,
                  .k = d,
                  .lda = d,
                  .ldb = d,
                  .ldc = d,
                  .beta = back ? 1.0f : 0.0f},
                 a, turn, c);
  }
  template <class F>
  void each_going(int64_t t, const F& f) const {
    parallel_for(times.going(t), std::max<int64_t>(1, 8192 / size()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t rank = begin; rank < end; ++rank) f(rank);
                 });
  }
  void forward() const {
    for (int64_t t = 0; t < times.count(); ++t) {
      const int64_t at = times.start[t];
      product(t, h + at * size(), turned + at * size(), false);
      each_going(t, [&](int64_t rank) {
        kernel::change_slots(sentence(t, rank), after(t, rank), gate + (at + rank) * N,
                             scale + (at + rank) * N);
      });
    }
  }
  // dh [stories, N, d] by rank: those behind the last sentence, and then those before the first.
  // `turned` becomes its own gradient. Those of one story's sums are apart for the same bits with
  // any number of threads: dkeys [stories, N, d], dslope [stories, d].
  void backward(T* dh, T* ds, T* dto_keys, T* dmoved, T* dkeys, T* dslope) const {
    for (int64_t t = times.count(); t-- > 0;) {
      const int64_t at = times.start[t];
      each_going(t, [&](int64_t rank) {
        const int64_t r = row(t, rank), block = at + rank;
        T* own = dh + rank * size();
        const kernel::EntityGradient<T> to{own,
                                           turned + block * size(),
                                           dto_keys + r * N,
                                           ds + r * d,
                                           dmoved + r * d,
                                           dkeys + rank * size(),
                                           dslope + rank * d};
        kernel::change_slots_grad(sentence(t, rank), to, own, after(t, rank), gate + block * N,
                                  scale + block * N);
      });
      product(t, turned + at * size(), dh, true);
    }
  }
};

// What each of `count` blocks of x adds up to.
template <class T>
Tensor sum_of_blocks(const Tensor& x, const Shape& shape) {
  Tensor sum = Tensor::zeros(shape, x.dtype());
  T* to = sum.write<T>().data();
  const auto from = x.read<T>();
  const auto size = static_cast<size_t>(shape.elements());
  for (size_t i = 0; i < from.size(); i += size) {
    for (size_t k = 0; k < size; ++k) to[k] += from[i + k];
  }
  return sum;
}

}  // namespace

Tensor entity_slots(const EntitySentences& x, const Packing& stories, const EntityWeights& w,
                    Tensor* gates) {
  check(w.first.rank() == 2, "entity slots: the first slots need 2 axes, got ", w.first.shape());
  const int64_t B = stories.count(), R = stories.rows(), N = w.first.dim(0), d = w.first.dim(1);
  check(x.s.shape() == Shape{R, d} && x.moved.shape() == Shape{R, d} &&
            x.to_keys.shape() == Shape{R, N},
        "entity slots: ", R, " sentences, ", N, " slots and ", d, " features, but got ",
        x.s.shape(), ", ", x.moved.shape(), " and ", x.to_keys.shape());
  check(w.moved_keys.shape() == w.first.shape() && w.turn.shape() == Shape{d, d} &&
            w.slope.shape() == Shape{d},
        "entity slots: weights for ", N, " slots of ", d, " features, but got ",
        w.moved_keys.shape(), ", ", w.turn.shape(), " and ", w.slope.shape());
  const Dtype dtype = x.s.dtype();
  const auto times = std::make_shared<const Times>(stories);
  const int64_t blocks = times->blocks();
  Tensor h({blocks, N, d}, dtype), turned({blocks, N, d}, dtype), gate({blocks, N}, dtype),
      scale({blocks, N}, dtype), last({B, N, d}, dtype);
  const auto typed = [times, offsets = stories.offsets, x, w, N, d]<class T>(
                         T, Tensor& h, Tensor& turned, Tensor& gate, Tensor& scale, Tensor& last) {
    return Recurrence<T>{*times,
                         offsets.read<int32_t>().data(),
                         N,
                         d,
                         x.s.read<T>().data(),
                         x.to_keys.read<T>().data(),
                         x.moved.read<T>().data(),
                         w.moved_keys.read<T>().data(),
                         w.turn.read<T>().data(),
                         w.slope.read<T>().data(),
                         h.write<T>().data(),
                         turned.write<T>().data(),
                         gate.write<T>().data(),
                         scale.write<T>().data(),
                         last.write<T>().data()};
  };
  with_real(dtype, [&]<class T>(T type) {
    const Recurrence<T> run = typed(type, h, turned, gate, scale, last);
    const auto first = w.first.read<T>();
    for (int64_t rank = 0; rank < B; ++rank) {
      T* to = rank < times->going(0) ? run.h + rank * N * d : run.last + times->story[rank] * N * d;
      std::copy(first.begin(), first.end(), to);
    }
    run.forward();
    if (!gates) return;
    *gates = Tensor({R, N}, dtype);
    for (int64_t t = 0; t < times->count(); ++t) {
      for (int64_t rank = 0; rank < times->going(t); ++rank) {
        std::copy_n(run.gate + (times->start[t] + rank) * N, N,
                    gates->write<T>().data() + run.row(t, rank) * N);
      }
    }
  });
  return record("entity_slots", {x.s, x.to_keys, x.moved, w.first, w.moved_keys, w.turn, w.slope},
                last, [=](const Tensor& dlast, InputGradients& dx) mutable {
                  with_real(dtype, [&]<class T>(T type) {
                    const Recurrence<T> run = typed(type, h, turned, gate, scale, last);
                    Tensor dh({B, N, d}, dtype),
                        ds = Tensor::zeros({R, d}, dtype), dmoved = Tensor::zeros({R, d}, dtype),
                        dto_keys({R, N}, dtype), dkeys = Tensor::zeros({B, N, d}, dtype),
                        dslope = Tensor::zeros({B, d}, dtype);
                    for (int64_t rank = 0; rank < B; ++rank) {
                      std::copy_n(dlast.read<T>().data() + times->story[rank] * N * d, N * d,
                                  dh.write<T>().data() + rank * N * d);
                    }
                    run.backward(dh.write<T>().data(), ds.write<T>().data(),
                                 dto_keys.write<T>().data(), dmoved.write<T>().data(),
                                 dkeys.write<T>().data(), dslope.write<T>().data());
                    dx.add(0, std::move(ds));
                    dx.add(1, std::move(dto_keys));
                    dx.add(2, std::move(dmoved));
                    if (dx.wants(3)) dx.add(3, sum_of_blocks<T>(dh, {N, d}));
                    if (dx.wants(4)) dx.add(4, sum_of_blocks<T>(dkeys, {N, d}));
                    if (dx.wants(5)) {
                      // All sentences at once.
                      Tensor dturn = Tensor::zeros({d, d}, dtype);
                      kernel::gemm({.transpose_a = true,
                                    .m = d,
                                    .n = d,
                                    .k = blocks * N,
                                    .lda = d,
                                    .ldb = d,
                                    .ldc = d},
                                   run.turned, run.h, dturn.write<T>().data());
                      dx.add(5, std::move(dturn));
                    }
                    if (dx.wants(6)) dx.add(6, sum_of_blocks<T>(dslope, {d}));
                  });
                });
}

}  // namespace fovea
