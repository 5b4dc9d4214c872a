#include "fovea/model/reader/bidaf.h"

#include "fovea/attention/engine.h"
#include "fovea/attention/feature/parallel.h"
#include "fovea/attention/score/trilinear.h"
#include "fovea/model/recurrent/encoder.h"

namespace fovea {
namespace {

RecurrentOptions both_ways(const BidafOptions& o, int64_t layers) {
  return {.cell = cell_of(o),
          .layers = static_cast<int>(layers),
          .bidirectional = true,
          .dropout = o.dropout};
}

// Two lists of sequences as one.
Tensor joined_offsets(const Tensor& a, const Tensor& b) {
  Tensor all({a.dim(0) + b.dim(0) - 1}, Dtype::i32);
  const auto first = a.read<int32_t>(), second = b.read<int32_t>();
  auto to = std::ranges::copy(first, all.write<int32_t>().begin()).out;
  for (size_t i = 1; i < second.size(); ++i) *to++ = first.back() + second[i];
  return all;
}

}  // namespace

const Fields<BidafOptions>& bidaf_fields() {
  using O = BidafOptions;
  static const Fields<O> fields = [] {
    std::vector<Fields<O>::Field> list;
    const Fields<O> all(reader_fields(), {});
    for (const auto& field : all.list()) {
      if (field.name != "bidirectional") list.push_back(field);
    }
    return Fields<O>(
        std::move(list),
        {{"highway", &O::highway, "highway layers between words and states", whole_from(0, 64)}});
  }();
  return fields;
}

Bidaf::Bidaf(Scope s, const ModelSizes& sizes, const BidafOptions& o)
    : options_(o),
      words_(s / "encoder", sizes, o),
      context_(s / "context", words_.features(), o.width, both_ways(o, 1)),
      similarity_(trilinear_score(s / "flow", 2 * o.width)),
      modelling_(s / "modelling", 8 * o.width, o.width, both_ways(o, o.layers)),
      ending_(s / "ending", 2 * o.width, o.width, both_ways(o, 1)),
      from_flow_(s / "from_flow", 8 * o.width, 2),
      from_modelling_(s / "from_modelling", 2 * o.width, 1, {.bias = false}),
      from_ending_(s / "from_ending", 2 * o.width, 1, {.bias = false}),
      path_(s.path().empty() ? "" : s.path() + "/") {
  for (int64_t i = 0; i < o.highway; ++i) {
    highway_.emplace_back(s / "highway" / i, words_.features());
  }
  if (sizes.labels == may_be_unanswered) nothing_.emplace(s / "nothing", 4 * o.width, 2);
}

Bidaf::Flow Bidaf::flow(const Tensor& h, const Tensor& u, const ModelInputs& in) const {
  const int64_t B = in.text.count(), T = in.text.longest, J = in.question.longest, d = h.dim(1);
  const Features passage{unpack(h, in.text.offsets, T), in.text.lengths()},
      question{unpack(u, in.question.offsets, J), in.question.lengths()};
  AttentionInputs words;
  words.q = reshape(passage.rows, {B, T, 1, d});
  words.k = words.v = reshape(question.rows, {B, J, 1, d});
  words.who = lengths(question.lengths);
  words.name = path_ + "flow/passage_to_question";
  const Tensor asked = pack(reshape(attend(words, similarity_).context, {B, T, d}),
                            in.text.offsets);  // u~
  // max_j S is one more score: its query is 1.
  const Tensor largest = largest_scores(passage, question, similarity_);
  AttentionInputs whole;
  whole.q = Tensor::full({B, 1, 1, 1}, 1, h.dtype());
  whole.k = reshape(largest, {B, T, 1, 1});
  whole.v = reshape(passage.rows, {B, T, 1, d});
  whole.who = lengths(passage.lengths);
  whole.name = path_ + "flow/question_to_passage";
  const Tensor summary = reshape(attend(whole, dot_score()).context, {B, d});  // h~
  const Tensor beside = embedding(summary, in.text.owners());
  return {concat({h, asked, h * asked, h * beside}, -1), summary};
}

SpanReader::Output Bidaf::operator()(const ModelInputs& in) const {
  const ReaderWords::Output x = words_(in, [&](const Tensor& words) {
    Tensor y = words;
    for (const Highway& layer : highway_) y = layer(y);
    return y;
  });
  const Tensor states = context_({.x = concat({x.passage, x.question}, 0),
                                  .offsets = joined_offsets(in.text.offsets, in.question.offsets)})
                            .y;
  const int64_t rows = in.text.rows();
  const Flow f = flow(slice(states, 0, 0, rows), slice(states, 0, rows, states.dim(0)), in);
  const Tensor& offsets = in.text.offsets;
  const Tensor g = dropout(f.g, options_.dropout);
  const Tensor m = dropout(modelling_({.x = g, .offsets = offsets}).y, options_.dropout);
  const Tensor last = dropout(ending_({.x = m, .offsets = offsets}).y, options_.dropout);
  const Tensor both = from_flow_(g);  // [rows, 2]
  Tensor nothing;
  if (nothing_) nothing = (*nothing_)(concat({f.summary, mean_rows(m, in.text)}, -1));
  const auto column = [&](int64_t i) {
    return nothing.empty() ? Tensor() : slice(nothing, 1, i, i + 1);
  };
  return {span_scores(slice(both, 1, 0, 1) + from_modelling_(m), in.text, column(0)),
          span_scores(slice(both, 1, 1, 2) + from_ending_(last), in.text, column(1))};
}

}  // namespace fovea
