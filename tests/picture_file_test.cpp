// Pictures out of files: every format, and what is refused in a sentence.
#include "fovea/data/picture_file.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "fovea/data/array_file.h"
#include "fovea/data/labelled_pictures.h"
#include "support/scratch.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace fovea::test {
namespace {

Picture gradient(int64_t height, int64_t width, int64_t channels) {
  Picture p{height, width, channels, {}};
  for (int64_t i = 0; i < height * width * channels; ++i) {
    p.pixels.push_back(static_cast<uint8_t>(7 * i % 251));
  }
  return p;
}

void append(void* to, void* data, int size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
}
std::string png_of(const Picture& p, int channels) {
  std::string bytes;
  stbi_write_png_to_func(append, &bytes, static_cast<int>(p.width), static_cast<int>(p.height),
                         channels, p.pixels.data(), static_cast<int>(p.width) * channels);
  return bytes;
}
std::string jpg_of(const Picture& p) {
  std::string bytes;
  stbi_write_jpg_to_func(append, &bytes, static_cast<int>(p.width), static_cast<int>(p.height),
                         static_cast<int>(p.channels), p.pixels.data(), 95);
  return bytes;
}
std::string bmp_of(const Picture& p) {
  std::string bytes;
  stbi_write_bmp_to_func(append, &bytes, static_cast<int>(p.width), static_cast<int>(p.height),
                         static_cast<int>(p.channels), p.pixels.data());
  return bytes;
}
std::string big(uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
          static_cast<char>(n)};
}
std::string idx(char type, std::initializer_list<uint32_t> shape, const std::string& data) {
  std::string bytes{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const uint32_t size : shape) bytes += big(size);
  return bytes + data;
}
std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(118, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
         data;
}
std::string gzipped(const ScratchFolder& scratch, const std::string& name,
                    const std::string& bytes) {
  const std::string path = scratch.path() + "/" + name;
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return path;
}
// A PNG of that size that says nothing but its header.
std::string png_header(uint32_t width, uint32_t height) {
  std::string ihdr = "IHDR" + big(width) + big(height) + std::string("\x08\x02\x00\x00\x00", 5);
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(ihdr.data()), 17);
  return "\x89PNG\r\n\x1a\n" + big(13) + ihdr + big(static_cast<uint32_t>(crc));
}

TEST(PictureFile, EveryFormatComesBack) {
  const ScratchFolder scratch;
  for (const int64_t channels : {1, 3}) {
    const Picture p = gradient(9, 14, channels);
    for (const std::string& path :
         {scratch.write("a.png", png_of(p, static_cast<int>(channels))),
          gzipped(scratch, "b.png.gz", png_of(p, static_cast<int>(channels)))}) {
      EXPECT_EQ(picture_size(path), size_of(p));
      const Picture back = read_picture(path);
      EXPECT_EQ(back.pixels, p.pixels);
      EXPECT_EQ(size_of(back), size_of(p));
    }
    const std::string jpg = scratch.write(
        "a.jpg", jpg_of(Picture{16, 16, channels, std::vector<uint8_t>(256 * channels, 90)}));
    const Picture even = read_picture(jpg);
    EXPECT_EQ(even.height, 16);
    EXPECT_NEAR(even.pixels[100], 90, 3);
    EXPECT_EQ(picture_size(jpg).height, 16);
  }
  const Picture colours = gradient(5, 6, 3);
  const std::string bmp = scratch.write("a.bmp", bmp_of(colours));
  EXPECT_EQ(read_picture(bmp).pixels, colours.pixels);
  EXPECT_EQ(picture_size(bmp), size_of(colours));
}

TEST(PictureFile, WhatIsTransparentLiesOnWhite) {
  const ScratchFolder scratch;
  const Picture p{1, 2, 4, {10, 20, 30, 255, 10, 20, 30, 0}};
  const Picture back = read_picture(scratch.write("a.png", png_of(p, 4)));
  EXPECT_EQ(back.pixels, (std::vector<uint8_t>{10, 20, 30, 255, 255, 255}));
  const Picture grey =
      read_picture(scratch.write("g.png", png_of(Picture{1, 2, 2, {100, 255, 100, 128}}, 2)));
  EXPECT_EQ(grey.channels, 1);
  EXPECT_EQ(grey.pixels[0], 100);
  EXPECT_NEAR(grey.pixels[1], 177, 1);
}

TEST(PictureFile, OnePixelIsAPicture) {
  const ScratchFolder scratch;
  const Picture p = read_picture(scratch.write("a.png", png_of(Picture{1, 1, 1, {77}}, 1)));
  EXPECT_EQ(p.pixels, std::vector<uint8_t>{77});
}

