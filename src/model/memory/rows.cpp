#include "fovea/model/memory/rows.h"

#include "fovea/model/memory/end_to_end.h"
#include "fovea/model/memory/entity_network.h"
#include "fovea/model/memory/key_value.h"
#include "fovea/model/memory/memory_network.h"
#include "fovea/model/memory/story_reader.h"
#include "fovea/model/memory/story_transformer.h"
#include "fovea/model/named_attention.h"

namespace fovea {
namespace {

using Infos = std::vector<FieldInfo>;

// Their options, and those that count of how they look: each hop asks with what it has become, so
// that `query` is not theirs to choose.
Infos with_look(Infos list, const Settings& s) {
  for (FieldInfo& info : attention_options(s, dot_attention())) {
    if (info.name != "query") list.push_back(std::move(info));
  }
  return list;
}
AttentionOptions look_of(const Settings& settings) {
  AttentionOptions o = attention_fields().read(settings, dot_attention());
  o.query = "single";
  return o;
}

}  // namespace

std::vector<ModelEntry> memory_rows() {
  return {
      {.name = "memn2n",
       .takes = Takes::story,
       .gives = Gives::choice,
       .title = "End-to-end memory network",
       .paper = "Sukhbaatar, Szlam, Weston, Fergus 2015",
       .equation = "o = sum_i softmax(u . m_i) c_i,  u <- u + o,  p = softmax(W u)",
       .options =
           [](const Settings& s) {
             Infos list = end_to_end_fields().infos();
             // It is noise of times.
             if (!flag_of("times", s.get("times", "true")))
               std::erase_if(list, [](const FieldInfo& info) { return info.name == "noise"; });
             return with_look(std::move(list), s);
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const EndToEndMemory>(
                 s, sizes, end_to_end_fields().read(settings), look_of(settings));
           }},
      {.name = "memnn",
       .takes = Takes::story,
       .gives = Gives::choice,
       .title = "Memory network that learns from supporting facts",
       .paper = "Weston, Chopra, Bordes 2014",
       .equation = "o_h = argmax_i s_O([x, m_o1 ..], m_i),  r = argmax_w s_R([x, m_o1 ..], w)",
       .defaults =
           {{"optimizer", "adam"}, {"rate", "0.01"}, {"momentum", "0"}, {"schedule", "cosine"}},
       .unread = {"smoothing"},
       .options =
           [](const Settings& s) {
             Infos list = memory_network_fields().infos();
             if (s.get("input", "words") == "words")
               std::erase_if(list, [](auto& info) { return info.name == "groups"; });
             return list;
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const MemoryNetwork>(s, sizes,
                                                          memory_network_fields().read(settings));
           }},
      {.name = "kv",
       .takes = Takes::story,
       .gives = Gives::choice,
       .title = "Key-value memory network",
       .paper = "Miller et al. 2016",
       .equation = "o = sum_h softmax(q . A k_h) A v_h,  q <- R_j (q + o),  y = argmax q . B y",
       .defaults = {{"optimizer", "adam"},
                    {"rate", "0.005"},
                    {"width", "64"},
                    {"positions", "false"},
                    {"memory", "1000"},
                    {"hops", "2"}},
       .options = [](const Settings& s) { return with_look(key_value_fields().infos(), s); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const KeyValueMemory>(
                 s, sizes, key_value_fields().read(settings), look_of(settings));
           }},
      {.name = "entnet",
       .takes = Takes::story,
       .gives = Gives::choice,
       .title = "Recurrent entity network",
       .paper = "Henaff, Weston, Szlam, Bordes, LeCun 2017",
       .equation = "g_j = sigmoid(s . h_j + s . w_j),  h_j <- unit(h_j + g_j phi(U h_j + V s + W "
                   "w_j)),  y = R phi(q + H sum_j p_j h_j)",
       .defaults = {{"optimizer", "adam"}, {"rate", "0.01"}, {"schedule", "cosine"}},
       .options = [](const Settings& s) { return with_look(entity_fields().infos(), s); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const EntityNetwork>(s, sizes, entity_fields().read(settings),
                                                          look_of(settings));
           }},
      {.name = "rnn",
       .takes = Takes::story,
       .gives = Gives::choice,
       .title = "Recurrent layers over story and question",
       .paper = "Hochreiter, Schmidhuber 1997",
       .equation = "p = softmax(W lstm(story, question))",
       .defaults = {{"optimizer", "adam"},
                    {"rate", "0.002"},
                    {"cell", "lstm"},
                    {"embed", "50"},
                    {"width", "50"}},
       .options = [](const Settings&) { return story_reader_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const StoryReader>(s, sizes,
                                                        story_reader_fields().read(settings));
           }},
      {.name = "transformer",
       .takes = Takes::story,
       .gives = Gives::choice,
       .title = "Transformer over story and question",
       .paper = "Vaswani et al. 2017; Devlin, Chang, Lee, Toutanova 2019",
       .equation = "p = softmax(W mean(encoder(story, question) at the question))",
       .defaults = {{"width", "64"},
                    {"layers", "2"},
                    {"optimizer", "adam"},
                    {"rate", "0.001"},
                    {"clip", "1"}},
       .options = [](const Settings& s) { return transformer_option_list(s); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             TransformerOptions o = transformer_options(settings);
             o.longest = sizes.longest;
             return std::make_unique<const StoryTransformer>(s, sizes, o);
           }},
  };
}

}  // namespace fovea
