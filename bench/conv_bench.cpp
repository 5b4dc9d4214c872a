// Convolutions on the tape, forward and backward, as a ratio to dnnl_sgemm, and the same by
// oneDNN's own convolution on its own threads, to which kernel/conv.cpp is the alternative:
//   conv_bench [seconds per case] [only names containing this]
#include <oneapi/dnnl/dnnl.hpp>

#include "fovea/app/bench/race.h"
#include "fovea/op/conv.h"

namespace {

using namespace fovea;

struct Problem {
  std::string name;
  int64_t batch, height, width, in, out;
  HeightWidth kernel;
  Conv2dOptions options;

  int64_t size(int64_t extent, int64_t HeightWidth::*side) const {
    return (extent + 2 * options.padding.*side - kernel.*side) / (options.stride.*side) + 1;
  }
  Shape x() const { return {batch, height, width, in}; }
  Shape w() const { return {out, kernel.height, kernel.width, in / options.groups}; }
  Shape y() const {
    return {batch, size(height, &HeightWidth::height), size(width, &HeightWidth::width), out};
  }
  double flops() const { return 2.0 * static_cast<double>(y().elements() / out * w().elements()); }
};

void ours(bench::Race& race, const Problem& p) {
  const Tensor x = parameter(bench::uniform(p.x(), 4)), w = parameter(bench::uniform(p.w(), 5));
  const Tensor b = parameter(bench::uniform({p.out}, 6)), dy = bench::uniform(p.y(), 7);
  race.against_gemm(p.name + ", forward", p.flops(), [&] { conv2d(x, w, b, p.options); });
  race.against_gemm(p.name + ", forward+backward", 3 * p.flops(), [&] {
    Tape tape;
    tape.backward(conv2d(x, w, b, p.options), dy);
  });
}

// Primitives are made once and weights stay in the layout it likes best, which a layer whose
// weights are trained would have to make again at every step.
void onednn(bench::Race& race, const Problem& p) {
  using dnnl::memory;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const auto real = memory::data_type::f32;
  const auto image = [&](const Shape& s) {
    return memory::desc({s[0], s[3], s[1], s[2]}, real, memory::format_tag::nhwc);
  };
  const int64_t groups = p.options.groups;
  const memory::dims sizes = {groups, p.out / groups, p.in / groups, p.kernel.height,
                              p.kernel.width};
  const memory::desc x = image(p.x()), y = image(p.y()), bias({p.out}, real, memory::format_tag::a);
  const memory::desc w(groups > 1 ? sizes : memory::dims(sizes.begin() + 1, sizes.end()), real,
                       memory::format_tag::any);
  const memory::dims stride = {p.options.stride.height, p.options.stride.width};
  const memory::dims pad = {p.options.padding.height, p.options.padding.width};
  const auto direct = dnnl::algorithm::convolution_direct;

  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, x, w, bias, y, stride, pad, pad}, engine);
  const dnnl::convolution_backward_data::primitive_desc to_input(
      {direct, x, w, y, stride, pad, pad}, engine, forward);
  const dnnl::convolution_backward_weights::primitive_desc to_weight(
      {direct, x, w, bias, y, stride, pad, pad}, engine, forward);

  const auto filled = [&](const memory::desc& desc, uint64_t stream_id) {
    memory m(desc, engine);
    const auto count = static_cast<int64_t>(desc.get_size() / sizeof(float));
    std::ranges::copy(bench::uniform({count}, stream_id).read(),
                      static_cast<float*>(m.get_data_handle()));
    return m;
  };
  const memory mx = filled(x, 4), my = filled(y, 5), mb = filled(bias, 6), mdx = filled(x, 7);
  const memory mw = filled(forward.weights_desc(), 8), mw2 = filled(to_input.weights_desc(), 9);
  const memory mdw = filled(to_weight.diff_weights_desc(), 10), mdb = filled(bias, 11);
  const dnnl::convolution_forward run_forward(forward);
  const dnnl::convolution_backward_data run_input(to_input);
  const dnnl::convolution_backward_weights run_weight(to_weight);
  const auto go_forward = [&] {
    run_forward.execute(
        stream,
        {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WEIGHTS, mw}, {DNNL_ARG_BIAS, mb}, {DNNL_ARG_DST, my}});
    stream.wait();
  };
  race.against_gemm("  oneDNN's own, forward", p.flops(), go_forward);
  race.against_gemm("  oneDNN's own, forward+backward", 3 * p.flops(), [&] {
    go_forward();
    run_input.execute(stream,
                      {{DNNL_ARG_DIFF_DST, my}, {DNNL_ARG_WEIGHTS, mw2}, {DNNL_ARG_DIFF_SRC, mdx}});
    run_weight.execute(stream, {{DNNL_ARG_SRC, mx},
                                {DNNL_ARG_DIFF_DST, my},
                                {DNNL_ARG_DIFF_WEIGHTS, mdw},
                                {DNNL_ARG_DIFF_BIAS, mdb}});
    stream.wait();
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Race race(argc, argv);
  const Problem problems[] = {
      {"3x3 of 32 to 32, 32x28x28", 32, 28, 28, 32, 32, 3, {.padding = 1}},
      {"3x3 of 32 to 64, 64x14x14", 64, 14, 14, 32, 64, 3, {.padding = 1}},
      {"3x3 of 64 to 64, 8x28x28", 8, 28, 28, 64, 64, 3, {.padding = 1}},
      {"width 5 of 128 to 128, 16x128", 16, 1, 128, 128, 128, {1, 5}, {.padding = {0, 2}}},
      {"3x3 stride 2 of 64 to 128, 8x28x28", 8, 28, 28, 64, 128, 3, {.stride = 2, .padding = 1}},
      {"3x3 of 256 to 256, 1x14x14", 1, 14, 14, 256, 256, 3, {.padding = 1}},
      {"3x3 of 3 to 64, 8x32x32", 8, 32, 32, 3, 64, 3, {.padding = 1}},
      {"depthwise width 31 of 256, 8x128",
       8,
       1,
       128,
       256,
       256,
       {1, 31},
       {.padding = {0, 15}, .groups = 256}},
  };
  for (const Problem& problem : problems) {
    ours(race, problem);
    onednn(race, problem);
  }
}