TEST(PictureFile, ArraysOfEveryKind) {
  const ScratchFolder scratch;
  std::string bytes;
  for (int i = 0; i < 12; ++i) bytes += static_cast<char>(20 * i);
  const std::string plain = scratch.write("x-images", idx('\x08', {3, 2, 2}, bytes));
  const std::string packed = gzipped(scratch, "x-images.gz", idx('\x08', {3, 2, 2}, bytes));
  for (const std::string& path : {plain, packed}) {
    EXPECT_TRUE(is_array_file(path));
    const auto all = read_pictures(path);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[2].pixels, (std::vector<uint8_t>{160, 180, 200, 220}));
    EXPECT_EQ(read_picture(path + "#1").pixels, (std::vector<uint8_t>{80, 100, 120, 140}));
    EXPECT_EQ(picture_size(path), (PictureSize{2, 2, 1}));
    EXPECT_EQ(array_shape(path), (std::vector<int64_t>{3, 2, 2}));
  }
  EXPECT_EQ(error_of([&] { read_picture(plain + "#3"); }),
            plain + "#3: there are only 3 pictures, counted from 0");
  EXPECT_EQ(error_of([&] { read_picture(plain); }),
            plain + ": is an array of pictures; say which one, as in " + plain + "#0");
  // Floats from 0 to 1, channels before the rows, as PyTorch has them.
  std::string floats(3 * 2 * 4, '\0');
  const float value = 0.5f;
  for (size_t i = 0; i < 2; ++i) std::memcpy(floats.data() + 4 * i, &value, 4);
  const auto torch = read_pictures(scratch.write("t.npy", npy("<f4", "(1, 3, 1, 2)", floats)));
  EXPECT_EQ(torch[0].pixels, (std::vector<uint8_t>{128, 0, 0, 128, 0, 0}));
  EXPECT_EQ(
      read_array_labels(scratch.write("l.npy", npy("<i8", "(2,)",
                                                   std::string("\7\0\0\0\0\0\0\0"
                                                               "\xff\xff\xff\xff\xff\xff\xff\xff",
                                                               16)))),
      (std::vector<std::string>{"7", "-1"}));
  EXPECT_EQ(read_array_labels(scratch.write("l.idx", idx('\x0C', {1}, std::string("\0\0\1\0", 4)))),
            std::vector<std::string>{"256"});
}

TEST(PictureFile, WhatIsWrongIsSaidInASentence) {
  const ScratchFolder scratch;
  const auto said = [&](const std::string& name, const std::string& bytes) {
    const std::string path = scratch.write(name, bytes);
    std::string text = error_of([&] { read_picture(path); });
    EXPECT_TRUE(text.starts_with(path + ": ")) << text;
    return text.substr(path.size() + 2);
  };
  const std::string large =
      " 40000 x 40000 pixels large; at most 32768 a side and 64 million in "
      "all can be read, scale it down";
  EXPECT_EQ(said("large.png", png_header(40'000, 40'000)), "is" + large);
  std::string bmp = bmp_of(gradient(2, 2, 3));
  for (const size_t at : {18, 22}) bmp.replace(at, 4, std::string("\x40\x9c\0\0", 4));
  EXPECT_EQ(said("large.bmp", bmp), "is" + large);
  std::string jpg = jpg_of(gradient(32, 32, 3));
  const size_t sof = jpg.find("\xff\xc0");
  std::string huge = jpg;
  huge.replace(sof + 5, 4, "\x9c\x40\x9c\x40");
  EXPECT_NE(said("large.jpg", huge).find("40000 x 40000 pixels large"), std::string::npos);
  // A size that may be, of a file that is too short for it.
  EXPECT_EQ(said("empty.png", png_header(8'000, 8'000)),
            "its header promises 8000 x 8000 pixels, which 33 bytes cannot hold; it is damaged or "
            "cut short");
  EXPECT_EQ(said("half.jpg", jpg.substr(0, jpg.size() * 2 / 3)),
            "is a JPEG that is cut short: its end is missing");
  // Counts of codes that the decoder has no room for; and tables that a scan uses undefined.
  std::string many = jpg;
  const size_t dht = many.find("\xff\xc4");
  many.replace(dht + 5, 16, std::string(8, '\0') + std::string(8, '\xff'));
  EXPECT_EQ(said("many.jpg", many), "is a JPEG whose tables of codes are damaged");
  std::string undefined = jpg;
  undefined[dht + 1] = '\xe5';  // passed over
  try {
    read_picture(scratch.write("undefined.jpg", undefined));
  } catch (const Error&) {
  }
  const std::string png = png_of(gradient(32, 32, 3), 3);
  EXPECT_NE(said("half.png", png.substr(0, png.size() / 2)).find("cut short"), std::string::npos);
  EXPECT_EQ(said("a.txt", "hello"),
            "is no picture that can be read; PNG, JPEG, BMP, IDX and NPY can");
  EXPECT_EQ(said("none.png", ""), "is empty; PNG, JPEG, BMP, IDX and NPY can");
  EXPECT_EQ(error_of([&] {
              read_pictures(scratch.write("s", idx('\x08', {9, 4, 4}, "abc")));
            }),
            scratch.path() + "/s: is cut short: what its header promises needs 144 bytes, 3 came");
  EXPECT_NE(error_of([&] {
              read_pictures(scratch.write("w", idx('\x08', {0xffffffff, 0xffffffff, 99999}, "")));
            }).find("promises more than any file holds"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              read_pictures(scratch.write("f.npy", npy("<c8", "(1, 2, 2)", "")));
            }).find("whole numbers and floats"),
            std::string::npos);
  EXPECT_NE(error_of([&] { read_picture(scratch.path() + "/absent.png"); }).find("absent.png"),
            std::string::npos);
}

