#include "fovea/app/cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/help.h"
#include "fovea/app/cli/option_table.h"
#include "fovea/app/cli/ranks.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"

namespace fovea::cli {
namespace {

std::string version_text() {
  return say("fovea " FOVEA_VERSION " (", kernel::simd_target(), ", ", threads(), " threads)");
}

// Where the first word is no verb, which is the nearest: CLI11 calls it an unexpected argument.
std::string unknown_verb(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  const bool known =
      words.empty() || words[0][0] == '-' || std::ranges::find(verbs, words[0]) != verbs.end();
  return known ? "" : unknown_name("verb", words[0], verbs);
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& words) {
  // What options there are depends on the task.
  if (words.size() > 1 && (words[0] == "train" || words[0] == "compare") && words[1][0] != '-') {
    std::vector<std::string> names;
    for (const Task& task : tasks()) names.push_back(task.name);
    if (std::ranges::find(names, words[1]) == names.end()) {
      return unknown_name("task", words[1], names);
    }
  }
  const bool has_verb = !words.empty() && words[0][0] != '-';
  const CLI::App* verb = has_verb ? app.get_subcommand(words[0]) : &app;
  std::vector<std::string> flags;
  for (const CLI::Option* option : verb->get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.starts_with("--") && std::ranges::find(flags, flag) == flags.end()) {
      const std::string elsewhere = not_read_here(words, flag);
      return elsewhere.empty() ? unknown_name("option", flag, flags) : elsewhere;
    }
  }
  return error.what();
}

}  // namespace

void add_verbs(CLI::App& app, const Words& words, char** argv, int& exit_code) {
  add_fit(app, words, exit_code);
  add_train(app, words, exit_code);
  add_eval(app);
  add_predict(app, exit_code);
  add_attend(app);
  add_score(app, exit_code);
  add_info(app);
  add_compare(app, words, exit_code);
  add_arena(app, exit_code);
  add_list(app);
  add_bench(app, argv);
  add_shell(app);
  for (CLI::App* verb : app.get_subcommands({})) {
    verb->set_help_flag("-h,--help", "Print this help");
    if (has_rare_options(*verb)) verb->set_help_all_flag("--help-all", "Print every option");
  }
}

namespace {

int run(int argc, char** argv) {
  as_usage(kernel::simd_target);  // FOVEA_TARGET is one of the user's words
  CLI::App app("Fovea: trains, compares and shows attention on the CPU you have.", "fovea");
  app.set_version_flag("--version", version_text, "Print the version, instruction set and threads");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  int exit_code = 0;
  Words words(argv + 1, argv + argc);
  // `fovea help train lm` is `fovea train lm --help`; nothing at all is asked the same way.
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  if (words.empty()) words.push_back("--help");
  const std::vector<std::string> shared{"train", "compare", "fit", "bench"};
  if (started_as_rank() && words[0][0] != '-' && words.back() != "--help" &&
      std::ranges::find(shared, words[0]) == shared.end()) {
    throw UsageError(say(words[0], " is done by one process: start it without mpirun or srun"));
  }
  app.set_help_flag("-h,--help", "Print this help");
  add_verbs(app, words, argv, exit_code);
  // Its help would be that of the program.
  if (const std::string unknown = unknown_verb(app, words); !unknown.empty())
    throw UsageError(unknown);
  const auto print_help = [&](bool all) {
    const auto verbs = app.get_subcommands();
    std::fputs(help_of(app, verbs.empty() ? nullptr : verbs[0], all).c_str(), stdout);
  };
  try {
    app.parse(Words(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    print_help(false);
  } catch (const CLI::CallForAllHelp&) {
    print_help(true);
  } catch (const CLI::CallForVersion&) {
    std::puts(version_text().c_str());
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "fovea: %s\n", usage_error(app, error, words).c_str());
    return 2;
  }
  return exit_code;
}

}  // namespace

int run_program(int argc, char** argv) {
  const auto [code, message] = [&]() -> std::pair<int, std::string> {
    try {
      const int code = run(argc, argv);
      flush_stdout();
      return {code, ""};
    } catch (const UsageError& error) {
      return {2, error.what()};
    } catch (const std::bad_alloc&) {
      return {1, "there is not enough memory for that; try a smaller model or batch"};
    } catch (const std::filesystem::filesystem_error& error) {
      return {1, "'" + error.path1().string() + "': " + error.code().message()};
    } catch (const std::system_error& error) {  // of {fmt}, whose words are not ours
      return {1, "stdout: cannot be written: " + error.code().message()};
    } catch (const std::exception& error) {
      return {1, error.what()};
    }
  }();
  try {
    return leave_ranks(code, message);
  } catch (const std::exception& error) {
    return leave_ranks(1, error.what());
  }
}

}  // namespace fovea::cli
