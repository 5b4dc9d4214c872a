#include "fovea/model/machine/rows.h"

#include "fovea/model/machine/random_access.h"
#include "fovea/model/machine/stack_machine.h"
#include "fovea/model/machine/stack_rnn.h"
#include "fovea/model/machine/step_baselines.h"
#include "fovea/model/machine/turing_machine.h"

namespace fovea {
namespace {

using Infos = std::vector<FieldInfo>;

AttentionOptions turing_attention() {
  AttentionOptions o;
  o.score = turing_score;
  return o;
}

ModelEntry stack_row(const std::string& name, StackKind kind, const std::string& title,
                     const std::string& equation) {
  return {.name = name,
          .takes = Takes::steps,
          .gives = Gives::steps,
          .title = title,
          .paper = "Grefenstette, Hermann, Suleyman, Blunsom 2015",
          .equation = equation,
          .defaults = {{"width", "64"},
                       {"optimizer", "adam"},
                       {"rate", "0.003"},
                       {"batch", "10"},
                       {"clip", "1"}},
          .options = [](const Settings&) { return stack_machine_fields().infos(); },
          .make =
              [kind](Scope s, const ModelSizes& sizes, const Settings& settings) {
                return std::make_unique<const StackMachine>(s, sizes, kind,
                                                            stack_machine_fields().read(settings));
              }};
}

}  // namespace

std::vector<ModelEntry> machine_rows() {
  return {
      {.name = "ntm",
       .takes = Takes::steps,
       .gives = Gives::steps,
       .title = "Neural Turing Machine",
       .paper = "Graves, Wayne, Danihelka 2014",
       .equation = "w = sharpen(shift(g softmax(b cos(k, M_i)) + (1 - g) w)),  r = sum_i w_i M_i,  "
                   "M_i <- M_i (1 - w_i e) + w_i a",
       .defaults = {{"optimizer", "adam"},
                    {"rate", "0.001"},
                    {"schedule", "cosine"},
                    {"clip", "10"},
                    {"batch", "16"}},
       .options =
           [](const Settings& s) {
             Infos list = turing_fields().infos();
             for (FieldInfo& info : attention_options(s, turing_attention())) {
               if (info.name != "query" && info.name != "beta") list.push_back(std::move(info));
             }
             return list;
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const TuringMachine>(
                 s, sizes, turing_fields().read(settings),
                 attention_fields().read(settings, turing_attention()));
           }},
      stack_row("stack", StackKind::stack, "Controller with a neural stack",
                "s_i <- max(0, s_i - max(0, u - sum_j>i s_j)),  r = sum_i min(s_i, max(0, 1 - "
                "sum_j>i s_j)) v_i"),
      stack_row("queue", StackKind::queue, "Controller with a neural queue",
                "s_i <- max(0, s_i - max(0, u - sum_j<i s_j)),  r = sum_i min(s_i, max(0, 1 - "
                "sum_j<i s_j)) v_i"),
      stack_row("deque", StackKind::deque, "Controller with a neural deque",
                "a stack's and a queue's pops, pushes and reads, at both ends"),
      {.name = "stack_rnn",
       .takes = Takes::steps,
       .gives = Gives::steps,
       .title = "Stack-augmented recurrent network",
       .paper = "Joulin, Mikolov 2015",
       .equation = "h = sigmoid(U x + R h + P s_0:1),  s_i <- a_push s_i-1 + a_pop s_i+1 + a_none "
                   "s_i,  a = softmax(A h)",
       // The great eps keeps steps small where the gradient is.
       .defaults = {{"optimizer", "adam"},
                    {"rate", "0.01"},
                    {"eps", "0.01"},
                    {"batch", "8"},
                    {"clip", "1"}},
       .options = [](const Settings&) { return stack_rnn_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const StackRnn>(s, sizes, stack_rnn_fields().read(settings));
           }},
      {.name = "nram",
       .takes = Takes::steps,
       .gives = Gives::steps,
       .title = "Neural random-access machine",
       .paper = "Kurach, Andrychowicz, Sutskever 2016",
       .equation = "registers, cells: distributions;  module(sum_j c_j v_j, ..);  L = - sum_t p_t "
                   "sum_i log M_t[i, y_i]",
       .defaults = {{"optimizer", "adam"}, {"rate", "0.03"}, {"batch", "16"}, {"clip", "1"}},
       .unread = {"smoothing"},
       .options =
           [](const Settings& s) {
             Infos list = random_access_fields().infos();
             if (random_access_fields().read(s).machine_steps > 0)
               std::erase_if(list, [](const FieldInfo& f) { return f.name == "cell_steps"; });
             return list;
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const RandomAccessMachine>(
                 s, sizes, random_access_fields().read(settings));
           }},
      {.name = "rnn",
       .takes = Takes::steps,
       .gives = Gives::steps,
       .title = "Recurrent layers",
       .paper = "Hochreiter, Schmidhuber 1997",
       .equation = "h_t = lstm(x_t, h_t-1),  y_t = W h_t + b",
       .defaults = {{"width", "256"},
                    {"optimizer", "adam"},
                    {"rate", "0.001"},
                    {"batch", "16"},
                    {"clip", "1"}},
       .options = [](const Settings&) { return step_recurrent_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const StepRecurrent>(s, sizes,
                                                          step_recurrent_fields().read(settings));
           }},
      {.name = "transformer",
       .takes = Takes::steps,
       .gives = Gives::steps,
       .title = "Transformer that looks back on the steps",
       .paper = "Vaswani et al. 2017",
       .equation = "y_t = W decoder(x_1 .. x_t) + b",
       .defaults = {{"width", "64"},
                    {"layers", "2"},
                    {"dropout", "0"},
                    {"attention_dropout", "0"},
                    {"optimizer", "adam"},
                    {"rate", "0.001"},
                    {"batch", "16"},
                    {"clip", "1"}},
       .options =
           [](const Settings& s) { return transformer_option_list(s, TransformerPart::decoder); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             TransformerOptions o = transformer_options(settings);
             o.longest = sizes.longest;
             return std::make_unique<const StepTransformer>(s, sizes, o);
           }},
  };
}

}  // namespace fovea