TEST(LabelledPictures, FromEveryHolder) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/set";
  for (const char* label : {"cat", "dog"}) {
    std::filesystem::create_directories(folder + "/" + label);
    for (int i = 0; i < 2; ++i) {
      scratch.write(say("set/", label, "/", i, ".png"),
                    png_of(gradient(4, 4, 1 + 2 * i), 1 + 2 * i));
    }
  }
  ReadSummary summary;
  auto all = read_labelled_pictures(folder, {}, &summary);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[3].label, "dog");
  EXPECT_EQ(all[3].size.channels, 3);
  EXPECT_EQ(summary.rows, 4);
  const std::string table =
      scratch.write("t.tsv", "file\tlabel\nset/cat/0.png\tcat\nset/dog/1.png\tdog\n");
  all = read_labelled_pictures(table, {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].name, scratch.path() + "/set/dog/1.png");
  const std::string bad = scratch.write("b.csv", "file,label\nset/cat/0.png,cat\nset/no.png,dog\n");
  EXPECT_EQ(error_of([&] { read_labelled_pictures(bad, {}); }),
            bad + ":3: there is no file " + scratch.path() + "/set/no.png");
  ReadOptions skip;
  skip.skip_bad = true;
  EXPECT_EQ(read_labelled_pictures(bad, skip, &summary).size(), 1u);
  EXPECT_EQ(summary.bad_rows, 1);
  // Arrays as MNIST has them.
  std::filesystem::create_directories(scratch.path() + "/mnist");
  const auto write_pair = [&](const std::string& part, uint32_t n) {
    scratch.write("mnist/" + part + "-images-idx3-ubyte",
                  idx('\x08', {n, 2, 2}, std::string(4 * n, 'x')));
    return scratch.write("mnist/" + part + "-labels-idx1-ubyte",
                         idx('\x08', {n}, std::string(n, '\3')));
  };
  write_pair("train", 5);
  write_pair("t10k", 3);
  const std::string mnist = scratch.path() + "/mnist";
  all = read_labelled_pictures(mnist, {});
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[4].name, mnist + "/train-images-idx3-ubyte#4");
  EXPECT_EQ(all[4].label, "3");
  EXPECT_EQ(read_labelled_pictures(test_arrays_of(mnist), {}).size(), 3u);
  EXPECT_EQ(read_labelled_pictures(mnist + "/t10k-images-idx3-ubyte", {}).size(), 3u);
  const std::string images = mnist + "/train-images-idx3-ubyte",
                    labels = mnist + "/t10k-labels-idx1-ubyte";
  EXPECT_EQ(error_of([&] { read_labelled_pictures(images + "," + labels, {}); }),
            images + ": holds 5 pictures, but " + labels + " has 3 labels");
}

TEST(PictureStore, GivesWhatNamesSay) {
  const ScratchFolder scratch;
  const PictureStore store;
  const std::string path = scratch.write("a.png", png_of(gradient(8, 8, 3), 3));
  const auto first = store.get(path, {4, 4, 1});
  EXPECT_EQ(size_of(*first), (PictureSize{4, 4, 1}));
  std::filesystem::remove(path);
  EXPECT_EQ(store.get(path, {4, 4, 1}), first) << "decoded once";
  const PictureStore small(10);
  const std::string other = scratch.write("b.png", png_of(gradient(8, 8, 1), 1));
  small.get(other, {8, 8, 1});
  std::filesystem::remove(other);
  EXPECT_NE(error_of([&] { small.get(other, {8, 8, 1}); }), "") << "no room to keep it";
  EXPECT_EQ(store.get("builtin:digits#3", {28, 28, 1})->height, 28);
  EXPECT_NE(error_of([&] { store.get("builtin:nothing#3", {28, 28, 1}); }), "");
}

}  // namespace
}  // namespace fovea::test
