// First values of parameters. Each is a function of the shape and of a random stream that depends
// on the seed and the parameter's path alone, so adding a layer does not change the others.
#pragma once

#include <functional>

#include "fovea/base/random.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

using Init = std::function<Tensor(const Shape&, Random)>;  // gives float64

namespace init {

Init constant(double value);                     // all alike
inline Init zeros() { return constant(0); }      // for biases and shifts
inline Init ones() { return constant(1); }       // for scales
Init normal(double deviation, double mean = 0);  // Gaussian, with that standard deviation
// In [-limit, limit).
Init uniform(double limit);
// Glorot and Bengio 2010. The first axis counts as output, the last as input, those between as the
// receptive field of a convolution: limit = gain sqrt(6 / (in + out)).
Init xavier_uniform(double gain = 1);
// The same as a Gaussian: deviation = gain sqrt(2 / (in + out)).
Init xavier_normal(double gain = 1);
// Saxe, McClelland, Ganguli 2013: the rows (or columns, whichever are fewer) are orthonormal, times
// gain. `blocks` stacks that many square-ish matrices along the first axis, one for each gate.
Init orthogonal(double gain = 1, int64_t blocks = 1);

}  // namespace init
}  // namespace fovea
