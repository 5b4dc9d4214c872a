// What heads do over many examples, and maps as arrays.
#include "fovea/task/survey.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "fovea/attention/engine.h"
#include "fovea/attention/recorder.h"
#include "fovea/base/error.h"
#include "fovea/report/arrays.h"
#include "fovea/task/maps.h"
#include "fovea/tensor/safetensors.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

TEST(Survey, TellsWhereAHeadLooks) {
  // Three tokens; each looks at the one before it, the first at itself.
  const AttentionMap before{
      "self", {"a", "b", "c"}, {"a", "b", "c"}, {1, 0, 0, 1, 0, 0, 0, 1, 0}, {}};
  // One query over four keys, equally.
  const AttentionMap even{"pool", {"q"}, {"[CLS]", "b", "c", "d"}, {.25f, .25f, .25f, .25f}, {}};
  Survey survey;
  survey.add({"", {before, even}});
  survey.add({"", {before, even}});
  const auto heads = survey.heads();
  ASSERT_EQ(heads.size(), 2u);
  EXPECT_EQ(heads[0].examples, 2);
  EXPECT_EQ(heads[0].queries, 6);
  EXPECT_NEAR(heads[0].entropy, 0, 1e-6);
  EXPECT_NEAR(*heads[0].before, 2.0 / 3, 1e-6);
  EXPECT_NEAR(*heads[0].same, 1.0 / 3, 1e-6);
  EXPECT_NEAR(*heads[0].after, 0, 1e-6);
  EXPECT_NEAR(*heads[0].distance, 2.0 / 3, 1e-6);
  EXPECT_NEAR(heads[0].first, 2.0 / 3, 1e-6);
  EXPECT_NEAR(heads[1].entropy, std::log(4.0), 1e-6);
  EXPECT_NEAR(heads[1].keys, 4, 1e-5);
  EXPECT_NEAR(heads[1].special, 0.25, 1e-6);
  EXPECT_FALSE(heads[1].distance.has_value());
  EXPECT_FALSE(heads[1].agreement.has_value());
}

TEST(Survey, MeasuresAgreementWithAnAlignment) {
  const AttentionMap cross{
      "cross", {"x", "y"}, {"a", "b", "c"}, {.7f, .2f, .1f, .1f, .3f, .6f}, {}};
  const WordLinks links = parse_links("0-0 1-1", "here");
  Survey survey;
  survey.add({"", {cross}}, &links);
  const HeadSurvey head = survey.heads()[0];
  EXPECT_NEAR(*head.agreement, (0.7 + 0.3) / 2, 1e-6);
  EXPECT_NEAR(*head.heaviest_agrees, 0.5, 1e-6);
  for (const char* bad : {"0", "0-", "-1-2", "0-1x", "a-b", "99999999999999999999-1"}) {
    EXPECT_THROW(parse_links(bad, "here"), Error) << bad;
  }
}

// A long text's summary says about a head what its exact weights say.
TEST(Survey, OfASummaryIsThatOfTheExactWeights) {
  const int64_t T = 300, D = 8;
  const Tensor q = random_tensor({1, T, 2, D}, 1, -2, 2, Dtype::f32),
               k = random_tensor({1, T, 2, D}, 2, -2, 2, Dtype::f32);
  const std::vector<std::string> words(T, "w");
  const auto surveyed = [&](Capture capture) {
    Recorder recorder(capture);
    AttentionInputs in;
    in.q = q, in.k = k, in.v = k;
    in.name = "self";
    attend(in);
    Survey survey;
    survey.add({"", maps_of(recorder, 0, [&](const std::string&) {
                  return MapLabels{words, words};
                })});
    return survey.heads();
  };
  const auto exact = surveyed(capture_of(T));
  const auto summary = surveyed({.what = Capture::What::summary, .top = 32});
  EXPECT_EQ(capture_of(2001).what, Capture::What::summary);
  ASSERT_EQ(exact.size(), 2u);
  ASSERT_EQ(summary.size(), 2u);
  for (size_t h = 0; h < 2; ++h) {
    EXPECT_EQ(summary[h].name, exact[h].name);
    EXPECT_EQ(summary[h].queries, T);
    EXPECT_NEAR(summary[h].entropy, exact[h].entropy, 1e-3);
    EXPECT_NEAR(*summary[h].same, *exact[h].same, 2e-3);
    EXPECT_NEAR(*summary[h].distance, *exact[h].distance, 0.15 * T);
  }
}

TEST(Arrays, AreWhatNumPyReads) {
  const Drawing drawing{"", {{"a/b head 1", {"é", "yy"}, {"k"}, {0.5f, 0.25f}, {}}}};
  const std::string path = testing::TempDir() + "maps.npz";
  save_npz(path, drawing);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(bytes.starts_with("PK\x03\x04"));
  const size_t header = bytes.find("\x93NUMPY");
  ASSERT_NE(header, std::string::npos);
  EXPECT_EQ(bytes.find("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }"), header + 10);
  const auto length = static_cast<size_t>(static_cast<unsigned char>(bytes[header + 8])) +
                      256 * static_cast<unsigned char>(bytes[header + 9]);
  EXPECT_EQ((10 + length) % 64, 0u);
  float values[2];
  std::memcpy(values, bytes.data() + header + 10 + length, sizeof values);
  EXPECT_EQ(values[0], 0.5f);
  EXPECT_EQ(values[1], 0.25f);
  EXPECT_NE(bytes.find("'<U2'"), std::string::npos);
  EXPECT_NE(bytes.find("a/b head 1/keys.npy"), std::string::npos);
}

TEST(Arrays, AreSafetensorsWithTheirWords) {
  const Drawing drawing{"", {{"m", {"q"}, {"k", "l"}, {0.5f, 0.25f}, {}}}};
  const std::string path = testing::TempDir() + "maps.safetensors";
  save_maps(path, drawing);
  const Safetensors file = Safetensors::open(path);
  EXPECT_EQ(file.load("m").shape(), (Shape{1, 2}));
  EXPECT_EQ(*file.metadata("m/keys"), R"(["k","l"])");
}

}  // namespace
}  // namespace fovea::test
