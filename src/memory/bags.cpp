#include "fovea/memory/bags.h"

#include "fovea/kernel/bags.h"

namespace fovea {

Tensor bags(const Tensor& table, const Tensor& fixed, const Sequences& words, const Tensor& places,
            const Tensor& weights) {
  const int64_t d = table.dim(1), rows = table.dim(0);
  check(weights.rank() == 2 && weights.dim(1) == d && (fixed.empty() || fixed.dim(1) == d),
        "bags: table, fixed rows and weights need one width, got ", table.shape(), " and ",
        weights.shape());
  check(places.elements() == words.rows(), "bags: need a place for each of ", words.rows(),
        " words, got ", places.elements());
  const int64_t all = rows + (fixed.empty() ? 0 : fixed.dim(0));
  for (int32_t id : words.ids.read<int32_t>())
    check(id >= 0 && id < all, "bags: there are ", all, " words, and none is number ", id);
  for (int32_t place : places.read<int32_t>())
    check(place >= 0 && place < weights.dim(0), "bags: there are ", weights.dim(0),
          " places, and none is number ", place);
  const auto typed = [=]<class T>(T) {
    return kernel::Bags<T>{words.count(),
                           d,
                           rows,
                           words.offsets.read<int32_t>().data(),
                           words.ids.read<int32_t>().data(),
                           places.read<int32_t>().data(),
                           table.read<T>().data(),
                           fixed.empty() ? nullptr : fixed.read<T>().data(),
                           weights.read<T>().data()};
  };
  Tensor y({words.count(), d}, table.dtype());
  with_real(y.dtype(), [&]<class T>(T t) { kernel::sum_bags(y.write<T>().data(), typed(t)); });
  return record("bags", {table, weights}, y, [=](const Tensor& dy, InputGradients& dx) {
    with_real(dy.dtype(), [&]<class T>(T t) {
      Tensor fresh[2];
      T* to[2] = {};
      const Tensor* like[2] = {&table, &weights};
      for (int i = 0; i < 2; ++i) {
        if (!dx.wants(i)) continue;
        Tensor* sum = dx.begun(i);
        if (!sum) sum = &(fresh[i] = Tensor::zeros(like[i]->shape(), dy.dtype()));
        to[i] = sum->write<T>().data();
      }
      kernel::sum_bags_grad(to[0], to[1], dy.read<T>().data(), typed(t));
      for (int i = 0; i < 2; ++i) {
        if (!fresh[i].empty()) dx.add(i, std::move(fresh[i]));
      }
    });
  });
}

Tensor place_weights(int64_t J, int64_t d, Dtype dtype) {
  Tensor l({J, d}, Dtype::f64);
  auto to = l.write<double>().begin();
  const auto n = static_cast<double>(J), width = static_cast<double>(d);
  for (int64_t j = 1; j <= J; ++j) {
    for (int64_t k = 1; k <= d; ++k) {
      *to++ = 1 + 4 * (static_cast<double>(k) - (width + 1) / 2) *
                      (static_cast<double>(j) - (n + 1) / 2) / (width * n);
    }
  }
  return l.to(dtype);
}

}  // namespace fovea
