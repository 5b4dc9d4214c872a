#include "fovea/model/pair/pair_classifier.h"

#include "fovea/op/reduce.h"

namespace fovea {
namespace {

// Each text by itself, both with the same query: what attention between them must beat.
FeatureMechanism siamese(Scope s, const AttentionOptions& o) {
  const Parameter query = s.param("query", {o.d_k}, init::normal(0.1));
  Pooling first(s, o.d_k, o.d_k, feature_options(o));
  Pooling second = first;  // the same parameters, another map
  first.name = s.path() + "/first";
  second.name = s.path() + "/second";
  return [query, first, second](std::span<const Features> in) {
    const Tensor asked = broadcast_to(query, {in[0].rows.dim(0), query.dim(0)});
    FeatureOutput both;
    const Tensor c_1 = first(asked, in[0], both), c_2 = second(asked, in[1], both);
    both.contexts = {c_1, c_2};
    return both;
  };
}

// Contexts of the mechanism: coarse and fine ones of both texts, or one of each.
int64_t contexts_of(const std::string& mechanism) { return mechanism == "multi_grained" ? 4 : 2; }

FeatureMechanism between(Scope s, const std::string& mechanism, AttentionOptions o, int64_t d) {
  o.d_q = o.d_k = o.d_v = d;
  if (mechanism == "siamese") return siamese(s, o);
  const Entry& entry = find_entry(Entry::Kind::feature, mechanism);
  check(entry.inputs == 2, "pair: '", mechanism, "' is not attention between two inputs");
  return entry.features(s, o);
}

}  // namespace

PairClassifier::PairClassifier(Scope s, Takes takes, const std::string& mechanism,
                               const ModelSizes& sizes, const PairOptions& o,
                               const AttentionOptions& attention)
    : takes_(takes),
      options_(o),
      encoder_(s / "encoder", sizes.vocabulary, o, o.match && sizes.features == 0),
      attention_(between(s / "attention", mechanism, attention, encoder_.features())),
      output_(s / "output",
              takes == Takes::pair ? o.width : contexts_of(mechanism) * encoder_.features(),
              sizes.labels) {
  if (takes != Takes::pair) return;
  if (sizes.features > 0) record_.emplace(s / "record", sizes.features, encoder_.features());
  hidden_.emplace(s / "hidden", 2 * contexts_of(mechanism) * encoder_.features(), o.width);
}

Scorer::Output PairClassifier::operator()(const ModelInputs& in) const {
  const auto encoded = [&]() -> TwoTexts {
    if (record_) return {features_of({encoder_(in.text), in.text}), (*record_)(in.numbers)};
    return takes_ == Takes::pair ? encode_pair(encoder_, in)
                                 : encode_sentence_and_phrase(encoder_, in, options_.whole);
  };
  const TwoTexts both = encoded();
  const FeatureOutput read = attention_(std::vector{both.first, both.second});
  Tensor y = read.joined();
  if (hidden_) {
    std::vector<Tensor> parts{y};
    for (size_t i = 0; i + 1 < read.contexts.size(); i += 2) {
      const Tensor &a = read.contexts[i], &b = read.contexts[i + 1], apart = a - b;
      parts.push_back(maximum(apart, -apart));
      parts.push_back(a * b);
    }
    y = concat(parts, -1);
    y = tanh((*hidden_)(dropout(y, options_.dropout)));
  }
  return {output_(dropout(y, options_.dropout)), read.log_probability};
}

}  // namespace fovea
