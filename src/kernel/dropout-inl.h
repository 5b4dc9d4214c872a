// Which lanes dropout keeps: naive/dropout.h's hash, a vector at a time. Included once for each
// target.
#if defined(FOVEA_KERNEL_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_DROPOUT_INL_H_
#undef FOVEA_KERNEL_DROPOUT_INL_H_
#else
#define FOVEA_KERNEL_DROPOUT_INL_H_
#endif

#include "fovea/kernel/naive/dropout.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// Walks over the elements of an array from `first` on.
class Dropper {
 public:
  Dropper(double p, uint64_t key, int64_t first)
      : index_(hn::Iota(du_, static_cast<uint32_t>(first))),
        seed_(hn::Set(du_, naive::run_seed(key, static_cast<uint32_t>(first >> 32)))),
        // Unsigned order by a signed comparison: both sides with their top bit turned.
        limit_(hn::BitCast(di_, hn::Xor(hn::Set(du_, naive::threshold(p)), top()))),
        scale_(hn::Set(D(), static_cast<float>(1 / (1 - p)))) {}

  // Which of the next `count` elements are left out. Counting on from vector to vector is what
  // makes it quick: a new Iota goes through memory.
  HWY_INLINE hn::Mask<D> next(int64_t count) {
    U h = hn::Xor(index_, seed_);
    index_ = hn::Add(index_, hn::Set(du_, static_cast<uint32_t>(count)));
    h = hn::Xor(h, hn::ShiftRight<16>(h));
    h = hn::Mul(h, hn::Set(du_, 0x7feb352dU));
    h = hn::Xor(h, hn::ShiftRight<15>(h));
    h = hn::Mul(h, hn::Set(du_, 0x846ca68bU));
    h = hn::Xor(h, hn::ShiftRight<16>(h));
    return hn::RebindMask(D(), hn::Lt(hn::BitCast(di_, hn::Xor(h, top())), limit_));
  }
  // What becomes of x then.
  HWY_INLINE V without(hn::Mask<D> dropped, V x) const {
    return hn::IfThenZeroElse(dropped, hn::Mul(x, scale_));
  }
  HWY_INLINE V operator()(V x, int64_t count) { return without(next(count), x); }

 private:
  using Du = hn::RebindToUnsigned<D>;
  using Di = hn::RebindToSigned<D>;
  using U = hn::Vec<Du>;
  HWY_INLINE U top() const { return hn::Set(du_, 0x80000000U); }

  Du du_;
  Di di_;
  U index_, seed_;
  hn::Vec<Di> limit_;
  V scale_;
};

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_DROPOUT_INL_H_
