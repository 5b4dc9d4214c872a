// Files whose form alone tells the task: stories with questions, phrases in sentences, graphs,
// passages, word vectors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// What a form tells.
struct FoundForm {
  std::string task;       // empty: no form that is known
  std::string because;    // "task: qa, as ...", for people
  std::string data{};     // as --data takes it, where that is not the file itself
  std::string divided{};  // what divides it into parts, where it does that itself
};

// Of the beginning of a file. An Error where the form is known and nothing here learns from it: it
// says what the file is for.
FoundForm form_of(const std::string& path, std::string_view head);
// Of a folder; an Error where it is none that is known.
FoundForm form_of_folder(const std::string& path);
// Of two files that belong together: nodes and edges of a graph, else texts line by line.
FoundForm form_of_two(const std::vector<std::string>& files);

}  // namespace fovea
