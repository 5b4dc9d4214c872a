// Every model, in one table: what it takes, what it gives, which options it reads, how it is made.
// Tasks serve every row that fits, by name; the command line, the page of models and the tests read
// the same rows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/fields.h"
#include "fovea/model/model.h"
#include "fovea/nn/scope.h"

namespace fovea {

struct ModelEntry {
  std::string name;  // one row for each name, taken and given thing
  Takes takes;       // what an example is made of
  Gives gives;       // what an answer is
  // As lists show them: what it is in a few words, its authors and year, and its idea.
  std::string title, paper, equation;
  bool reads_sentences = false;  // of texts: it is given ModelInputs::document
  bool reads_letters = false;    // of texts: the same, with words in the place of sentences
  // What suits it where the task's own defaults do not.
  Settings defaults{};
  // Options of training that mean nothing for it.
  std::vector<std::string> unread{};
  // The options it reads, given what has been chosen so far.
  std::function<std::vector<FieldInfo>(const Settings&)> options;
  // The model, with its parameters under the Scope.
  std::function<std::unique_ptr<const Network>(Scope, const ModelSizes&, const Settings&)> make;
};

// All rows, those added from outside last.
const std::vector<ModelEntry>& models();
// Rows that take and give this.
std::vector<const ModelEntry*> models_for(Takes takes, Gives gives);
// An unknown name is an Error that suggests the nearest of those that fit.
const ModelEntry& find_model(std::string_view name, Takes takes, Gives gives);
// A row from outside the library: from then on every task that it fits serves it.
void add_model(ModelEntry entry);

// The row's model as what the task needs it to be.
template <class Kind>
std::unique_ptr<const Kind> make_model(const ModelEntry& entry, Scope s, const ModelSizes& sizes,
                                       const Settings& settings) {
  std::unique_ptr<const Network> made = entry.make(s, sizes, settings);
  const auto* model = dynamic_cast<const Kind*>(made.get());
  check(model != nullptr, "model '", entry.name, "': its row says that it gives ",
        name_of(entry.gives), ", but that is not what was made");
  made.release();
  return std::unique_ptr<const Kind>(model);
}

}  // namespace fovea
