// How a call of attention_rows.h is cut into blocks of queries, which keys a block meets, and what
// is prepared once for all of them. Included once for each target.
#if defined(FOVEA_KERNEL_ROWS_PLAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ROWS_PLAN_INL_H_
#undef FOVEA_KERNEL_ROWS_PLAN_INL_H_
#else
#define FOVEA_KERNEL_ROWS_PLAN_INL_H_
#endif

#include "fovea/base/parallel.h"
#include "fovea/kernel/rows_additive-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

constexpr int64_t rows_group = 4;  // blocks are padded to whole groups of so many queries

// Queries [first, first + rows) of one head, and the keys [lo, lo + n) that some of them may
// attend.
struct RowsBlock {
  int64_t b, h, first, rows;
  int64_t lo = 0, n = 0, padded = 0;  // padded: n up to whole vectors

  RowsBlock(const HeadInputs<float>& in, int64_t batch, int64_t head, int64_t query, int64_t count)
      : b(batch), h(head), first(query), rows(count) {
    Reach reach;
    if (!in.ranges.lo && !in.ranges.hi) {
      reach.add(0, in.Tk);
    } else {
      for (int64_t r = 0; r < rows; ++r) reach.add(in.lo(b, h, first + r), in.hi(b, h, first + r));
    }
    if (reach.empty()) return;
    lo = reach.lo;
    n = reach.hi - reach.lo;
    padded = round_up(n, lanes);
  }
};

// An odd number of cache lines: rows that lie so far apart fall in different sets.
constexpr int64_t odd_lines(int64_t n) { return round_up(n, 16) + (round_up(n, 16) % 32 ? 0 : 16); }

// One call: how it is cut into blocks, and what is prepared once for all of them.
struct RowsPlan {
  const RowsInputs& in;
  int64_t block, blocks;  // queries a block, blocks a head
  int64_t ld;             // of rows of scores
  // Scores that are sums over pairs: their weights, and keys prepared for those sums and for their
  // gradients.
  bool pairwise;
  const float* w = nullptr;  // [D]
  float w_sum = 0;
  int64_t features = 0;  // D up to whole vectors
  int64_t key_ld = 0;
  float* across = nullptr;  // [B, Hk, D, key_ld]
  float* panels = nullptr;  // [B, Hk, features / lanes, Tk, lanes]
  uint8_t* wide = nullptr;  // [B, Hk]

  explicit RowsPlan(const RowsInputs& inputs)
      : in(inputs),
        block(in.base.Tk > 8192 ? 16 : 32),
        blocks((in.base.Tq + block - 1) / block),
        pairwise(in.w || in.map == ScoreMap::distance) {
    int64_t longest = 0;
    if (!in.base.ranges.lo && !in.base.ranges.hi) {
      longest = in.base.Tk;
    } else {
      for (int64_t i = 0; i < in.base.B * in.base.H * blocks; ++i) {
        longest = std::max(longest, at(i).n);
      }
    }
    ld = odd_lines(longest);
    if (!pairwise) return;
    features = round_up(in.base.D, lanes);
    key_ld = odd_lines(in.base.Tk + lanes);
    for (int64_t f = 0; in.w && f < in.base.D; ++f) w_sum += in.w[f];
  }

  // Block i of B * H * blocks.
  RowsBlock at(int64_t i) const {
    const int64_t head = i / blocks, first = i % blocks * block;
    return RowsBlock(in.base, head / in.base.H, head % in.base.H, first,
                     std::min(block, in.base.Tq - first));
  }
  AdditiveForm form(int64_t b, int64_t key_head) const {
    return AdditiveForm(in.map, wide[b * in.base.Hk + key_head]);
  }
  // Rough number of operations on a score, forward.
  int64_t cost() const { return in.base.D * (pairwise ? 8 : 1) + in.base.Dv + 32; }

