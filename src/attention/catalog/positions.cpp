#include "fovea/attention/catalog/entries.h"
#include "fovea/attention/position/alibi.h"
#include "fovea/attention/position/learned.h"
#include "fovea/attention/position/memory.h"
#include "fovea/attention/position/rotary.h"
#include "fovea/attention/position/shaw.h"
#include "fovea/attention/position/sinusoidal.h"
#include "fovea/attention/position/t5.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

using Options = AttentionOptions;

// A table [T, d] added to queries and keys [B, T, H, d], for positions that models add to their
// inputs.
Tensor with_rows(const Tensor& x, const Tensor& table) {
  return x + reshape(table, {1, table.dim(0), 1, table.dim(1)});
}

// Sentences of embedded words, each to one vector: m = sum_j l_j o x_j.
FeatureOutput sentences(std::span<const Features> in) {
  check(in.size() == 1, "memory position: reads one input, got ", in.size());
  const Tensor& x = in[0].rows;  // [B, J, d]
  const int64_t d = x.dim(2);
  Tensor l = Tensor::zeros(x.shape(), Dtype::f64);
  for (int64_t b = 0; b < x.dim(0); ++b) {
    const Tensor one = memory_position(in[0].lengths.read<int32_t>()[b], d, Dtype::f64);
    std::ranges::copy(one.read<double>(), l.write<double>().begin() + b * x.dim(1) * d);
  }
  return {{sum(x * l.to(x.dtype()), 1)}};
}

}  // namespace

std::vector<Entry> position_entries() {
  constexpr auto kind = Entry::Kind::position;
  return {
      {.id = "O1",
       .name = "sinusoidal",
       .kind = kind,
       .title = "Sinusoidal",
       .paper = "Vaswani et al. 2017",
       .equation = "x_p + (sin(p / 10000^(2i/d)), cos(p / 10000^(2i/d)))",
       .laws = place_laws,
       .positions =
           [](Scope, const Options&) {
             return Positions{.turn = [](const Tensor& x, int64_t offset) {
               return with_rows(x, sinusoidal(x.dim(1), x.dim(3), offset, x.dtype()));
             }};
           }},
      {.id = "O2",
       .name = "learned",
       .kind = kind,
       .title = "Learned",
       .paper = "Gehring et al. 2017",
       .equation = "x_p + W_p",
       .options = {"longest_keys"},
       .laws = place_laws,
       .positions =
           [](Scope s, const Options& o) {
             const LearnedPosition table(s, o.longest_keys, o.d_k);
             return Positions{.turn = [table](const Tensor& x, int64_t offset) {
               return with_rows(x, table(x.dim(1), offset));
             }};
           }},
      {.id = "O3",
       .name = "shaw",
       .kind = kind,
       .title = "Relative, a vector for each distance",
       .paper = "Shaw, Uszkoreit, Vaswani 2018",
       .equation = "e_ij + q_i . a_(j - i), distances clipped",
       .laws = place_laws,
       .positions = [](Scope s, const Options& o) { return shaw_positions()(s, o.heads, o.d_k); }},
      {.id = "O3",
       .name = "t5",
       .kind = kind,
       .title = "Relative, a number for each bucket of distances",
       .paper = "Raffel et al. 2020",
       .equation = "e_ij + b_bucket(j - i)",
       .laws = place_laws,
       .positions = [](Scope s, const Options& o) { return t5_positions()(s, o.heads, o.d_k); }},
      {.id = "O4",
       .name = "rotary",
       .kind = kind,
       .title = "Rotary",
       .paper = "Su et al. 2021",
       .equation = "pairs of features turned by p 10000^(-2i/d)",
       .laws = place_laws,
       .positions = [](Scope s,
                       const Options& o) { return rotary_positions()(s, o.heads, o.d_k); }},
      {.id = "O5",
       .name = "alibi",
       .kind = kind,
       .title = "ALiBi",
       .paper = "Press, Smith, Lewis 2022",
       .equation = "e_ij - m_h |i - j|, m_h = 2^(-8 h / H)",
       .laws = place_laws,
       .positions = [](Scope s, const Options& o) { return alibi_positions()(s, o.heads, o.d_k); }},
      {.id = "O6",
       .name = "memory",
       .kind = kind,
       .title = "Position encoding of memory networks",
       .paper = "Sukhbaatar, Szlam, Weston, Fergus 2015",
       .equation = "l_kj = (1 - j/J) - (k/d) (1 - 2j/J), a weight for feature k of word j",
       .features = [](Scope, const Options&) { return FeatureMechanism(sentences); }},
  };
}

}  // namespace fovea
