// Attention over sequences that ranks share, against one process that has them whole.
#include "fovea/attention/ring.h"

#include <gtest/gtest.h>

#include <map>

#include "fovea/attention/align/softmax.h"
#include "fovea/attention/engine.h"
#include "fovea/attention/position/alibi.h"
#include "fovea/attention/score/dot.h"
#include "fovea/model/transformer/heads.h"
#include "fovea/model/transformer/language_model.h"
#include "fovea/op/softmax.h"
#include "fovea/op/tape.h"
#include "support/gradient.h"
#include "support/in_memory_ranks.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

struct RingCase {
  const char* name;
  Pattern who{};
  double dropout = 0;
  bool distances = false;
  int64_t Hk = 4;
};

// This rank's rows of [B, n, ...], as [B, 2 c, ...].
Tensor rows_here(const SequenceRing& ring, const Tensor& whole) {
  const int64_t c = ring.chunk(), B = whole.dim(0), row = whole.elements() / B / whole.dim(1);
  Tensor part({B, 2 * c, whole.dim(2), whole.dim(3)});
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t t = 0; t < 2 * c; ++t) {
      const int rank = ring.ranks().rank();
      const int64_t at = t < c ? ring.first(rank) + t : ring.second(rank) + t - c;
      std::copy_n(whole.read().data() + (b * whole.dim(1) + at) * row, row,
                  part.write().data() + (b * 2 * c + t) * row);
    }
  }
  return part;
}

struct Attended {
  Tensor y, dq, dk, dv, dr;
};

Attended attended(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& r,
                  const Tensor& dy, const RingCase& c) {
  const Parameter pq(q), pk(k), pv(v), pr(r);
  Random random(5);
  Tape tape(random);
  AttentionInputs in{.q = pq.value(), .k = pk.value(), .v = pv.value(), .who = c.who};
  in.dropout = c.dropout;
  if (c.distances) in.distances = pr;
  const Tensor y = attend(in, scaled_score(), softmax_alignment()).context;
  const Gradients g = tape.backward(y, dy);
  return {y, g[pq], g[pk], g[pv], g.or_zeros(pr)};
}

struct RingSizes {
  int64_t B, n, H, D, Dv;
};

void expect_what_one_process_computes(const RingSizes& z, const std::vector<RingCase>& cases,
                                      std::initializer_list<int> numbers_of_ranks) {
  for (const RingCase& c : cases) {
    const auto input = [&](const Shape& s, uint64_t seed) {
      return random_tensor(s, seed, -1, 1, Dtype::f32);
    };
    const Tensor q = input({z.B, z.n, z.H, z.D}, 1), k = input({z.B, z.n, c.Hk, z.D}, 2),
                 v = input({z.B, z.n, c.Hk, z.Dv}, 3), dy = input({z.B, z.n, z.H, z.Dv}, 4),
                 r = input({1, z.H, 1, 2 * z.n - 1}, 5);
    const Attended whole = attended(q, k, v, r, dy, c);
    for (int ranks : numbers_of_ranks) {
      SCOPED_TRACE(::testing::Message() << c.name << " of " << z.n << " on " << ranks);
      std::vector<Tensor> dr(static_cast<size_t>(ranks));
      on_ranks(ranks, [&](Communicator& mine) {
        SequenceRing ring(mine, Random(5));
        const std::vector<int64_t> all(static_cast<size_t>(z.B), z.n);
        ring.share(all);
        ASSERT_EQ(ring.whole(), z.n);
        const Attended part = attended(rows_here(ring, q), rows_here(ring, k), rows_here(ring, v),
                                       r, rows_here(ring, dy), c);
        expect_close(part.y, rows_here(ring, whole.y));
        expect_close(part.dq, rows_here(ring, whole.dq));
        expect_close(part.dk, rows_here(ring, whole.dk));
        expect_close(part.dv, rows_here(ring, whole.dv));
        dr[static_cast<size_t>(mine.rank())] = part.dr;
      });
      Tensor sum = dr[0];
      for (size_t i = 1; i < dr.size(); ++i) sum = sum + dr[i];
      expect_close(sum, whole.dr);
    }
  }
}

