#include "fovea/base/error.h"

#include <gtest/gtest.h>

#include "fovea/data/text_file.h"
#include "fovea/tensor/safetensors.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

template <class F>
ErrorKind kind_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was refused";
  return ErrorKind::internal;
}

TEST(Error, SaysWhoseFaultItIs) {
  const ScratchFolder folder;
  EXPECT_EQ(kind_of([] { Tensor().shape(); }), ErrorKind::usage);
  const std::string missing = folder.path() + "/missing";
  EXPECT_EQ(kind_of([&] { Safetensors::open(missing); }), ErrorKind::io);
  EXPECT_EQ(kind_of([&] { read_lines(missing); }), ErrorKind::io);
  const std::string bad = folder.write("bad", "\xff\xfe not text, and no arrays");
  EXPECT_EQ(kind_of([&] { Safetensors::open(bad); }), ErrorKind::input);
  EXPECT_EQ(kind_of([&] { read_lines(folder.write("empty", "")); }), ErrorKind::input);
  EXPECT_EQ(kind_of([&] { save_safetensors(folder.path() + "/no/folder", {}); }), ErrorKind::io);
}

TEST(Error, AWayInCanSayTheKindOfWhatIsBehindIt) {
  EXPECT_EQ(as_kind(ErrorKind::input, [] { return 3; }), 3);
  EXPECT_EQ(kind_of([] { as_kind(ErrorKind::input, [] { fail("bad"); }); }), ErrorKind::input);
  EXPECT_EQ(kind_of([] { as_kind(ErrorKind::input, [] { fail<ErrorKind::io>("gone"); }); }),
            ErrorKind::io);
  EXPECT_STREQ(name_of(ErrorKind::io), "io");
}

}  // namespace
}  // namespace fovea::test
