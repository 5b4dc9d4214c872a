// Gradients that several tasks of a backward pass add to: who adds where, and in which order the
// sums are put together. Included once for each target.
#if defined(FOVEA_KERNEL_ROWS_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ROWS_SUMS_INL_H_
#undef FOVEA_KERNEL_ROWS_SUMS_INL_H_
#else
#define FOVEA_KERNEL_ROWS_SUMS_INL_H_
#endif

#include "fovea/kernel/rows_align-inl.h"
#include "fovea/kernel/rows_plan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// How the work is cut, by sizes alone. A task takes some of the query blocks of one key head, or of
// all those that a shared row of a bias gradient ties together, so that it alone adds to that row.
// What several tasks add to goes to sums of each one's own first.
struct RowsCut {
  bool every_batch = false, every_head = false;  // a task takes them all
  bool shared_bias_row = false;                  // all queries share one row of the bias gradient
  int64_t tasks, parts;                          // parts: tasks that share a key head

  RowsCut(const RowsPlan& plan, const HeadView<float>& dbias) {
    const HeadInputs<float>& in = plan.in.base;
    if (dbias) {
      shared_bias_row = dbias.row == 0 && in.Tq > 1;
      every_batch = dbias.batch == 0 && in.B > 1 && !shared_bias_row;
      every_head = dbias.head == 0 && in.H > 1 && !shared_bias_row;
    }
    const int64_t alone = (every_batch ? 1 : in.B) * (every_head ? 1 : in.Hk);
    // Eight tasks keep a few threads busy; sums of each one's own cost memory for every part.
    const int64_t room = (int64_t{1} << 23) / (1 + in.B * in.Hk * in.Tk * (in.D + in.Dv));
    const int64_t most = std::clamp<int64_t>(room, 4, 8);
    parts = std::clamp<int64_t>((8 + alone - 1) / alone, 1,
                                std::min(most, std::max<int64_t>(1, plan.blocks)));
    tasks = alone * parts;
  }
};

// Sums that belong to one part of one key head.
struct RowsSums {
  float *dk, *dv;  // dk: [features / lanes, Tk, lanes] for sums over pairs
  int64_t dk_row, dv_row;
  float* dbias;    // [group, Tk], when all queries share a row
  double *dw, *g;  // [features]: sums of g r; [1]: of g
};

struct RowsBackward {
  const RowsPlan& plan;
  HeadView<const float> dout, dweights;
  const RowsGradients& to;
  RowsCut cut;
  float *dk = nullptr, *dv = nullptr, *dbias = nullptr;
  double* dw = nullptr;

  // With one part the gradients themselves take the sums; keys of sums over pairs lie otherwise.
  bool own_dk() const { return cut.parts > 1 || plan.pairwise; }
  bool own_dv() const { return cut.parts > 1; }
  int64_t slots() const { return plan.in.base.B * plan.in.base.Hk * cut.parts; }
  int64_t dk_size() const {
    return plan.in.base.Tk * (plan.pairwise ? plan.features : plan.in.base.D);
  }
  int64_t dv_size() const { return plan.in.base.Tk * plan.in.base.Dv; }
  int64_t dbias_size() const { return plan.in.base.H / plan.in.base.Hk * plan.in.base.Tk; }
  int64_t dw_size() const { return plan.features + 1; }

  int64_t bytes() const {
    return (own_dk() ? Scratch::bytes<float>(slots() * dk_size()) : 0) +
           (own_dv() ? Scratch::bytes<float>(slots() * dv_size()) : 0) +
           (cut.shared_bias_row ? Scratch::bytes<float>(slots() * dbias_size()) : 0) +
           (plan.pairwise ? Scratch::bytes<double>(slots() * dw_size()) : 0);
  }
  void take(Scratch& scratch) {
    if (own_dk()) dk = scratch.take<float>(slots() * dk_size());
    if (own_dv()) dv = scratch.take<float>(slots() * dv_size());
    if (cut.shared_bias_row) dbias = scratch.take<float>(slots() * dbias_size());
    if (plan.pairwise) dw = scratch.take<double>(slots() * dw_size());
  }

