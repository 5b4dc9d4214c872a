#include "fovea/attention/cache.h"

#include <cstring>

#include "fovea/op/index.h"
#include "fovea/op/shape.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

// Writes x [B, m, ...] into `to` [B, room, ...] from row `at` on.
void put(Tensor& to, const Tensor& x, int64_t at) {
  const auto from = x.bytes();
  const auto into = to.writable_bytes();
  const auto B = static_cast<size_t>(x.dim(0));
  const size_t row = into.size() / (B * to.dim(1)), part = from.size() / B;
  for (size_t b = 0; b < B && part > 0; ++b) {
    std::memcpy(&into[(b * to.dim(1) + at) * row], &from[b * part], part);
  }
}

Tensor with_room(const Tensor& x, int64_t length, int64_t room) {
  Shape shape = x.shape();
  shape.set(1, room);
  Tensor y = Tensor::zeros(shape, x.dtype());
  if (length > 0) put(y, slice(x, 1, 0, length), 0);
  return y;
}

bool fits(const Tensor& held, const Tensor& x) {
  return held.dtype() == x.dtype() && held.dim(0) == x.dim(0) && held.dim(2) == x.dim(2) &&
         held.dim(3) == x.dim(3);
}

Tensor first(const Tensor& x, int64_t n) { return x.dim(1) == n ? x : slice(x, 1, 0, n); }

struct FirstKeys : Pattern::Rule {
  Pattern who;
  int64_t n;
  FirstKeys(Pattern who, int64_t n) : who(std::move(who)), n(n) {}

  void narrow(const Extent& e, ResolvedPattern& to) const override {
    check(n <= e.Tk, "first_keys: ", n, " of ", e.Tk, " keys");
    to = who.resolve({e.B, e.H, e.Tq, n});
    if (to.lo.empty()) {
      to.lo.assign(e.Tq, 0);
      to.hi.assign(e.Tq, static_cast<int32_t>(n));
    }
    if (to.mask.empty()) return;
    const auto rows = static_cast<int64_t>(to.mask.size()) / std::max<int64_t>(1, n);
    std::vector<uint8_t> wide(rows * e.Tk);
    for (int64_t r = 0; r < rows; ++r) std::copy_n(&to.mask[r * n], n, &wide[r * e.Tk]);
    to.mask = std::move(wide);
  }
};

}  // namespace

void KeyValueCache::append(const Tensor& k, const Tensor& v) {
  check(k.rank() == 4 && v.rank() == 4 && k.dim(0) == v.dim(0) && k.dim(1) == v.dim(1) &&
            k.dim(2) == v.dim(2),
        "cache: needs keys and values [B, m, heads, D] that agree in all but D, got ", k.shape(),
        " and ", v.shape());
  const int64_t more = k.dim(1), wanted = length_ + more;
  if (keys_.empty()) {
    keys_ = k;
    values_ = v;
  } else {
    check(fits(keys_, k) && fits(values_, v), "cache: holds keys ", keys_.dtype(), keys_.shape(),
          " and values ", values_.dtype(), values_.shape(), "; ", k.dtype(), k.shape(), " and ",
          v.dtype(), v.shape(), " cannot join them");
    if (Tape::current()) {
      keys_ = concat({keys(), k}, 1);
      values_ = concat({values(), v}, 1);
    } else {
      if (wanted > room()) {
        const int64_t more_room = std::max(wanted, 2 * room());
        keys_ = with_room(keys_, length_, more_room);
        values_ = with_room(values_, length_, more_room);
      }
      put(keys_, k, length_);
      put(values_, v, length_);
    }
  }
  length_ = wanted;
}

void KeyValueCache::select(const Tensor& rows) {
  check(!keys_.empty(), "cache: nothing to select from");
  keys_ = embedding(keys_, rows);
  values_ = embedding(values_, rows);
}

Tensor KeyValueCache::keys() const { return first(keys_, length_); }
Tensor KeyValueCache::values() const { return first(values_, length_); }

Pattern first_keys(const Pattern& who, int64_t n) {
  return Pattern(std::make_shared<FirstKeys>(who, n));
}

}  // namespace fovea
