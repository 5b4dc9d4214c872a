#include "fovea/tensor/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "fovea/tensor/safetensors_header.h"
#include "support/paths.h"

namespace fovea {
namespace {

using Entry = Safetensors::Entry;

std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// A folder that goes away with the test.
struct Folder {
  Folder() {
    std::string name = testing::TempDir() + "fovea_safetensors_XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

std::string with_length(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

Safetensors parse(const std::string& bytes) {
  return Safetensors::parse(std::as_bytes(std::span(bytes)), "f");
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

template <class T>
void expect_values(const Tensor& t, const Shape& shape, const std::vector<T>& values) {
  ASSERT_EQ(t.shape(), shape);
  ASSERT_EQ(t.dtype(), dtype_of<T>);
  const auto got = t.read<T>();
  EXPECT_EQ(std::vector<T>(got.begin(), got.end()), values);
}

const std::string plain_path = test::golden_path("safetensors_plain.safetensors");
const std::string every_dtype_path = test::golden_path("safetensors_every_dtype.safetensors");

TEST(Safetensors, ReadsWhatPythonWrote) {
  const auto file = Safetensors::open(plain_path);
  ASSERT_EQ(file.entries().size(), 14u);
  EXPECT_EQ(file.entries()[0], (Entry{"Z", "F64", {2}, 0, 16}));
  EXPECT_EQ(file.entries()[13], (Entry{"no columns", "I32", {4, 0}, 380, 380}));
  expect_values<double>(file.load("Z"), {2}, {1.0 / 3, 5e-324});
  expect_values<double>(file.load("no rows"), {0, 5, 2}, {});
  expect_values<double>(file.load("scalar64"), {}, {-7.25});
  expect_values<float>(file.load("scalar"), {}, {2.5f});
  expect_values<float>(file.load("none"), {0}, {});
  expect_values<float>(file.load("größe 注意 👀"), {2}, {1, 2});
  expect_values<int32_t>(file.load(""), {1}, {9});
  expect_values<int32_t>(file.load("a"), {2, 1}, {2147483647, -2147483647 - 1});
  expect_values<int32_t>(file.load("b"), {3}, {-1, 0, 1});
  expect_values<int32_t>(file.load("no columns"), {4, 0}, {});
  std::vector<float> eighths(12), whole(64);
  for (int i = 0; i < 12; ++i) eighths[i] = i / 8.0f;
  for (int i = 0; i < 64; ++i) whole[i] = i;
  expect_values<float>(file.load("encoder/0/query/weight"), {3, 4}, eighths);
  expect_values<float>(file.load("six axes"), {2, 2, 2, 2, 2, 2}, whole);
  const Tensor bias = file.load("encoder/0/query/bias");
  EXPECT_TRUE(std::signbit(bias.read()[0]));
  EXPECT_TRUE(std::isinf(bias.read()[1]));
  EXPECT_TRUE(std::isnan(bias.read()[2]));

  std::string odd = "quote \" back \\ slash / ";
  for (char c = 0; c < 32; ++c) odd += c;
  odd += "\x7f\u0080\u2028";
  expect_values<float>(file.load(odd), {1}, {3});

  EXPECT_TRUE(file.has("scalar"));
  EXPECT_FALSE(file.has("scala"));
  EXPECT_EQ(error_of([&] { file.load("scala"); }), plain_path + ": has no tensor \"scala\"");
  const Safetensors::Metadata metadata = {
      {"format", "pt"}, {"note", "längs \n \"quer\""}, {"aim", ""}};
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_NE(file.metadata("note"), nullptr);
  EXPECT_EQ(*file.metadata("note"), "längs \n \"quer\"");
  EXPECT_EQ(file.metadata("Note"), nullptr);
}

TEST(Safetensors, WritesTheBytesPythonWrote) {
  const Folder folder;
  const auto file = Safetensors::open(plain_path);
  std::vector<NamedTensor> tensors;
  for (const Entry& entry : file.entries()) tensors.push_back({entry.name, file.load(entry)});
  std::ranges::reverse(tensors);  // the order given must not matter
  save_safetensors(folder / "again", tensors, file.metadata());
  EXPECT_EQ(contents_of(folder / "again"), contents_of(plain_path));

  save_safetensors(folder / "nothing", {});
  EXPECT_EQ(contents_of(folder / "nothing"), with_length("{}      "));
}

TEST(Safetensors, LoadsEveryDtypeThatFits) {
  const auto file = Safetensors::open(every_dtype_path);
  const float inf = std::numeric_limits<float>::infinity();
  const int32_t most = std::numeric_limits<int32_t>::max(), least = -most - 1;
  expect_values<float>(file.load("f16"), {5}, {1.5f, -2, 65504, 0x1p-24f, inf});
  expect_values<float>(file.load("bf16"), {4}, {1.5f, -2, 0x1p-133f, inf});
  expect_values<int32_t>(file.load("i64"), {2}, {most, least});
  expect_values<int32_t>(file.load("i16"), {2}, {-32768, 32767});
  expect_values<int32_t>(file.load("i8"), {2}, {-128, 127});
  expect_values<int32_t>(file.load("u64"), {2}, {0, most});
  expect_values<int32_t>(file.load("u32"), {2}, {7, most});
  expect_values<int32_t>(file.load("u16"), {2}, {0, 65535});
  expect_values<int32_t>(file.load("u8"), {2}, {0, 255});
  expect_values<int32_t>(file.load("bool"), {3}, {1, 0, 1});

  const auto refused = [&](const std::string& name) {
    const std::string text = error_of([&] { file.load(name); });
    const std::string start = every_dtype_path + ": tensor \"" + name + "\" ";
    EXPECT_TRUE(text.starts_with(start)) << text;
    return text.substr(std::min(start.size(), text.size()));
  };
  EXPECT_EQ(refused("i64 large"), "of dtype I64 holds 2147483648, which does not fit an int32");
  EXPECT_EQ(refused("u64 large"),
            "of dtype U64 holds 18446744073709551615, which does not fit an int32");
  EXPECT_EQ(refused("u32 large"), "of dtype U32 holds 4294967295, which does not fit an int32");
  EXPECT_EQ(
      refused("c64"),
      "has dtype C64, which cannot be loaded; floats of 16 bits or more, integers and BOOL can");
  EXPECT_EQ(refused("f8"),
            "has dtype F8_E4M3, which cannot be loaded; floats of 16 bits or more, integers and "
            "BOOL can");
  EXPECT_EQ(refused("seven axes"), "has 7 axes, more than the 6 that can be loaded");
}

TEST(Safetensors, WidensEveryFloat16Exactly) {
  std::string data;
  for (int bits = 0; bits < 65536; ++bits) {
    data += static_cast<char>(bits & 255);
    data += static_cast<char>(bits >> 8);
  }
  const std::string bytes =
      with_length("{" + tensor("x", "F16", "[65536]", "[0,131072]") + "}", data);
  const Tensor t = parse(bytes).load("x");
  for (int bits = 0; bits < 65536; ++bits) {
    const float got = t.read()[bits];
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    EXPECT_EQ(std::signbit(got), bits >= 32768);
    if (exponent == 31) {
      EXPECT_TRUE(fraction ? std::isnan(got) : std::isinf(got)) << bits;
    } else {
      const int whole = exponent ? 1024 + fraction : fraction;
      EXPECT_EQ(std::abs(got), std::ldexp(whole, std::max(exponent, 1) - 25)) << bits;
    }
  }
}

TEST(Safetensors, ReadsNumbersThatAreNotAligned) {
  std::string header = "{" + tensor("b", "BOOL", "[1]", "[0,1]") + "," +
                       tensor("i", "I64", "[1]", "[1,9]") + "," +
                       tensor("x", "F32", "[1]", "[9,13]") + "}";
  while (header.size() % 8 != 3) header += ' ';
  const std::string data("\x02\xfe\xff\xff\xff\xff\xff\xff\xff\0\0\x80\x3f", 13);
  const std::string bytes = with_length(header, data);
  const auto file = parse(bytes);
  expect_values<int32_t>(file.load("b"), {1}, {1});
  expect_values<int32_t>(file.load("i"), {1}, {-2});
  expect_values<float>(file.load("x"), {1}, {1});
}

TEST(Safetensors, TakesAnyOrderInTheHeaderAndListsByOffset) {
  const std::string bytes = with_length("{" + tensor("b", "U8", "[2]", "[1,3]") + "," +
                                            tensor("empty", "F32", "[0]", "[1,1]") + "," +
                                            tensor("a", "U8", "[1]", "[0,1]") + "}\n\t ",
                                        "\x05\x06\x07");
  const auto file = parse(bytes);
  ASSERT_EQ(file.entries().size(), 3u);
  EXPECT_EQ(file.entries()[0].name, "a");
  EXPECT_EQ(file.entries()[1].name, "empty");
  EXPECT_EQ(file.entries()[2].name, "b");
  expect_values<int32_t>(file.load("b"), {2}, {6, 7});
}

TEST(Safetensors, KeepsItsBytesWhenMovedAndWhenTheFileIsReplaced) {
  const Folder folder;
  save_safetensors(folder / "x", std::vector<NamedTensor>{{"x", Tensor::of({2}, {1, 2})}});
  auto first = Safetensors::open(folder / "x");
  save_safetensors(folder / "x", std::vector<NamedTensor>{{"x", Tensor::of({2}, {3, 4})}});
  const Safetensors moved = std::move(first);
  expect_values<float>(moved.load("x"), {2}, {1, 2});
  expect_values<float>(Safetensors::open(folder / "x").load("x"), {2}, {3, 4});
}

TEST(Safetensors, RefusesHostileFilesWithOneSentence) {
  const std::string a = tensor("a", "U8", "[4]", "[0,4]"), four = "1234";
  const auto one = [](const std::string& dtype, const std::string& shape,
                      const std::string& offsets, size_t bytes) {
    return with_length("{" + tensor("a", dtype, shape, offsets) + "}", std::string(bytes, 'x'));
  };
  const auto field = [](const std::string& fields) {
    return with_length("{\"a\":{" + fields + "}}");
  };
  const std::string good = one("U8", "[4]", "[0,4]", 4);
  ASSERT_EQ(parse(good).entries().size(), 1u);

  const std::vector<std::pair<std::string, std::string>> cases = {
      // The frame.
      {"", "a safetensors file has at least 8 bytes, this one has 0"},
      {"1234567", "a safetensors file has at least 8 bytes, this one has 7"},
      {std::string("\x09\0\0\0\0\0\0\0{}      ", 16),
       "claims a header of 9 bytes, but only 8 follow: the file is truncated or damaged"},
      {std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10),
       "claims a header of 100000001 bytes, more than the 100000000 a safetensors file may have"},
      {std::string(8, '\xff') + "{}",
       "claims a header of 18446744073709551615 bytes, more than the 100000000 a safetensors file "
       "may have"},
      {good.substr(0, good.size() - 1),
       "tensor \"a\" needs bytes up to 4, but only 3 follow the header: the file is truncated or "
       "damaged"},
      {good + "5", "1 bytes after the last tensor belong to none"},
      {with_length("{}", "5"), "1 bytes after the last tensor belong to none"},
      // JSON.
      {with_length(""), "the header does not begin with '{'"},
      {with_length(" {}"), "the header does not begin with '{'"},
      {with_length("\xef\xbb\xbf{}"), "the header does not begin with '{'"},
      {with_length("[]"), "the header does not begin with '{'"},
      {with_length(std::string("{}\0x", 4)), "the header has a zero byte in it"},
      {with_length("{"),
       "the header is not valid JSON at its byte 2: syntax error while parsing object key - "
       "unexpected end of input"},
      {with_length("{}{}"),
       "the header is not valid JSON at its byte 3: syntax error while parsing value - unexpected "
       "'{'"},
      {with_length("{" + a + ",}"),
       "the header is not valid JSON at its byte 54: syntax error while parsing object key - "
       "unexpected '}'"},
      {with_length("{\"\xc3(\":1}"),
       "the header is not valid JSON at its byte 4: syntax error while parsing object key - "
       "invalid string: ill-formed UTF-8 byte"},
      {with_length("{\"\\ud800\":1}"),
       "the header is not valid JSON at its byte 9: syntax error while parsing object key - "
       "invalid string: surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF"},
      {with_length("{\"a\n\":1}"),
       "the header is not valid JSON at its byte 4: syntax error while parsing object key - "
       "invalid string: control character U+000A (LF) must be escaped to \\u000A or \\n"},
      {with_length("{\"a\":1e999}"),
       "the header is not valid JSON at its byte 10: a number is too large"},
      // Nesting and types.
      {with_length("{\"a\":" + std::string(100000, '[')),
       "\"a\" in the header needs an object, got a list"},
      {with_length("{\"a\":{\"shape\":" + std::string(100000, '[')),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its shape, got a list"},
      {field("\"shape\":{}"),
       "tensor \"a\" needs a list of whole numbers as its shape, got an object"},
      {field("\"dtype\":[]"), "tensor \"a\" needs a text as its dtype, got a list"},
      {field("\"dtype\":null"), "tensor \"a\" needs a text as its dtype, got null"},
      {field("\"shape\":4"), "tensor \"a\" needs a list of whole numbers as its shape, got 4"},
      {field("\"shape\":[true]"),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its shape, got true"},
      {field("\"shape\":[\"4\"]"),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its shape, got a text"},
      {with_length("{\"a\":null}"), "\"a\" in the header needs an object, got null"},
      {with_length("{\"__metadata__\":{\"k\":1}}"), "\"k\" in the metadata needs a text, got 1"},
      {with_length("{\"__metadata__\":{\"k\":{}}}"),
       "\"k\" in the metadata needs a text, got an object"},
      {with_length("{\"__metadata__\":[]}"),
       "\"__metadata__\" in the header needs an object, got a list"},
      {with_length("{\"" + std::string(90, 'n') + "\":0}"),
       "\"" + std::string(80, 'n') + "\"... in the header needs an object, got 0"},
      {with_length("{\"\\u001b[2J\":{\"shape\":[-1]}}"),
       "tensor \"\\u001b[2J\" needs whole numbers from 0 to 2^63 - 1 in its shape, got -1"},
      // Fields.
      {field(""), "tensor \"a\" has no dtype"},
      {field("\"dtype\":\"F32\""), "tensor \"a\" has no shape"},
      {field("\"dtype\":\"F32\",\"shape\":[]"), "tensor \"a\" has no data_offsets"},
      {field("\"stride\":[1]"), "tensor \"a\" has an unknown field \"stride\""},
      {field("\"data_offsets\":[0]"), "tensor \"a\" needs two data_offsets, got 1"},
      {field("\"data_offsets\":[0,1,2]"), "tensor \"a\" needs two data_offsets, got 3"},
      // Names that come twice.
      {with_length("{" + a + "," + a + "}", four), "the header has tensor \"a\" twice"},
      {with_length("{" + a + "," + tensor("a", "U8", "[4]", "[4,8]") + "}", four + four),
       "the header has tensor \"a\" twice"},
      {with_length("{" + a + "," + tensor("\\u0061", "U8", "[0]", "[4,4]") + "}", four),
       "the header has tensor \"a\" twice"},
      {field("\"dtype\":\"F32\",\"dtype\":\"F32\""), "tensor \"a\" has its dtype twice"},
      {field("\"shape\":[],\"shape\":[]"), "tensor \"a\" has its shape twice"},
      {field("\"data_offsets\":[0,0],\"data_offsets\":[0,0]"),
       "tensor \"a\" has its data_offsets twice"},
      {with_length("{\"__metadata__\":{},\"__metadata__\":{}}"),
       "the header has \"__metadata__\" twice"},
      {with_length("{\"__metadata__\":{\"k\":\"1\",\"j\":\"2\",\"k\":\"3\"}}"),
       "the metadata has \"k\" twice"},
      // Dtypes, sizes, offsets.
      {one("F33", "[4]", "[0,4]", 4), "tensor \"a\" has an unknown dtype \"F33\""},
      {one("f32", "[1]", "[0,4]", 4), "tensor \"a\" has an unknown dtype \"f32\""},
      {one("U8", "[-4]", "[0,4]", 4),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its shape, got -4"},
      {one("U8", "[-0]", "[0,0]", 0),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its shape, got -0"},
      {one("U8", "[4.0]", "[0,4]", 4),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its shape, got 4.0"},
      {one("U8", "[4]", "[0,4e0]", 4),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its data_offsets, got 4e0"},
      {one("U8", "[9223372036854775808]", "[0,4]", 4),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its shape, got "
       "9223372036854775808"},
      {one("U8", "[18446744073709551620]", "[0,4]", 4),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its shape, got "
       "18446744073709551620"},
      {one("U8", "[4]", "[-1,3]", 4),
       "tensor \"a\" needs whole numbers from 0 to 2^63 - 1 in its data_offsets, got -1"},
      {one("F32", "[4294967296,4294967296]", "[0,0]", 0),
       "tensor \"a\" has a shape whose sizes multiply to more than 2^63 bits"},
      {one("U8", "[4611686018427387904,4,0]", "[0,0]", 0),
       "tensor \"a\" has a shape whose sizes multiply to more than 2^63 bits"},
      {one("U8", "[0,4611686018427387904,4]", "[0,0]", 0),
       "tensor \"a\" has a shape whose sizes multiply to more than 2^63 bits"},
      {one("F32", "[1000000000000]", "[0,4000000000000]", 4),
       "tensor \"a\" needs bytes up to 4000000000000, but only 4 follow the header: the file is "
       "truncated or damaged"},
      {one("F4", "[3]", "[0,1]", 1), "tensor \"a\" has 12 bits, which do not fill whole bytes"},
      {one("U8", "[4]", "[4,0]", 4), "tensor \"a\" ends at byte 0, before its start at 4"},
      {one("U8", "[0]", "[5,5]", 4),
       "tensor \"a\" needs bytes up to 5, but only 4 follow the header: the file is truncated or "
       "damaged"},
      {one("F32", "[1]", "[0,3]", 4),
       "tensor \"a\" needs 4 bytes for its dtype and shape, but its offsets give it 3"},
      {one("F32", "[]", "[0,8]", 8),
       "tensor \"a\" needs 4 bytes for its dtype and shape, but its offsets give it 8"},
      {one("U8", "[2,0]", "[0,2]", 2),
       "tensor \"a\" needs 0 bytes for its dtype and shape, but its offsets give it 2"},
      {with_length("{" + a + "," + tensor("b", "U8", "[2]", "[3,5]") + "}", "12345"),
       "tensor \"b\" starts at byte 3, but the one before it ends at 4: they overlap"},
      {with_length("{" + a + "," + tensor("b", "U8", "[0]", "[2,2]") + "}", four),
       "tensor \"b\" starts at byte 2, but the one before it ends at 4: they overlap"},
      {with_length("{" + a + "," + tensor("b", "U8", "[2]", "[5,7]") + "}", "1234567"),
       "tensor \"b\" starts at byte 5, but the one before it ends at 4: there is a hole"},
      {one("U8", "[3]", "[1,4]", 4),
       "tensor \"a\" starts at byte 1, but the one before it ends at 0: there is a hole"},
  };
  for (const auto& hostile : cases) {
    EXPECT_EQ(error_of([&] { parse(hostile.first); }), "f: " + hostile.second);
  }
}

TEST(Safetensors, ListsUpTo64Axes) {
  std::string axes = "1";
  for (int i = 1; i < 64; ++i) axes += ",1";
  const auto file = [&] {
    return with_length("{" + tensor("a", "U8", "[" + axes + "]", "[0,1]") + "}", "1");
  };
  const std::string most = file();
  EXPECT_EQ(parse(most).entries()[0].shape.size(), 64u);
  EXPECT_EQ(error_of([&] { parse(most).load("a"); }),
            "f: tensor \"a\" has 64 axes, more than the 6 that can be loaded");
  axes += ",1";
  EXPECT_EQ(error_of([&] { parse(file()); }),
            "f: tensor \"a\" has more than 64 numbers in its shape");
}

TEST(Safetensors, ShowsNamesShortAndWithoutControlCharacters) {
  EXPECT_EQ(safetensors::in_quotes("\x1b[2J \"x\" ö"), "\"\\u001b[2J \\\"x\\\" ö\"");
  EXPECT_EQ(safetensors::in_quotes(std::string(80, 'x')), '"' + std::string(80, 'x') + '"');
  EXPECT_EQ(safetensors::in_quotes(std::string(79, 'x') + "ö"),
            '"' + std::string(79, 'x') + "\ufffd\"...");
}

TEST(Safetensors, EveryCutOfAGoodFileIsRefused) {
  const std::string whole = contents_of(plain_path);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(error_of([&] { parse(whole.substr(0, size)); }), "no error") << size;
  }
}

TEST(Safetensors, SaysWhatCannotBeOpened) {
  const Folder folder;
  EXPECT_EQ(error_of([&] { Safetensors::open(folder / "none"); }),
            "cannot open '" + (folder / "none") + "': No such file or directory");
  EXPECT_EQ(error_of([&] { Safetensors::open(folder.path); }),
            "cannot open '" + folder.path + "': it is not a file");
  std::ofstream(folder / "empty");
  EXPECT_EQ(error_of([&] { Safetensors::open(folder / "empty"); }),
            (folder / "empty") + ": a safetensors file has at least 8 bytes, this one has 0");
}

TEST(Safetensors, SavesNothingThatCouldNotBeReadAgain) {
  const Folder folder;
  const Tensor x = Tensor::of({1}, {1}), ids = Tensor::ids({1}, {1});
  using List = std::vector<NamedTensor>;
  const std::string start = "cannot write '" + (folder / "f") + "': ";
  const auto refused = [&](const List& tensors, const Safetensors::Metadata& metadata = {}) {
    const std::string text = error_of([&] { save_safetensors(folder / "f", tensors, metadata); });
    EXPECT_TRUE(text.starts_with(start)) << text;
    return text.substr(std::min(start.size(), text.size()));
  };
  EXPECT_EQ(refused({{"x", x}, {"y", x}, {"x", ids}}), "the header has tensor \"x\" twice");
  EXPECT_EQ(refused({{"x", Tensor()}}), "tensor \"x\" has no value");
  EXPECT_EQ(refused({{"__metadata__", x}}), "no tensor may have the name \"__metadata__\"");
  EXPECT_EQ(refused({{"\xff", x}}), "\"\ufffd\" is not UTF-8");
  EXPECT_EQ(refused({{"x", x}}, {{"k", "\xc3"}}), "\"\ufffd\" is not UTF-8");
  EXPECT_EQ(refused({{"x", x}}, {{"k", "1"}, {"k", "2"}}), "the metadata has \"k\" twice");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

}  // namespace
}  // namespace fovea
