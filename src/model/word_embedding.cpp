#include "fovea/model/word_embedding.h"

namespace fovea {
namespace {

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t from = 0; from < list.size();) {
    const size_t to = std::min(list.find(',', from), list.size());
    if (to > from) parts.push_back(list.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

}  // namespace

std::vector<std::string> vector_files(const std::string& list) { return parts_of(list); }

std::vector<int64_t> WordOptions::widths() const {
  std::vector<int64_t> all;
  for (const std::string& part : parts_of(vector_widths)) {
    all.push_back(whole_of("vector_widths", part));
    check(all.back() >= 1, "vector_widths: needs numbers above 0, got ", part);
  }
  const size_t files = parts_of(vectors).size();
  check(all.size() == files, "vector_widths: needs one number for each of ", files,
        " files of vectors, got ", all.size());
  return all;
}

const Fields<WordOptions>& word_fields() {
  using O = WordOptions;
  static const Fields<O> fields{
      {"vectors", &O::vectors,
       "word vectors to begin with: files as word2vec and GloVe have, a comma between several"},
      {"vector_widths", &O::vector_widths, "numbers of a vector of each file; told by the files"},
      {"tune_vectors", &O::tune_vectors, "go on learning the word vectors"},
      {"contextual", &O::contextual, "several sets: a word's sentence weighs its vectors too"}};
  return fields;
}

std::vector<FieldInfo> without_idle_vectors(std::vector<FieldInfo> list, const Settings& settings) {
  // Other models have options of these names too: only a list with vectors is of words.
  if (std::ranges::find(list, "vectors", &FieldInfo::name) == list.end()) return list;
  const size_t files = vector_files(settings.get("vectors")).size();
  std::erase_if(list, [&](const FieldInfo& info) {
    if (info.name == "contextual") return files < 2;
    return files == 0 && (info.name == "vector_widths" || info.name == "tune_vectors");
  });
  return list;
}

WordEmbedding::WordEmbedding(Scope s, int64_t vocabulary, int64_t width, const WordOptions& o,
                             const Init& init) {
  const std::vector<int64_t> widths = o.widths();
  if (widths.size() < 2) {
    const int64_t own = widths.empty() ? width : widths[0];
    tables.emplace_back(s, vocabulary, own, init);
    if (own != width) project.emplace(s / "project", own, width);
  } else {
    for (size_t i = 0; i < widths.size(); ++i) {
      tables.emplace_back(s / static_cast<int64_t>(i), vocabulary, widths[i], init);
    }
    MetaEmbeddingOptions options;
    options.contextual = o.contextual;
    meta.emplace(s, widths, width, options);
  }
  if (!widths.empty() && !o.tune_vectors) {
    for (const Embedding& table : tables) table.weight.freeze();
  }
}

Tensor WordEmbedding::operator()(const Sequences& words) const {
  if (!meta) {
    const Tensor x = tables[0](words.ids);
    return project ? (*project)(x) : x;
  }
  std::vector<Tensor> sets;
  for (const Embedding& table : tables) sets.push_back(table(words.ids));
  return (*meta)(sets, words).rows;
}

}  // namespace fovea
