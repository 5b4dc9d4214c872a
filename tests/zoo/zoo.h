// A zoo of small files as people have them, each with what must come out of it.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea::test {

struct Animal {
  std::string name;   // what is special about it; also the file's name
  std::string roles;  // classify, pairs, tag, text, compare (label, a, b), numbers, mixed
  std::string bytes;
  ReadOptions options{};
  std::string format{}, encoding = "UTF-8", packing{};
  bool header = false;
  std::string out{};    // "[pos|fine][neg|so so]", or what the Error begins with behind the folder
  int64_t bad = 0;      // rows left out
  bool stdin_ = false;  // read as "-"
};

std::vector<Animal> zoo();

std::vector<Role> roles_called(const std::string& name);

}  // namespace fovea::test
