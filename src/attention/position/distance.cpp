#include "fovea/attention/position/distance.h"

#include <vector>

#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr int64_t grain = 32 << 10;  // elements of y that outlast handing a chunk over

// Keys [0, first) are as far to the left as distances go, keys [last, Tk) as far to the right; key
// j between them takes element j + shift.
struct Row {
  int64_t first, last, shift;
  Row(int64_t i, int64_t Tk, int64_t offset, int64_t reach)
      : first(std::clamp<int64_t>(i + offset - reach, 0, Tk)),
        last(std::clamp<int64_t>(i + offset + reach + 1, first, Tk)),
        shift(reach - i - offset) {}
};

}  // namespace

Tensor by_distance(const Tensor& r, int64_t Tq, int64_t Tk, int64_t offset) {
  check(r.rank() == 4 && r.dim(3) % 2 == 1 && (r.dim(2) == Tq || r.dim(2) == 1),
        "by_distance: needs [B, H, ", Tq, " or 1, an odd number of distances], got ", r.shape());
  const int64_t planes = r.dim(0) * r.dim(1), rows = r.dim(2), width = r.dim(3), reach = width / 2;
  const int64_t plane_grain = std::max<int64_t>(1, grain / std::max<int64_t>(1, Tq * Tk));
  Tensor y({r.dim(0), r.dim(1), Tq, Tk}, r.dtype());
  with_real(r.dtype(), [&]<class T>(T) {
    const T* from = r.read<T>().data();
    T* to = y.write<T>().data();
    parallel_for(planes, plane_grain, [=](int64_t begin, int64_t end) {
      for (int64_t at = begin * Tq; at < end * Tq; ++at) {
        const int64_t i = at % Tq;
        const T* x = from + (at / Tq * rows + i % rows) * width;
        T* line = to + at * Tk;
        const Row row(i, Tk, offset, reach);
        std::fill(line, line + row.first, x[0]);
        std::copy(x + row.first + row.shift, x + row.last + row.shift, line + row.first);
        std::fill(line + row.last, line + Tk, x[width - 1]);
      }
    });
  });
  return record("by_distance", {r}, y,
                [=, shape = r.shape()](const Tensor& dy, InputGradients& dx) {
                  Tensor dr(shape, dy.dtype());
                  with_real(dy.dtype(), [&]<class T>(T) {
                    const T* from = dy.read<T>().data();
                    T* to = dr.write<T>().data();
                    parallel_for(planes, plane_grain, [=](int64_t begin, int64_t end) {
                      // One distance may gather from thousands of pairs: summed in double.
                      std::vector<double> sums(rows * width);
                      for (int64_t plane = begin; plane < end; ++plane) {
                        std::ranges::fill(sums, 0);
                        for (int64_t i = 0; i < Tq; ++i) {
                          const T* line = from + (plane * Tq + i) * Tk;
                          double* sum = &sums[i % rows * width];
                          const Row row(i, Tk, offset, reach);
                          for (int64_t j = 0; j < row.first; ++j) sum[0] += line[j];
                          for (int64_t j = row.first; j < row.last; ++j)
                            sum[j + row.shift] += line[j];
                          for (int64_t j = row.last; j < Tk; ++j) sum[width - 1] += line[j];
                        }
                        std::ranges::copy(sums, to + plane * rows * width);
                      }
                    });
                  });
                  dx.add(0, dr);
                });
}

}  // namespace fovea
