#include "fovea/task/config.h"

#include <nlohmann/json.hpp>

namespace fovea {
namespace {

Cell cell_of(const std::string& name) {
  const std::vector<std::string> names{"rnn", "gru", "lstm"};
  if (name == names[0]) return Cell::rnn;
  if (name == names[1]) return Cell::gru;
  check(name == names[2], unknown_name("cell", name, names));
  return Cell::lstm;
}

}  // namespace

const Fields<Config>& config_fields() {
  using C = Config;
  static const std::string data = "Data", model = "Model", attention = "Attention",
                           training = "Training", budget = "Budget", answers = "Answers";
  static const Fields<C> fields{
      {"data", &C::data, "a file, two parallel files a,b or builtin:NAME", data},
      {"dev", &C::dev, "file to validate on; else a part of the data", data},
      {"test", &C::test, "file that eval measures on; else a part of the data", data},
      {"dev_part", &C::dev_part, "part of the data to validate on, without dev", data},
      {"test_part", &C::test_part, "part of the data to test on, without test", data},
      {"examples", &C::examples, "built-in data: how many examples; 0: what suits it", data},
      {"tokens", &C::tokens, "words, spaces (tokenised text), chars, bytes, bpe:N, unigram:N",
       data},
      {"target_tokens", &C::target_tokens, "tokens of the target, if not the same", data},
      {"lowercase", &C::lowercase, "lower-case all text", data},
      {"min_count", &C::min_count, "tokens that come less often are unknown", data},
      {"vocabulary", &C::vocabulary, "most tokens; 0: all", data},
      {"longest", &C::longest, "longer examples (in tokens) are left out; classify: cut", data},
      {"column", &C::column, "label: column of the tags; classify: of label and text, as 1,4",
       data},
      {"context", &C::context, "lm: tokens of a window of text", data},
      {"bleu", &C::bleu, "words that BLEU counts: 13a, or none where already spaced", data},
      {"model", &C::model, "kind of model: rnn or transformer", model},
      {"init", &C::init, "label, classify: start from the encoder of this mlm model", model},
      {"cell", &C::cell, "rnn, gru or lstm", model},
      {"layers", &C::layers, "layers, one above the other", model},
      {"embed", &C::embed, "features of a token", model},
      {"width", &C::width, "units of a layer", model},
      {"bidirectional", &C::bidirectional, "encode in both directions", model},
      {"dropout", &C::dropout, "part of the features dropped while training", model},
      {"summary", &C::summary, "without attention: last, activated, mean; classify: max", model},
      {"input_feeding", &C::input_feeding, "the decoder sees its last output", model},
      {"letters", &C::letters, "label: features made of a word's letters; 0: none", model},
      {"heads", &C::heads, "transformer: heads", model},
      {"key_heads", &C::key_heads, "transformer: key heads that heads share; 0: each its own",
       model},
      {"hidden", &C::hidden, "transformer: units of the feed-forward; 0: 4 width", model},
      {"norm", &C::norm, "transformer: pre or post", model},
      {"activation", &C::activation, "transformer: relu, gelu or gelu_tanh", model},
      {"position", &C::position,
       "transformer: sinusoidal, learned, rotary, alibi, shaw, t5 or none", model},
      {"attention_dropout", &C::attention_dropout, "transformer: of the weights", model},
      {"tied", &C::tied, "transformer: the output shares the embedding", model},
      {"shared", &C::shared, "transformer: source and target share tokens and embedding", model},
      {"recompute", &C::recompute, "transformer: less memory, more time", model},
      {"score", &C::score, "score of the attention (fovea list), or none", attention},
      {"align", &C::align, "alignment of the attention (fovea list)", attention},
      {"score_width", &C::score_width, "hidden features of additive scores", attention},
      {"act", &C::act, "activation of scores: tanh, sigmoid or relu", attention},
      {"beta", &C::beta, "sharpness of the cosine score, its first value", attention},
      {"kernel_width", &C::kernel_width, "width of the kernel score, its first value", attention},
      {"longest_keys", &C::longest_keys, "keys that a location score serves", attention},
      {"alpha", &C::alpha, "of entmax, in (1, 2]", attention},
      {"reach", &C::reach, "keys that a local window reaches to each side", attention},
      {"time", &C::time, "train so long: 90s, 5m, 2h", budget},
      {"steps", &C::steps, "train so many steps", budget},
      {"epochs", &C::epochs, "train so many times through the data", budget},
      {"early_stop", &C::early_stop, "stop after so many validations without a better", budget},
      {"batch", &C::batch, "examples a batch", training},
      {"batch_tokens", &C::batch_tokens, "most tokens a batch; 0: no limit", training},
      {"accumulate", &C::accumulate, "batches that make one step", training},
      {"optimizer", &C::optimizer, "adam, adamw, sgd, adadelta or rmsprop", training},
      {"rate", &C::rate, "learning rate", training},
      {"beta1", &C::beta1, "of adam", training},
      {"beta2", &C::beta2, "of adam", training},
      {"eps", &C::eps, "of adam, adadelta and rmsprop", training},
      {"momentum", &C::momentum, "of sgd", training},
      {"rho", &C::rho, "of adadelta and rmsprop", training},
      {"centred", &C::centred, "rmsprop takes the mean gradient off", training},
      {"weight_decay", &C::weight_decay, "decay of the weights", training},
      {"schedule", &C::schedule, "constant, inverse_sqrt, cosine, linear, step, plateau", training},
      {"warmup", &C::warmup, "steps in which the rate rises to its value", training},
      {"decay", &C::decay, "factor of the schedules step and plateau", training},
      {"decay_every", &C::decay_every, "steps between decays of the schedule step", training},
      {"patience", &C::patience, "validations that the schedule plateau waits", training},
      {"floor", &C::floor, "least factor of a schedule", training},
      {"clip", &C::clip, "longest gradient; 0: any", training},
      {"smoothing", &C::smoothing, "label smoothing", training},
      {"validate_every", &C::validate_every, "steps between validations; 0: epochs", training},
      {"validate_examples", &C::validate_examples, "validate on so many; 0: all", training},
      {"keep_best", &C::keep_best, "keep the best weights rather than the last", training},
      {"average", &C::average, "keep the mean of the weights at so many last validations; 0: off",
       training},
      {"save_every", &C::save_every, "seconds between states to resume from", training},
      {"tensorboard", &C::tensorboard, "write TensorBoard's event files", training},
      {"seed", &C::seed, "of first values, order and dropout", training},
      {"beam", &C::beam, "answers followed at once; 1 is greedy", answers},
      {"length_penalty", &C::length_penalty, "favours longer answers", answers},
      {"length", &C::length, "lm: tokens that continue a prompt", answers},
      {"temperature", &C::temperature, "lm: below 1 bolder, 0 always the likeliest", answers},
      {"top_k", &C::top_k, "lm: draw from so many likeliest tokens; 0: all", answers},
      {"top_p", &C::top_p, "lm: draw from the likeliest tokens of this share", answers},
  };
  return fields;
}

nlohmann::json to_json(const Config& config) {
  nlohmann::json json;
  config_fields().each(config,
                       [&](const auto& field, const auto& value) { json[field.name] = value; });
  return json;
}

void from_json(const nlohmann::json& json, Config& config) {
  check(json.is_object(), "config: needs an object of options");
  for (const auto& [name, value] : json.items()) {
    check(config_fields().has(name), "config: unknown option '", name, "'");
  }
  config_fields().each(config, [&](const auto& field, auto& value) {
    const auto found = json.find(field.name);
    if (found == json.end()) return;
    try {
      found->get_to(value);
    } catch (const nlohmann::json::exception&) {
      fail("config: option '", field.name, "' cannot be ", found->dump());
    }
  });
}

RecurrentModelOptions recurrent_options(const Config& c) {
  for (const auto& [name, value] :
       {std::pair("layers", c.layers), {"embed", c.embed}, {"width", c.width}}) {
    check(value >= 1, "option '", name, "' must be at least 1, got ", value);
  }
  check(c.dropout >= 0 && c.dropout < 1, "option 'dropout' must be in [0, 1), got ", c.dropout);
  return {.cell = cell_of(c.cell),
          .layers = c.layers,
          .embed = c.embed,
          .width = c.width,
          .bidirectional = c.bidirectional,
          .dropout = c.dropout};
}

AttentionChoice attention_choice(const Config& c) {
  MechanismOptions options;
  options.width = c.score_width;
  options.act = c.act;
  options.beta = c.beta;
  options.h = c.kernel_width;
  options.longest = c.longest_keys;
  options.alpha = c.alpha;
  options.reach = c.reach;
  return {.score = c.score, .align = c.align, .options = options};
}

bool is_transformer(const Config& c) {
  const std::vector<std::string> models{"rnn", "transformer"};
  check(std::ranges::find(models, c.model) != models.end(), unknown_name("model", c.model, models));
  return c.model == "transformer";
}

TransformerOptions transformer_options(const Config& c) {
  const std::vector<std::string> norms{"pre", "post"};
  check(c.norm == "pre" || c.norm == "post", unknown_name("norm", c.norm, norms));
  const RecurrentModelOptions checked = recurrent_options(c);  // sizes that both have
  TransformerOptions o;
  o.layers = checked.layers;
  o.width = checked.width;
  o.heads = c.heads;
  o.key_heads = c.key_heads;
  o.hidden = c.hidden;
  o.pre_norm = c.norm == "pre";
  o.activation = c.activation;
  o.dropout = c.dropout;
  o.attention_dropout = c.attention_dropout;
  o.position = c.position;
  o.longest = c.longest + 2;
  o.attention = attention_choice(c);
  o.tied = c.tied;
  o.shared = c.shared;
  o.recompute = c.recompute;
  return o;
}

}  // namespace fovea
