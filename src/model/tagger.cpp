#include "fovea/model/tagger.h"

#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"

namespace fovea {

namespace {
constexpr int64_t letter_features = 32;
}

Tagger::Tagger(Scope s, int64_t vocabulary, int64_t alphabet_size, int64_t labels,
               const TaggerOptions& o)
    : options(o),
      encoder(s / "encoder", vocabulary, o.recurrent, o.letters),
      output(s / "output", encoder.features() * (o.attention.score == "none" ? 1 : 2), labels) {
  if (o.letters > 0) {
    alphabet.emplace(s / "alphabet", alphabet_size, letter_features);
    spelling.emplace(s / "spelling", letter_features, o.letters, 3, Conv1dOptions{.padding = 1});
  }
  if (o.attention.score != "none") {
    attention.emplace(s / "attention", o.attention, encoder.features(), encoder.features());
  }
}

Tensor Tagger::operator()(const Sequences& words, const Tensor& letters, Random* random) const {
  Tensor spelled;
  if (spelling) spelled = max(relu((*spelling)((*alphabet)(letters))), 1);
  Tensor states = encoder(words, random, spelled).rows;
  if (attention) {
    const Tensor x = unpack(states, words.offsets, words.longest);
    const Tensor context =
        (*attention)({.q = x, .memory = x, .lengths = words.lengths(), .random = random}).context;
    states = concat({states, pack(context, words.offsets)}, -1);
  }
  return output(maybe_dropout(states, options.recurrent.dropout, random));
}

}  // namespace fovea
