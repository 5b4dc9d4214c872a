#include "fovea/model/transformer/options.h"

#include <algorithm>

namespace fovea {
namespace {

std::vector<std::string> position_names() {
  std::vector<std::string> names;
  for (const Entry& entry : catalog()) {
    if (entry.kind == Entry::Kind::position && entry.positions) names.push_back(entry.name);
  }
  names.push_back("none");
  return names;
}

// How Transformers of tasks start; a library user has the paper's dropout.
TransformerOptions fresh() {
  TransformerOptions o;
  o.layers = 1, o.dropout = 0, o.attention_dropout = 0;
  return o;
}

}  // namespace

const Fields<TransformerOptions>& transformer_fields() {
  using O = TransformerOptions;
  static const Fields<O> fields(
      layer_fields<O>(),
      {{"heads", &O::heads, "heads of multi-head attention", whole_from(1, 1024)},
       {"key_heads", &O::key_heads, "key heads that heads share; 0: each its own",
        whole_from(0, 1024)},
       {"hidden", &O::hidden, "units of the feed-forward; 0: 4 width", whole_from(0, 1 << 20)},
       {"norm", &O::norm, "norms before each part or behind it", one_of({"pre", "post"})},
       {"activation", &O::activation, "of the feed-forward", one_of({"relu", "gelu", "gelu_tanh"})},
       {"attention", &O::self_attention,
        "whom tokens look at: full, window, linear, ... (fovea list)",
        one_of(self_attention_names())},
       {"position", &O::position, "how tokens know their places", one_of(position_names())},
       {"attention_dropout", &O::attention_dropout, "part of the weights dropped", part_of_one()},
       {"recompute", &O::recompute, "less memory, more time"}});
  return fields;
}

const Fields<TransformerOptions>& tied_fields() {
  using O = TransformerOptions;
  static const Fields<O> fields{{"tied", &O::tied, "the output shares the embedding"}};
  return fields;
}

const Fields<TransformerOptions>& shared_fields() {
  using O = TransformerOptions;
  static const Fields<O> fields{
      {"shared", &O::shared, "source and target share tokens and embedding"}};
  return fields;
}

const Fields<TransformerOptions>& transformer_word_fields() {
  static const Fields<TransformerOptions> fields(word_fields(), {});
  return fields;
}

const Fields<InitOptions>& init_fields() {
  static const Fields<InitOptions> fields{
      {"init", &InitOptions::init, "start from the encoder of this mlm model"}};
  return fields;
}

TransformerOptions transformer_options(const Settings& settings) {
  TransformerOptions o = transformer_fields().read(settings, fresh());
  o = shared_fields().read(settings, tied_fields().read(settings, std::move(o)));
  o = transformer_word_fields().read(settings, std::move(o));
  o.attention = attention_fields().read(settings, o.attention);
  o.attention.query = "single";
  return o;
}

std::vector<FieldInfo> transformer_option_list(const Settings& settings, TransformerPart part) {
  std::vector<FieldInfo> list = transformer_fields().infos(fresh());
  const std::string chosen = settings.get("attention", "full");
  const auto names = self_attention_names(part == TransformerPart::decoder);
  for (FieldInfo& info : list) {
    if (info.name == "attention") info.range = one_of(names);
  }
  const auto add = [&list](FieldInfo info) {
    const bool listed = std::ranges::find(list, info.name, &FieldInfo::name) != list.end();
    if (!listed && info.name != "query") list.push_back(std::move(info));
  };
  const auto drop = [&list](std::string_view name) {
    std::erase_if(list, [&](const FieldInfo& info) { return info.name == name; });
  };
  if (std::ranges::find(names, chosen) == names.end() || chosen == "full") {
    for (FieldInfo& info : attention_options(settings, TransformerOptions::scaled())) {
      add(std::move(info));
    }
    return list;
  }
  const Entry& entry = find_entry(Entry::Kind::efficient, chosen);
  drop("key_heads");
  if (!entry.drops_weights && part != TransformerPart::both) drop("attention_dropout");
  for (FieldInfo& info : attention_fields().infos(TransformerOptions::scaled())) {
    const bool read = std::ranges::find(entry.options, info.name) != entry.options.end();
    const bool unread = info.name == "rank" && chosen == "synthesizer" &&
                        settings.get("synthesizer", "dense") != "factorized";
    if (read && !unread) add(std::move(info));
  }
  return list;
}

}  // namespace fovea
