// What the forward pass notes about the weights of its rows while they are in the cache. It only
// reads the scores and weights, so the output keeps its bits. Included once for each target.
#if defined(FOVEA_KERNEL_ATTENTION_SUMMARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ATTENTION_SUMMARY_INL_H_
#undef FOVEA_KERNEL_ATTENTION_SUMMARY_INL_H_
#else
#define FOVEA_KERNEL_ATTENTION_SUMMARY_INL_H_
#endif

#include "fovea/kernel/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// One chunk's rows. Weights are relative to the row's running maximum until the row is finished.
struct SummaryRows {
  const AttentionSummary<float>* to = nullptr;  // null: nothing is noted
  int64_t stride = 0;                           // of best and keys: a row's entries, and one before
  float* best = nullptr;                        // highest first; +inf stands before them
  int32_t* keys = nullptr;
  float* limit = nullptr;    // [rows], what a score must pass to be noted
  float* log_sum = nullptr;  // [rows], sum of weight * log2(weight)
  float* bins = nullptr;     // [rows, map_cols]
  int32_t* edges = nullptr;  // [map_cols + 1], the keys of bin c are [edges[c], edges[c + 1])

  static int64_t stride_of(const AttentionSummary<float>& to) {
    return lanes + round_up(std::max<int64_t>(to.top, 1), lanes);
  }
  static int64_t bytes(const AttentionSummary<float>& to, int64_t rows) {
    return 2 * Scratch::bytes<float>(rows * stride_of(to)) + 2 * Scratch::bytes<float>(rows) +
           Scratch::bytes<float>(rows * to.map_cols) + Scratch::bytes<int32_t>(to.map_cols + 1);
  }
  SummaryRows() = default;
  SummaryRows(const AttentionSummary<float>& summary, int64_t rows, int64_t Tk, Scratch& scratch)
      : to(&summary), stride(stride_of(summary)) {
    best = scratch.take<float>(rows * stride) + lanes;
    keys = scratch.take<int32_t>(rows * stride) + lanes;
    limit = scratch.take<float>(rows);
    log_sum = scratch.take<float>(rows);
    bins = scratch.take<float>(rows * to->map_cols);
    edges = scratch.take<int32_t>(to->map_cols + 1);
    std::fill_n(best - lanes, rows * stride, floor_score);
    std::fill_n(keys - lanes, rows * stride, -1);
    for (int64_t r = 0; r < rows; ++r) best[r * stride - 1] = -minus_infinity;
    std::fill_n(limit, rows, floor_score);
    std::fill_n(log_sum, rows, 0.0f);
    std::fill_n(bins, rows * to->map_cols, 0.0f);
    for (int64_t c = 0; c <= to->map_cols; ++c) {
      edges[c] = static_cast<int32_t>((c * Tk + to->map_cols - 1) / to->map_cols);
    }
  }

  bool wants_top() const { return to->top > 0 && (to->top_keys || to->top_weights); }

  // Scores of the keys from first_key on; `most` is the highest of them.
  void note_scores(int64_t row, const float* s, int64_t n, int64_t first_key, float most) const {
    if (!wants_top() || !(most > limit[row])) return;
    if (limit[row] == floor_score) limit[row] = first_limit(s, n);
    for (int64_t j = 0; j < n; j += at_once) {
      note_some(row, s + j, std::min(at_once, n - j), first_key + j);
    }
    limit[row] = std::max(limit[row], best[row * stride + to->top - 1]);
  }

  // At most 64 scores. Those that pass the limit are found without a branch, for there is no
  // predicting them.
  static constexpr int64_t at_once = 64;
  HWY_INLINE void note_some(int64_t row, const float* s, int64_t n, int64_t first_key) const {
    const D d;
    const V least = hn::Set(d, limit[row]);
    uint64_t passed = 0;
    for (int64_t j = 0; j < n; j += lanes) {
      uint64_t bits = 0;
      hn::StoreMaskBits(d, hn::Gt(hn::Load(d, s + j), least), reinterpret_cast<uint8_t*>(&bits));
      passed |= bits << j;
    }
    for (; passed; passed &= passed - 1) {
      const int64_t at = __builtin_ctzll(passed);
      insert(row, s[at], first_key + at);
    }
  }

  // A bound just below `top` of n scores at least, so that few of a row's first scores are inserted
  // only to be pushed out again: the maxima of the vectors' lanes are scores of different keys.
  float first_limit(const float* s, int64_t n) const {
    if (to->top > lanes) return floor_score;
    const D d;
    V m0 = hn::Load(d, s), m1 = hn::Load(d, s + lanes);
    for (int64_t j = panel; j < n; j += panel) {
      m0 = hn::Max(m0, hn::Load(d, s + j));
      m1 = hn::Max(m1, hn::Load(d, s + j + lanes));
    }
    const float bound = hn::GetLane(hn::MinOfLanes(d, hn::Max(m0, m1)));
    return std::max(floor_score, std::nextafter(bound, minus_infinity));
  }