TEST(Ring, IsWhatOneProcessComputes) {
  expect_what_one_process_computes({.B = 2, .n = 48, .H = 4, .D = 8, .Dv = 12},
                                   {{"full"},
                                    {"causal", causal()},
                                    {"window", causal() & window(11, 0)},
                                    {"lengths", lengths(Tensor::ids({2}, {48, 19}))},
                                    {"dropout", {}, 0.3},
                                    {"causal dropout", causal(), 0.3},
                                    {"grouped", causal(), 0, false, 2},
                                    {"alibi", causal(), 0, true},
                                    {"distances, all heads at once", {}, 0.2, true, 1}},
                                   {1, 2, 3, 4});
}

TEST(Ring, IsWhatOneProcessComputesAtLength) {
  const std::vector<RingCase> cases{{"full", {}, 0, false, 1},
                                    {"causal", causal(), 0, false, 1},
                                    {"dropout", {}, 0.1, false, 1},
                                    {"causal dropout", causal(), 0.1, false, 1}};
  for (const int64_t n : {4096, 16384}) {
    expect_what_one_process_computes({.B = 1, .n = n, .H = 1, .D = 16, .Dv = 16}, cases, {2, 4});
  }
}

TEST(Ring, ACausalPatternGivesAllRanksAsMuchToDo) {
  on_ranks(4, [](Communicator& ranks) {
    SequenceRing ring(ranks, Random(1));
    const std::vector<int64_t> one{64};
    ring.share(one);
    int64_t pairs = 0;
    for (const int64_t from : {ring.first(ranks.rank()), ring.second(ranks.rank())}) {
      for (int64_t i = from; i < from + ring.chunk(); ++i) pairs += i + 1;
    }
    EXPECT_EQ(pairs, 64 * 65 / 2 / 4);
  });
}

TEST(Ring, WhatItCannotDoItSays) {
  InMemoryRanks alone(1);
  SequenceRing ring(alone.at(0), Random(1));
  const Tensor x = random_tensor({1, 4, 1, 4}, 1, -1, 1, Dtype::f32);
  const AttentionInputs in{.q = x, .k = x, .v = x};
  EXPECT_NE(error_of([&] {
              attend(in, scaled_score(), softmax_alignment());
            }).find("cannot share its sequences"),
            std::string::npos);
  const std::vector<int64_t> four{4};
  ring.share(four);
  Alignment other = softmax_alignment();
  other.rows->align = kernel::RowAlign::sigmoid;
  other.name = "sigmoid";
  EXPECT_NE(error_of([&] { attend(in, scaled_score(), other); }).find("must be softmax"),
            std::string::npos);
  AttentionInputs masked = in;
  masked.who = strided(2);
  EXPECT_NE(error_of([&] {
              attend(masked, scaled_score(), softmax_alignment());
            }).find("must be a range"),
            std::string::npos);
}

// The gradient of every parameter, from sequences that are whole or shared; losses are sums.
using ByName = std::map<std::string, Tensor>;

template <class Model, class LossOf>
ByName gradients_of(const TransformerOptions& options, const ModelSizes& sizes,
                    const LossOf& loss_of) {
  Parameters table(3);
  const Model model(Scope(table), sizes, options);
  Tape tape;
  const Gradients g = tape.backward(loss_of(model));
  ByName all;
  for (const Parameter& p : table.entries()) all[p.name()] = g.or_zeros(p);
  return all;
}

