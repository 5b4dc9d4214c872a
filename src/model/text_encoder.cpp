#include "fovea/model/text_encoder.h"

#include "fovea/attention/catalog.h"

namespace fovea {
namespace {

TransformerOptions transformer_options_of(const TextEncoderOptions& o) {
  TransformerOptions t;
  static_cast<WordOptions&>(t) = o;
  t.layers = o.layers, t.width = o.width, t.heads = o.heads, t.hidden = o.hidden;
  t.dropout = o.dropout, t.attention_dropout = o.attention_dropout;
  t.position = o.position, t.longest = o.longest;
  return t;
}

}  // namespace

const Fields<TextEncoderOptions>& text_encoder_fields() {
  using O = TextEncoderOptions;
  static const Fields<O> fields = [] {
    std::vector<Fields<O>::Field> all{
        {"encoder", &O::encoder, "what reads the words", one_of({"rnn", "transformer"})}};
    const Fields<O> recurrent(recurrent_fields(), {});
    all.insert(all.end(), recurrent.list().begin(), recurrent.list().end());
    const auto of_transformer = [](const char* name) {
      return std::ranges::find(transformer_fields().list(), name,
                               &Fields<TransformerOptions>::Field::name);
    };
    const auto add = [&](const char* name, Fields<O>::Member member) {
      const auto found = of_transformer(name);
      all.push_back({name, member, found->help, found->range});
    };
    add("heads", &O::heads);
    add("hidden", &O::hidden);
    add("attention_dropout", &O::attention_dropout);
    add("position", &O::position);
    return Fields<O>(std::move(all), {});
  }();
  return fields;
}

std::vector<FieldInfo> without_idle_encoder(std::vector<FieldInfo> list, const Settings& settings) {
  const bool transformer = settings.get("encoder", "rnn") == "transformer";
  const std::vector<std::string> idle =
      transformer ? std::vector<std::string>{"cell", "embed", "bidirectional"}
                  : std::vector<std::string>{"heads", "hidden", "attention_dropout", "position"};
  std::erase_if(list, [&](const FieldInfo& info) {
    return std::ranges::find(idle, info.name) != idle.end();
  });
  return list;
}

TextEncoder::TextEncoder(Scope s, int64_t vocabulary, const TextEncoderOptions& o, bool with_marks)
    : word_dropout(o.word_dropout), marked(with_marks) {
  if (o.recurrent()) {
    recurrent.emplace(s, vocabulary, o, marked ? 1 : 0);
  } else {
    transformer.emplace(s, vocabulary, transformer_options_of(o), TransformerBlock::Kind::encoder);
    if (marked) mark = s.param("mark", {o.width}, init::normal(1));
  }
}

Tensor TextEncoder::operator()(const Sequences& tokens, const Tensor& marks) const {
  if (recurrent) return (*recurrent)(tokens, marks).rows;
  Tensor x = transformer->embed(tokens);
  if (word_dropout > 0) {
    x = x * dropout(Tensor::full({tokens.rows(), 1}, 1, x.dtype()), word_dropout);
  }
  if (mark) x = x + marks * *mark;
  return transformer->over(x, tokens);
}

int64_t TextEncoder::features() const {
  return recurrent ? recurrent->features() : transformer->options.width;
}

Dtype TextEncoder::dtype() const {
  if (recurrent) return recurrent->embedding.dtype();
  return transformer->words ? transformer->words->dtype() : transformer->embedding.weight.dtype();
}

RowEncoder::RowEncoder(Scope s, int64_t in, const TextEncoderOptions& o) {
  if (o.recurrent()) {
    recurrent.emplace(s, in, o.width,
                      RecurrentOptions{.cell = cell_of(o), .bidirectional = o.bidirectional});
    return;
  }
  if (in != o.width) project.emplace(s / "project", in, o.width);
  TransformerOptions t = transformer_options_of(o);
  t.layers = 1;
  transformer.emplace(s, 0, t, TransformerBlock::Kind::encoder);
}

Tensor RowEncoder::operator()(const RaggedRows& rows) const {
  if (recurrent) return (*recurrent)({.x = rows.values, .offsets = rows.offsets}).y;
  return transformer->over(project ? (*project)(rows.values) : rows.values, rows);
}

}  // namespace fovea