  // Moves the lower entries down by one and puts the new one in the gap. Keys come in rising order,
  // so among equal scores the first key stays ahead. A score below them all changes nothing.
  HWY_INLINE void insert(int64_t row, float score, int64_t key) const {
    const D d;
    const hn::RebindToSigned<D> di;
    float* mine = best + row * stride;
    int32_t* mine_keys = keys + row * stride;
    const V s = hn::Set(d, score);
    const auto k = hn::Set(di, static_cast<int32_t>(key));
    for (int64_t t = stride - 2 * lanes; t >= 0; t -= lanes) {
      const V here = hn::Load(d, mine + t), before = hn::LoadU(d, mine + t - 1);
      const auto stays = hn::Ge(here, s), gap = hn::Ge(before, s);
      hn::Store(hn::IfThenElse(stays, here, hn::IfThenElse(gap, s, before)), d, mine + t);
      const auto key_before =
          hn::IfThenElse(hn::RebindMask(di, gap), k, hn::LoadU(di, mine_keys + t - 1));
      hn::Store(hn::IfThenElse(hn::RebindMask(di, stays), hn::Load(di, mine_keys + t), key_before),
                di, mine_keys + t);
    }
  }

  // The row's maximum rose by `rise`; its weights so far, `total` in sum, shrink.
  void rescale(int64_t row, float shrink, float rise, float total) const {
    log_sum[row] = shrink * (log_sum[row] - rise * total);
    float* mine = bins + row * to->map_cols;
    if (to->map) map1(TimesScalar{shrink}, mine, mine, to->map_cols);
  }

  // Weights of the keys [first_key, last_key), of which the first is in bin `bin`.
  HWY_INLINE void note_weights(int64_t row, const float* p, int64_t first_key, int64_t last_key,
                               int64_t bin) const {
    if (!to->map) return;
    const D d;
    float* mine = bins + row * to->map_cols;
    for (int64_t j = first_key; j < last_key; ++bin) {
      const int64_t next = std::min<int64_t>(last_key, edges[bin + 1]);
      V t0 = hn::Zero(d), t1 = t0;
      for (; j + panel <= next; j += panel, p += panel) {
        t0 = hn::Add(t0, hn::LoadU(d, p));
        t1 = hn::Add(t1, hn::LoadU(d, p + lanes));
      }
      float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(t0, t1)));
      for (; j < next; ++j, ++p) sum += *p;
      mine[bin] += sum;
    }
  }

  // Writes what is known of a finished row; `cells` is its row of the map, `share` what it counts
  // in that row's mean. Its weights are 2^(score - top) / total, or the sigmoid of its scores.
  void finish(const HeadInputs<float>& in, int64_t row, int64_t at, float top, float total,
              float* cells, float share) const {
    const bool softmax = in.align == Align::softmax;
    const float norm = !softmax ? 1 : total == 0 ? 0 : 1 / total;
    if (wants_top()) {
      HWY_ALIGN float weights[lanes];
      const D d;
      for (int64_t t = 0; t < to->top; ++t) {
        if (t % lanes == 0) {
          const V s = hn::LoadU(d, best + row * stride + t), shift = hn::Set(d, top);
          const V p = hn::Mul(hn::Set(d, norm), exp2_nonpositive(d, hn::Sub(s, shift)));
          hn::Store(softmax ? p : sigmoid2(d, s), d, weights);
        }
        const float weight = weights[t % lanes];
        const bool there = keys[row * stride + t] >= 0 && weight > 0;
        if (to->top_keys) to->top_keys[at * to->top + t] = there ? keys[row * stride + t] : -1;
        if (to->top_weights) to->top_weights[at * to->top + t] = there ? weight : 0;
      }
    }
    if (to->entropy && softmax) {
      to->entropy[at] = total == 0 ? 0 : (std::log2(total) - log_sum[row] / total) * ln_2;
    }
    if (to->map) {
      map2(AddScaled{norm * share}, cells, cells, bins + row * to->map_cols, to->map_cols);
    }
  }
};

// Queries [begin, end) share row `at` of a map with `rows` rows.
struct MapRow {
  int64_t at, begin, end;
  MapRow(int64_t query, int64_t rows, int64_t Tq)
      : at(query * rows / Tq),
        begin((at * Tq + rows - 1) / rows),
        end(((at + 1) * Tq + rows - 1) / rows) {}
};

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ATTENTION_SUMMARY_INL_H_