template <class Model, class WholeLoss, class PartLoss>
void expect_shared_is_whole(const TransformerOptions& o, const ModelSizes& sizes,
                            const WholeLoss& whole_loss, const PartLoss& part_loss) {
  const ByName whole = gradients_of<Model>(o, sizes, whole_loss);
  for (int ranks : {2, 3}) {
    std::vector<ByName> parts(static_cast<size_t>(ranks));
    on_ranks(ranks, [&](Communicator& mine) {
      SequenceRing ring(mine, Random(1));
      parts[static_cast<size_t>(mine.rank())] =
          gradients_of<Model>(o, sizes, [&](const Model& model) { return part_loss(model, ring); });
    });
    for (const auto& [name, expected] : whole) {
      Tensor sum = parts[0][name];
      for (size_t r = 1; r < parts.size(); ++r) sum = sum + parts[r][name];
      // A floor of 1: that of a key bias is nothing but rounding, as softmax does not see it.
      EXPECT_LE(relative_difference(sum, expected, 1), 1e-5) << name << ", " << o.position;
    }
  }
}

using Lists = std::vector<std::vector<int32_t>>;

std::vector<int64_t> lengths_of(const Lists& lists) {
  std::vector<int64_t> lengths;
  for (const auto& list : lists) lengths.push_back(static_cast<int64_t>(list.size()));
  return lengths;
}

Lists texts(std::initializer_list<int64_t> lengths) {
  Lists lists;
  for (const int64_t n : lengths) {
    const Tensor ids = random_ids({n}, static_cast<uint64_t>(n), 11);
    lists.emplace_back(ids.read<int32_t>().begin(), ids.read<int32_t>().end());
  }
  return lists;
}

TransformerOptions small(const std::string& position) {
  TransformerOptions o;
  o.layers = 2, o.width = 16, o.heads = 2, o.hidden = 24;
  o.dropout = o.attention_dropout = 0;
  o.position = position;
  o.longest = 29;
  return o;
}

TEST(Ring, ALanguageModelLearnsTheSameFromSharedText) {
  const Lists text = texts({29, 29, 7});
  const auto wanted_of = [](const Lists& lists) {
    std::vector<int32_t> wanted;
    for (const auto& list : lists) {
      for (const int32_t id : list) wanted.push_back((id * 7 + 3) % 11);
    }
    return Tensor::of({static_cast<int64_t>(wanted.size())}, wanted);
  };
  const auto loss_of = [&](const TransformerLanguageModel& model, const Lists& lists) {
    return sum(cross_entropy_each(model.scores(sequences_of(lists)), wanted_of(lists)));
  };
  for (const char* position : {"sinusoidal", "learned", "rotary", "alibi", "t5", "none"}) {
    TransformerOptions o = small(position);
    o.recompute = position == std::string("rotary");  // runs the ring again on the way back
    expect_shared_is_whole<TransformerLanguageModel>(
        o, {.vocabulary = 11, .longest = 29},
        [&](const TransformerLanguageModel& model) { return loss_of(model, text); },
        [&](const TransformerLanguageModel& model, SequenceRing& ring) {
          ring.share(lengths_of(text));
          Lists parts;
          for (const auto& list : text) parts.push_back(ring.part_of(list));
          return loss_of(model, parts);
        });
  }
}

TEST(Ring, AClassifierLearnsTheSameFromSharedTexts) {
  const Lists text = texts({23, 4, 12, 1});
  const Tensor labels = Tensor::ids({4}, {0, 2, 1, 2});
  const auto loss_of = [&](const TransformerClassifier& model, const Lists& lists) {
    return sum(cross_entropy_each(model({.text = sequences_of(lists)}).scores, labels));
  };
  expect_shared_is_whole<TransformerClassifier>(
      small("sinusoidal"), {.vocabulary = 11, .labels = 3, .longest = 29},
      [&](const TransformerClassifier& model) { return loss_of(model, text); },
      [&](const TransformerClassifier& model, SequenceRing& ring) {
        ring.share(lengths_of(text));
        Lists parts;
        for (const auto& list : text) parts.push_back(ring.part_of(list));
        // All ranks know all scores; the first one's loss counts.
        return loss_of(model, parts) * (ring.ranks().rank() == 0 ? 1.0 : 0.0);
      });
}

}  // namespace
}  // namespace fovea::test
