#include "fovea/model/reader/words.h"

#include <unordered_map>

namespace fovea {
namespace {

// The different rows of a batch, and for each row which of them it is.
struct Distinct {
  std::vector<int32_t> first;  // a row that is like each
  std::vector<int32_t> which;  // of every row
};

// Rows are alike when id and letters are.
Distinct distinct_rows(std::span<const int32_t> ids, std::span<const int32_t> letters) {
  const size_t n = letters.empty() ? 0 : letters.size() / ids.size();
  const auto hash = [&](int32_t row) {
    uint64_t h = 0x9e3779b97f4a7c15ULL ^ static_cast<uint64_t>(ids[static_cast<size_t>(row)]);
    for (size_t i = 0; i < n; ++i) {
      h = (h ^ static_cast<uint64_t>(letters[static_cast<size_t>(row) * n + i])) *
          0xd6e8feb86659fd93ULL;
      h ^= h >> 32;
    }
    return static_cast<size_t>(h);
  };
  const auto equal = [&](int32_t a, int32_t b) {
    const auto x = static_cast<size_t>(a), y = static_cast<size_t>(b);
    return ids[x] == ids[y] && std::equal(letters.begin() + static_cast<int64_t>(x * n),
                                          letters.begin() + static_cast<int64_t>((x + 1) * n),
                                          letters.begin() + static_cast<int64_t>(y * n));
  };
  std::unordered_map<int32_t, int32_t, decltype(hash), decltype(equal)> places(ids.size(), hash,
                                                                               equal);
  Distinct found;
  for (int32_t row = 0; row < static_cast<int32_t>(ids.size()); ++row) {
    const auto [at, fresh] = places.try_emplace(row, static_cast<int32_t>(found.first.size()));
    if (fresh) found.first.push_back(row);
    found.which.push_back(at->second);
  }
  return found;
}

Tensor ids_of(const std::vector<int32_t>& list) {
  return Tensor::of({static_cast<int64_t>(list.size())}, list);
}

}  // namespace

const Fields<ReaderOptions>& reader_fields() {
  const auto& letters = spelling_fields().list()[0];
  static const Fields<ReaderOptions> fields(
      recurrent_fields(), {{letters.name, &SpellingOptions::letters, letters.help, letters.range}});
  return fields;
}

ReaderWords::ReaderWords(Scope s, const ModelSizes& sizes, const ReaderOptions& o)
    : options(o), embedding(s / "embedding", sizes.vocabulary, o.embed) {
  if (o.letters > 0) spelling.emplace(s, sizes.alphabet, o.letters);
  if (!o.vectors.empty() && !o.tune_vectors) embedding.weight.freeze();
}

ReaderWords::Output ReaderWords::operator()(
    const ModelInputs& in, const std::function<Tensor(const Tensor&)>& layer) const {
  const Tensor ids = concat({in.text.ids, in.question.ids}, 0);
  const Tensor letters = spelling ? concat({in.letters, in.second_letters}, 0) : Tensor();
  const Distinct words = distinct_rows(
      ids.read<int32_t>(), spelling ? letters.read<int32_t>() : std::span<const int32_t>());
  std::vector<int32_t> list;
  for (int32_t row : words.first) list.push_back(ids.read<int32_t>()[static_cast<size_t>(row)]);
  Tensor x = embedding(ids_of(list));
  if (spelling) {
    const int64_t n = letters.dim(1);
    Tensor spelled({static_cast<int64_t>(words.first.size()), n}, Dtype::i32);
    auto to = spelled.write<int32_t>().begin();
    for (int32_t row : words.first) {
      to = std::ranges::copy(letters.read<int32_t>().subspan(static_cast<size_t>(row * n),
                                                             static_cast<size_t>(n)),
                             to)
               .out;
    }
    x = concat({x, (*spelling)(spelled)}, -1);
  }
  if (layer) x = layer(x);
  x = fovea::embedding(x, ids_of(words.which));
  if (options.word_dropout > 0) {
    x = x * dropout(Tensor::full({x.dim(0), 1}, 1, x.dtype()), options.word_dropout);
  }
  x = dropout(x, options.dropout);
  const int64_t rows = in.text.rows();
  return {slice(x, 0, 0, rows), slice(x, 0, rows, x.dim(0))};
}

Recurrent reader_layers(Scope s, int64_t in, const ReaderOptions& o) {
  return Recurrent(s, in, o.width,
                   {.cell = cell_of(o),
                    .layers = static_cast<int>(o.layers),
                    .bidirectional = o.bidirectional,
                    .dropout = o.dropout});
}

Tensor last_states(const RecurrentStates& last, bool bidirectional) {
  if (!bidirectional) return last.back().h;
  return concat({last[last.size() - 2].h, last.back().h}, -1);
}

}  // namespace fovea
