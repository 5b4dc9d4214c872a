#include "fovea/model/sight/rows.h"

#include "fovea/model/option_lists.h"
#include "fovea/model/sight/conv_net.h"
#include "fovea/model/sight/fully_connected.h"
#include "fovea/model/sight/glimpses.h"
#include "fovea/model/sight/patches.h"

namespace fovea {
namespace {

using Infos = std::vector<FieldInfo>;

template <bool random>
std::unique_ptr<const Network> make_glimpses(Scope s, const ModelSizes& sizes,
                                             const Settings& settings) {
  const GlimpseModelOptions options =
      policy_fields().read(settings, glimpse_fields().read(settings));
  return std::make_unique<const GlimpseClassifier>(s, sizes, options, random);
}

}  // namespace

std::vector<ModelEntry> sight_rows() {
  return {
      {.name = "conv",
       .takes = Takes::picture,
       .gives = Gives::label,
       .title = "Convolutional net with batch norm",
       .paper = "LeCun et al. 1989; Ioffe, Szegedy 2015; He et al. 2015; Howard et al. 2017",
       .equation = "x <- pool(relu(norm(x * W))),  y = W x + b",
       .options = [](const Settings&) { return conv_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const ConvClassifier>(s, sizes, conv_fields().read(settings));
           }},
      {.name = "fc",
       .takes = Takes::picture,
       .gives = Gives::label,
       .title = "Fully connected layers over all pixels",
       .paper = "Rumelhart, Hinton, Williams 1986",
       .equation = "h_i = relu(W_i h_(i-1) + b_i),  y = W h_n + b",
       .options = [](const Settings&) { return fully_connected_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const FullyConnected>(s, sizes,
                                                           fully_connected_fields().read(settings));
           }},
      {.name = "patches",
       .takes = Takes::picture,
       .gives = Gives::label,
       .title = "Transformer over patches of the picture",
       .paper = "Dosovitskiy et al. 2020",
       .equation = "x_p = E patch_p + W_p,  y = V mean_p(encoder(x)_p) + b",
       .defaults = {{"layers", "4"},
                    {"width", "96"},
                    {"heads", "4"},
                    {"dropout", "0.1"},
                    {"optimizer", "adamw"},
                    {"weight_decay", "0.05"},
                    {"schedule", "cosine"},
                    {"warmup", "200"}},
       .options =
           [](const Settings& s) {
             Infos list = joined(patch_fields().infos(), transformer_option_list(s));
             std::erase_if(list, [](const FieldInfo& info) { return info.name == "position"; });
             return list;
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             TransformerOptions options = transformer_options(settings);
             options.position = "none";  // patches learn theirs
             return std::make_unique<const PatchTransformer>(
                 s, sizes, patch_fields().read(settings), options);
           }},
      {.name = "glimpses",
       .takes = Takes::picture,
       .gives = Gives::label,
       .title = "Recurrent attention: looks at a few places, one after the other",
       .paper = "Mnih, Heess, Graves, Kavukcuoglu 2014",
       .equation = "l_t ~ N(tanh(W h_(t-1)), s^2),  h_t = relu(U h_(t-1) + V g(x, l_t)),  "
                   "d E[R] = E[sum_t (R - b_t) d log p(l_t)]",
       .options =
           [](const Settings&) {
             return joined(glimpse_fields().infos(), policy_fields().infos());
           },
       .make = make_glimpses<false>},
      {.name = "random_glimpses",
       .takes = Takes::picture,
       .gives = Gives::label,
       .title = "The same with places that are drawn anywhere, not learned",
       .paper = "Mnih, Heess, Graves, Kavukcuoglu 2014",
       .equation = "l_t uniform,  h_t = relu(U h_(t-1) + V g(x, l_t))",
       .options = [](const Settings&) { return glimpse_fields().infos(); },
       .make = make_glimpses<true>},
  };
}

}  // namespace fovea
