// Numbers for words: a learned table, or tables that start from files of word vectors. One set of
// vectors is projected where it has another width than the model; several become meta-embeddings
// (Kiela, Wang, Cho 2018), a weighted mean whose weights each word finds for itself.
#pragma once

#include <optional>

#include "fovea/attention/feature/meta_embedding.h"
#include "fovea/base/fields.h"
#include "fovea/nn/embedding.h"

namespace fovea {

// What models that read words can be told about vectors.
struct WordOptions {
  std::string vectors{};        // files, with commas between them; empty: none
  std::string vector_widths{};  // numbers of a vector of each file, in the same order
  bool tune_vectors = true;     // else they stay as the files have them
  bool contextual = false;      // several sets: a word's sentence weighs its vectors too

  // The widths as numbers; as many as there are files.
  std::vector<int64_t> widths() const;
};
// The files of a list with commas between them.
std::vector<std::string> vector_files(const std::string& list);
// Fields of any struct that is built on it.
const Fields<WordOptions>& word_fields();
// Of the options of a model, without those of vectors that do not count: all but `vectors` need a
// file, `contextual` several.
std::vector<FieldInfo> without_idle_vectors(std::vector<FieldInfo> list, const Settings& settings);

// The tables, and what makes one vector of theirs.
struct WordEmbedding {
  // Paths: weight, or with several sets 0/weight, 1/weight, ..., project and query. `init` is for
  // what no file gives.
  WordEmbedding(Scope s, int64_t vocabulary, int64_t width, const WordOptions& options,
                const Init& init = init::normal(0.1));

  // [rows, width]
  Tensor operator()(const Sequences& words) const;
  Dtype dtype() const { return tables[0].weight.dtype(); }

  std::vector<Embedding> tables;      // one for each set; one where there is none
  std::optional<Linear> project;      // one set of another width than the model's
  std::optional<MetaEmbedding> meta;  // several sets
};

}  // namespace fovea
