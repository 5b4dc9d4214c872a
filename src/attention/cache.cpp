#include "fovea/attention/cache.h"

#include <cstring>

#include "fovea/base/parallel.h"
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

// Row `at` of entry to[i] of the batch becomes that of entry from[i] in x [B, room, ...]; none is
// read after it was written.
void move_rows(std::byte* x, size_t entry, size_t row, size_t at, std::span<const int32_t> from,
               std::span<const int32_t> to, std::vector<std::byte>& held) {
  held.resize(from.size() * row);
  for (size_t i = 0; i < from.size(); ++i) {
    std::memcpy(&held[i * row], x + from[i] * entry + at * row, row);
  }
  for (size_t i = 0; i < to.size(); ++i) {
    std::memcpy(x + to[i] * entry + at * row, &held[i * row], row);
  }
}

Tensor first(const Tensor& x, int64_t n) { return x.dim(1) == n ? x : slice(x, 1, 0, n); }

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
  for (Tensor& sum : sums_) sum = embedding(sum, rows);
  if (!sums_.empty()) return;
  check(!keys_.empty(), "cache: nothing to select from");
  if (Tape::current() || rows.elements() != keys_.dim(0)) {
    keys_ = embedding(keys_, rows);
    values_ = embedding(values_, rows);
    owners_.clear();
    return;
  }
  const auto from = rows.read<int32_t>();
  const int64_t B = keys_.dim(0);
  for (const int32_t b : from) {
    check(b >= 0 && b < B, "cache: there is no entry ", b, " to select; it holds ", B);
  }
  fill_owners(length_);
  std::byte* keys = keys_.writable_bytes().data();
  std::byte* values = values_.writable_bytes().data();
  const size_t key_entry = keys_.bytes().size() / B, value_entry = values_.bytes().size() / B;
  parallel_for(length_, 4, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> source, target, before;
    std::vector<std::byte> held;
    for (int64_t at = begin; at < end; ++at) {
      const std::span owner(&owners_[at * B], B);
      before.assign(owner.begin(), owner.end());
      source.clear(), target.clear();
      for (int64_t b = 0; b < B; ++b) {
        if (before[from[b]] == before[b]) continue;
        owner[b] = before[from[b]];
        source.push_back(from[b]), target.push_back(static_cast<int32_t>(b));
      }
      move_rows(keys, key_entry, key_entry / room(), at, source, target, held);
      move_rows(values, value_entry, value_entry / room(), at, source, target, held);
    }
  });
}

// Until the first selection every entry has nothing but its own.
void KeyValueCache::fill_owners(int64_t length) {
  const int64_t B = keys_.dim(0);
  for (auto at = static_cast<int64_t>(owners_.size()) / B; at < length; ++at) {
    for (int64_t b = 0; b < B; ++b) owners_.push_back(static_cast<int32_t>(b));
  }
}

Tensor KeyValueCache::keys() const { return first(keys_, length_); }
Tensor KeyValueCache::values() const { return first(values_, length_); }

}  // namespace fovea