  int64_t key_bytes(bool with_panels) const {
    if (!pairwise) return 0;
    const int64_t heads = in.base.B * in.base.Hk;
    return Scratch::bytes<float>(heads * in.base.D * key_ld) + Scratch::bytes<uint8_t>(heads) +
           Scratch::bytes<float>(in.base.D) +
           (with_panels ? Scratch::bytes<float>(heads * features * in.base.Tk) : 0);
  }
  void prepare_keys(Scratch& scratch, bool with_panels);

 private:
  bool is_wide(int64_t b, int64_t key_head) const;
  void prepare_some(int64_t b, int64_t key_head, int64_t first, int64_t count, float* room) const;
};

inline bool leaves_range(const HeadView<const float>& x, int64_t b, int64_t h, int64_t rows,
                         int64_t cols, float limit) {
  for (int64_t t = 0; t < rows; ++t) {
    if (leaves_range(x.at(b, h) + t * x.row, cols, limit)) return true;
  }
  return false;
}

// Whether exponentials of some query or key of the head could leave the range of a float.
inline bool RowsPlan::is_wide(int64_t b, int64_t key_head) const {
  const float exponent = AdditiveForm(in.map, false).exponent;
  if (exponent == 0) return false;
  const HeadInputs<float>& base = in.base;
  const float limit = 40 / std::abs(exponent);
  if (leaves_range(base.k, b, key_head, base.Tk, base.D, limit)) return true;
  const int64_t group = base.H / base.Hk;
  for (int64_t h = key_head * group; h < (key_head + 1) * group; ++h) {
    if (leaves_range(base.q, b, h, base.Tq, base.D, limit)) return true;
  }
  return false;
}

// Keys [first, first + count); room: [count, features].
inline void RowsPlan::prepare_some(int64_t b, int64_t key_head, int64_t first, int64_t count,
                                   float* room) const {
  const HeadInputs<float>& base = in.base;
  const AdditiveForm how = form(b, key_head);
  const int64_t head = b * base.Hk + key_head;
  for (int64_t j = 0; j < count; ++j) {
    float* row = room + j * features;
    how.prepare(row, base.k.at(b, key_head) + (first + j) * base.k.row, base.D, features, how.sign);
    for (int64_t f = 0; panels && f < features; f += lanes) {
      std::copy_n(row + f, lanes, panels + (head * features + f) * base.Tk + (first + j) * lanes);
    }
  }
  float* to = across + head * base.D * key_ld;
  transpose(to + first, key_ld, room, features, count, base.D, 1);
  if (first + count < base.Tk) return;
  for (int64_t f = 0; f < base.D; ++f) {
    std::fill(to + f * key_ld + base.Tk, to + (f + 1) * key_ld, 1.0f);
  }
}

inline void RowsPlan::prepare_keys(Scratch& scratch, bool with_panels) {
  if (!pairwise) return;
  const HeadInputs<float>& base = in.base;
  const int64_t heads = base.B * base.Hk;
  across = scratch.take<float>(heads * base.D * key_ld);
  wide = scratch.take<uint8_t>(heads);
  float* ones = scratch.take<float>(base.D);
  if (with_panels) panels = scratch.take<float>(heads * features * base.Tk);
  std::fill_n(ones, base.D, 1.0f);
  w = in.w ? in.w : ones;
  const int64_t size = (base.H / base.Hk * base.Tq + base.Tk) * base.D;
  parallel_for(heads, 1 + (1 << 18) / (1 + size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) wide[i] = is_wide(i / base.Hk, i % base.Hk);
  });
  constexpr int64_t some = 16;
  const int64_t pieces = (base.Tk + some - 1) / some;
  const int64_t grain = 1 + (1 << 14) / (1 + some * base.D);
  parallel_for(heads * pieces, grain, [&](int64_t begin, int64_t end) {
    Scratch room(Scratch::bytes<float>(some * features));
    float* rows = room.take<float>(some * features);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / pieces, first = i % pieces * some;
      prepare_some(head / base.Hk, head % base.Hk, first, std::min(some, base.Tk - first), rows);
    }
  });
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ROWS_PLAN_INL_H_
