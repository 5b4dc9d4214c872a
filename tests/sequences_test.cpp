#include "fovea/nn/sequences.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/model/transformer/block.h"

namespace fovea::test {
namespace {

std::vector<int32_t> ids_of(const Tensor& x) {
  return {x.read<int32_t>().begin(), x.read<int32_t>().end()};
}
using Ids = std::vector<int32_t>;

TEST(Sequences, KnowTheirRows) {
  const Sequences s = sequences_of(std::vector<Ids>{{7, 8}, {}, {9, 9, 5}});
  EXPECT_EQ(s.count(), 3);
  EXPECT_EQ(s.rows(), 5);
  EXPECT_EQ(s.longest, 3);
  EXPECT_EQ(ids_of(s.offsets), (Ids{0, 2, 2, 5}));
  EXPECT_EQ(ids_of(s.lengths()), (Ids{2, 0, 3}));
  EXPECT_EQ(ids_of(s.owners()), (Ids{0, 0, 2, 2, 2}));
  EXPECT_EQ(ids_of(s.places()), (Ids{0, 1, 0, 1, 2}));
}

TEST(Sequences, RaggedRowsAreCheckedAndPadded) {
  const Tensor x = Tensor::of({3, 2}, {1, 2, 3, 4, 5, 6});
  const RaggedRows rows = RaggedRows::with_lengths(x, Tensor::ids({2}, {1, 2}));
  const Tensor padded = rows.padded();
  EXPECT_EQ(padded.shape(), (Shape{2, 2, 2}));
  EXPECT_TRUE(std::ranges::equal(padded.read(), std::vector<float>{1, 2, 0, 0, 3, 4, 5, 6}));

  EXPECT_THROW(RaggedRows::with_lengths(x, Tensor::ids({2}, {1, 3})), Error) << "too many rows";
  EXPECT_THROW(RaggedRows::with_lengths(x, Tensor::ids({2}, {4, -1})), Error);
  EXPECT_THROW(RaggedRows::with_lengths(x, Tensor::of({2}, {1, 2})), Error) << "not int32";
  EXPECT_THROW(RaggedRows(Tensor(), Packing(Tensor::ids({2}, {0, 3}))), Error);
  EXPECT_THROW(RaggedRows(x, Packing()), Error);
  EXPECT_THROW(Packing(Tensor::ids({3}, {0, 2, 1})), Error) << "falls";
  EXPECT_THROW(Packing(Tensor::ids({2}, {1, 2})), Error) << "does not begin at 0";
  EXPECT_THROW(Packing(Tensor::ids({0}, {})), Error);
  EXPECT_THROW(Packing{Tensor()}, Error);
}

// Lengths 1 and 3 have as many rows as two of length 2: nothing else would tell.
TEST(Sequences, ALayoutWithAWrongLongestIsRefused) {
  Sequences s = sequences_of(std::vector<Ids>{{1}, {2, 3, 4}});
  EXPECT_NO_THROW(RowLayout{s});
  for (const int64_t wrong : {0, 2, 4, -1}) {
    s.longest = wrong;
    EXPECT_THROW(RowLayout{s}, Error) << wrong;
  }
}

TEST(Sequences, TwoLevels) {
  const std::vector<std::vector<Ids>> documents{{{1, 2}, {3}}, {}, {{}, {4, 5, 6}, {7}}};
  const NestedSequences all = nested_sequences_of(documents);
  EXPECT_EQ(all.count(), 3);
  EXPECT_EQ(all.inner.count(), 5);
  EXPECT_EQ(ids_of(all.inner.ids), (Ids{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(ids_of(all.inner.lengths()), (Ids{2, 1, 0, 3, 1}));
  EXPECT_EQ(all.inner.longest, 3);
  EXPECT_EQ(ids_of(all.outer.lengths()), (Ids{2, 0, 3}));
  EXPECT_EQ(all.outer.longest, 3);

  const RaggedRows rows = all.outer_rows(Tensor::of({5, 1}, {1, 2, 3, 4, 5}));
  EXPECT_TRUE(
      std::ranges::equal(rows.padded().read(), std::vector<float>{1, 2, 0, 0, 0, 0, 3, 4, 5}));
  EXPECT_THROW(all.outer_rows(Tensor::of({2, 1}, {1, 2})), Error);

  const NestedSequences none = nested_sequences_of(std::vector<std::vector<Ids>>{{}, {}});
  EXPECT_EQ(none.inner.count(), 0);
  EXPECT_EQ(none.outer_rows(Tensor({0, 4})).padded().shape(), (Shape{2, 0, 4}));
}

}  // namespace
}  // namespace fovea::test