  // Cleared sums.
  RowsSums sums(int64_t b, int64_t g, int64_t part) const {
    const HeadInputs<float>& in = plan.in.base;
    const int64_t slot = (b * in.Hk + g) * cut.parts + part;
    RowsSums it{};
    it.dk = own_dk() ? dk + slot * dk_size() : to.base.dk.at(b, g);
    it.dk_row = own_dk() ? in.D : to.base.dk.row;
    it.dv = own_dv() ? dv + slot * dv_size() : to.base.dv.at(b, g);
    it.dv_row = own_dv() ? in.Dv : to.base.dv.row;
    if (plan.pairwise) {
      std::fill_n(it.dk, dk_size(), 0.0f);
    } else {
      for (int64_t j = 0; j < in.Tk; ++j) std::fill_n(it.dk + j * it.dk_row, in.D, 0.0f);
    }
    for (int64_t j = 0; j < in.Tk; ++j) std::fill_n(it.dv + j * it.dv_row, in.Dv, 0.0f);
    if (dbias) {
      it.dbias = dbias + slot * dbias_size();
      std::fill_n(it.dbias, dbias_size(), 0.0f);
    }
    if (dw) {
      it.dw = dw + slot * dw_size();
      it.g = it.dw + plan.features;
      std::fill_n(it.dw, dw_size(), 0.0);
    }
    return it;
  }
};

// Adds up what the parts of each key head have, in their order.
inline void add_up_keys(const RowsBackward& job) {
  const RowsPlan& plan = job.plan;
  const HeadInputs<float>& in = plan.in.base;
  constexpr int64_t some = 64;
  const int64_t pieces = (in.Tk + some - 1) / some, parts = job.cut.parts;
  parallel_for(in.B * in.Hk * pieces, 1, [&](int64_t i, int64_t) {
    const int64_t head = i / pieces, b = head / in.Hk, g = head % in.Hk;
    const int64_t first = i % pieces * some, last = std::min(first + some, in.Tk);
    for (int64_t j = first; j < last; ++j) {
      float* dk = job.to.base.dk.at(b, g) + j * job.to.base.dk.row;
      float* dv = job.to.base.dv.at(b, g) + j * job.to.base.dv.row;
      if (job.own_dk()) std::fill_n(dk, in.D, 0.0f);
      if (job.own_dv()) std::fill_n(dv, in.Dv, 0.0f);
      for (int64_t slot = head * parts; slot < (head + 1) * parts; ++slot) {
        const float* from = job.dk + slot * job.dk_size();
        if (job.own_dk() && !plan.pairwise) map2(Plus{}, dk, dk, from + j * in.D, in.D);
        for (int64_t f = 0; plan.pairwise && f < in.D; f += lanes) {
          map2(Plus{}, dk + f, dk + f, from + f * in.Tk + j * lanes,
               std::min<int64_t>(lanes, in.D - f));
        }
        if (job.own_dv()) map2(Plus{}, dv, dv, job.dv + slot * job.dv_size() + j * in.Dv, in.Dv);
      }
      if (!plan.pairwise) continue;
      map2(Times{}, dk, dk, plan.w, in.D);
      const AdditiveForm form = plan.form(b, g);
      scale_row(dk, in.D, form.c2 * form.sign);
    }
  });
}

inline void add_up_bias(const RowsBackward& job) {
  const HeadInputs<float>& in = job.plan.in.base;
  const int64_t group = in.H / in.Hk, parts = job.cut.parts;
  for (int64_t head = 0; head < in.B * in.H; ++head) {
    const int64_t b = head / in.H, h = head % in.H;
    float* row = job.to.base.dbias.at(b, h);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t slot = (b * in.Hk + h / group) * parts + part;
      map2(Plus{}, row, row, job.dbias + slot * job.dbias_size() + h % group * in.Tk, in.Tk);
    }
  }
}

inline void add_up_w(const RowsBackward& job) {
  const int64_t size = job.dw_size();
  for (int64_t f = 0; f < job.plan.in.base.D; ++f) {
    double sum = 0;
    for (int64_t slot = 0; slot < job.slots(); ++slot) {
      sum += job.dw[slot * size + f] + job.dw[slot * size + size - 1];
    }
    job.to.dw[f] = static_cast<float>(sum);
  }
}

inline void clear_bias(const HeadInputs<float>& in, const HeadView<float>& dbias) {
  parallel_for(in.B * in.H, 1, [&](int64_t head, int64_t) {
    const int64_t b = head / in.H, h = head % in.H;
    // Rows that heads share are cleared by the first of them.
    if ((dbias.batch == 0 && b > 0) || (dbias.head == 0 && h > 0)) return;
    for (int64_t i = 0; i < (dbias.row == 0 ? 1 : in.Tq); ++i) {
      std::fill_n(dbias.at(b, h) + i * dbias.row, in.Tk, 0.0f);
    }
  });
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ROWS_SUMS_INL_H_
