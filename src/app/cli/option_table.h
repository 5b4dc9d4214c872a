// The options of a verb as help, man page and completions show them.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fovea::cli {

struct OptionLine {
  std::string name;   // "--width", "--[no-]tied", "-h, --help"; of a positional "DIR"
  std::string value;  // "NUMBER"; empty for a flag
  std::string help, group;
  std::vector<std::string> flags;    // all that can be typed: --tied, --no-tied
  std::vector<std::string> choices;  // values, where only some are possible
  bool positional = false;
  bool often = true;  // one of those that people mostly need
};

// Whether some are not `often`. Asked at every start, when nobody wants to see them.
bool has_rare_options(const CLI::App& verb);
// In groups; positionals first.
std::vector<OptionLine> option_lines(const CLI::App& verb);

}  // namespace fovea::cli
