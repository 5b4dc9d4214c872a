// fovea bench attention: the engine against the machine's own limit, in one run.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/app/bench/race.h"
#include "fovea/app/cli/bench_scale.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/attention/catalog.h"
#include "fovea/attention/engine.h"
#include "fovea/base/names.h"
#include "fovea/model/transformer/options.h"
#include "fovea/op/tape.h"

namespace fovea::cli {
namespace {

struct BenchWords {
  std::string what, only;
  double seconds = 2;
  bool named = false;               // one mechanism, whose sizes or parts were said
  std::vector<std::string> said{};  // names of all options that were
  bool json = false;
  // A mechanism of the catalogue, when one is named.
  Settings mechanism;
  std::string position, feature, attention;
  int64_t keys = 512, queries = 0, heads = 8, features = 64, batch = 1;
  bool causal = false;
  ScaleWords scale;
};

// One attention problem at D = 64: n queries and keys, B x H heads.
struct Problem {
  AttentionInputs in;
  Tensor dy;
  double pairs;  // of a query and a key it may look at, all heads

  Problem(int64_t B, int64_t H, int64_t n)
      : in{.q = parameter(bench::uniform({B, n, H, 64}, 1)),
           .k = parameter(bench::uniform({B, n, H, 64}, 2)),
           .v = parameter(bench::uniform({B, n, H, 64}, 3))},
        dy(bench::uniform({B, n, H, 64}, 4)),
        pairs(static_cast<double>(B * H * n * n)) {}
  double flops() const { return 4.0 * 64 * pairs; }  // forward; backward counts 2.5 times that
  void forward() const { attend(in); }
  void both() const {
    Random random(1);
    Tape tape(random);
    tape.backward(attend(in).context, dy);
  }
};

void bench_attention(bench::Race& race) {
  auto forward = [&](const std::string& name, Problem p) {
    race.against_gemm(name, p.flops(), [&] { p.forward(); });
  };
  auto both = [&](const std::string& name, Problem p) {
    race.against_gemm(name, 3.5 * p.flops(), [&] { p.both(); });
  };
  auto with_causal = [](Problem p) {
    const auto n = static_cast<double>(p.in.q.dim(1));
    p.in.who = causal();
    p.pairs *= (n + 1) / (2 * n);
    return p;
  };
  for (int64_t n : {1024, 4096}) {
    forward(fmt::format("forward, n {}, 12 heads", n), {1, 12, n});
    both(fmt::format("forward+backward, n {}, 12 heads", n), {1, 12, n});
  }
  forward("forward, n 128, 64 batch x heads", {8, 8, 128});
  both("forward+backward, n 128, 64 batch x heads", {8, 8, 128});
  forward("causal forward, n 4096, 12 heads", with_causal({1, 12, 4096}));
  both("causal forward+backward, n 4096, 12 heads", with_causal({1, 12, 4096}));
  {
    Problem p(1, 12, 1024);
    p.in.bias = parameter(bench::uniform({1, 12, 1024, 1024}, 5));
    both("bias forward+backward, n 1024, 12 heads", p);
  }
  {
    Problem p(1, 12, 1024);
    p.in.dropout = 0.1;
    both("dropout forward+backward, n 1024, 12 heads", p);
  }
  {
    Problem plain(1, 2, 4096), seen = plain;  // few heads: more rounds
    seen.in.capture.what = Capture::What::summary;
    race.against_each_other(
        "forward without / with summary, n 4096", [&] { seen.forward(); },
        [&] { plain.forward(); });
  }
  {
    const int64_t n = 16384, H = 8;
    const AttentionInputs step{.q = bench::uniform({1, 1, H, 64}, 1),
                               .k = bench::uniform({1, n, H, 64}, 2),
                               .v = bench::uniform({1, n, H, 64}, 3)};
    race.against_memory("decode 1 query, 8 heads, 16384 keys (GB/s)", 2.0 * n * H * 64 * 4,
                        [&] { attend(step); });
  }
  // No result can pass this one: how much of the machine sgemm itself uses.
  race.against_gemm("multiplications in registers, no memory", kernel::limit_multiply_operations(),
                    [] { kernel::limit_multiply(); });
}

// An entry that pools whole inputs, one query for each. It must read every row once, so memory is
// what it is measured against.
void bench_pooling(bench::Race& race, const BenchWords& words, const Entry& entry,
                   const AttentionOptions& o) {
  Parameters parameters(1);
  const FeatureMechanism pool = entry.features(Scope(parameters) / "attention", o);
  const Tensor lengths = Tensor::full({words.batch}, static_cast<double>(words.keys), Dtype::i32);
  std::vector<Features> in;
  for (int i = 0; i < entry.inputs; ++i) {
    in.push_back(
        {parameter(bench::uniform({words.batch, words.keys, words.features}, 1 + i)), lengths});
  }
  const Tensor dy = bench::uniform(pool(in).joined().shape(), 9);
  const double bytes = 4.0 * static_cast<double>(in[0].rows.elements()) * entry.inputs;
  const std::string parts = words.feature.empty() ? "" : say(" ", o.score, " ", o.align);
  const std::string name = entry.name + parts + " (GB/s)";
  race.against_memory("forward, " + name, bytes, [&] { pool(in); });
  race.against_memory("forward+backward, " + name, 3 * bytes, [&] {
    Random random(1);
    Tape tape(random);
    tape.backward(pool(in).joined(), dy);
  });
}

// Of queries that may look at all keys, or at those before them: how many pairs there are.
double pairs_of(int64_t queries, int64_t keys, bool causal) {
  const auto m = static_cast<double>(queries), n = static_cast<double>(keys);
  if (!causal) return m * n;
  const double looking = std::min(m, n);  // queries before the first key look at nothing
  return looking * n - looking * (looking - 1) / 2;
}

// The entry that pools whole inputs, where one is named; else null.
const Entry* pooling_in(const BenchWords& words) {
  const Entry* found = nullptr;
  const auto look = [&](Entry::Kind kind, const std::string& name) {
    if (name.empty()) return;
    const Entry& entry = find_entry(kind, name);
    if (entry.features) found = &entry;
  };
  look(Entry::Kind::feature, words.feature);
  look(Entry::Kind::query, words.mechanism.get("query"));
  look(Entry::Kind::position, words.position);
  return found;
}

// Attention of a sequence to itself, where a method for long ones is named; else null.
const Entry* efficient_in(const BenchWords& words) {
  if (words.attention.empty()) return nullptr;
  return &find_entry(Entry::Kind::efficient, words.attention);
}

void refuse_unread(const BenchWords& words, std::vector<std::string> read) {
  read.insert(read.end(), {"seconds", "json"});
  for (const std::string& name : words.said) {
    if (std::ranges::find(read, name) != read.end()) continue;
    std::string names;
    for (const std::string& one : read) names += (names.empty() ? "" : ", ") + one;
    throw UsageError(
        say("bench: option '", name, "' is not read by what is measured; it reads: ", names));
  }
}

// What the mechanism is made of, then its sizes.
std::vector<std::string> read_by_mechanism(const BenchWords& words, const AttentionOptions& o) {
  const Entry *pooling = pooling_in(words), *efficient = efficient_in(words);
  std::vector<std::string> read;
  const auto add = [&read](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (std::ranges::find(read, name) == read.end()) read.push_back(name);
    }
  };
  if (efficient) {
    add(efficient->options);
    add({"attention"});
  } else if (!words.feature.empty()) {
    add(options_read_by(words.feature, o));
    add({"feature"});
  } else if (pooling && pooling->kind == Entry::Kind::position) {
    add({"position"});
  } else {
    add(options_read(o));
    if (!pooling && !words.position.empty()) {
      add(find_entry(Entry::Kind::position, words.position).options);
    }
    if (!pooling) add({"position"});
  }
  add({"keys", "features", "batch"});
  if (!pooling) add({"heads"});
  if (!pooling && !efficient) add({"queries"});
  if (!pooling && !(efficient && !efficient->causal)) add({"causal"});
  add({"only"});
  return read;
}

// Any mechanism of the catalogue, by name. Its work is counted as that of the plain product, so
// that ratios tell what a choice costs.
void bench_mechanism(bench::Race& race, const BenchWords& words) {
  const int64_t n = words.keys, m = words.queries > 0 ? words.queries : n, H = words.heads;
  AttentionOptions o = attention_fields().read(words.mechanism, TransformerOptions::scaled());
  o.d_q = o.d_k = o.d_v = words.features;
  o.input_heads = o.heads = H;
  o.longest_keys = std::max(o.longest_keys, n);
  if (!words.feature.empty() + !words.position.empty() + !words.attention.empty() > 1) {
    throw UsageError("bench: only one of --attention, --feature and --position");
  }
  const Entry *pooling = pooling_in(words), *efficient = efficient_in(words);
  if (pooling && (words.causal || words.queries > 0)) {
    throw UsageError(say("bench: '", pooling->name, "' asks once for each input; --queries and ",
                         "--causal say nothing about it"));
  }
  if (efficient && words.queries > 0) {
    throw UsageError(say("bench: '", efficient->name, "' is attention of a sequence to itself; ",
                         "--queries says nothing about it"));
  }
  if (efficient && words.causal && !efficient->causal) {
    throw UsageError(say("bench: '", efficient->name, "' has no causal form"));
  }
  refuse_unread(words, as_usage([&] { return read_by_mechanism(words, o); }));
  if (pooling) return bench_pooling(race, words, *pooling, o);
  Parameters parameters(1);
  const Scope scope = Scope(parameters) / "attention";
  const Mechanism attention =
      efficient ? Mechanism(efficient->self(scope, o).attend) : make_attention(scope, o);
  Positions positions;
  if (!words.position.empty()) {
    const Entry& entry = find_entry(Entry::Kind::position, words.position);
    positions = entry.positions(Scope(parameters) / "position", o);
    const std::string& query = find_entry(Entry::Kind::query, o.query).name;
    if (positions.distances && (query == "multi_head" || query == "multi_dimensional")) {
      throw UsageError(say("bench: '", entry.name, "' goes by distances, which the query '", query,
                           "' does not read; give sinusoidal, learned or rotary"));
    }
  }
  const auto random_rows = [&](int64_t rows, uint64_t stream) {
    return parameter(bench::uniform({words.batch, rows, H, words.features}, stream));
  };
  AttentionInputs in{.q = random_rows(m, 1), .k = random_rows(n, 2), .v = random_rows(n, 3)};
  if (words.causal) in.who = efficient ? causal() : causal_lower_right();
  const Tensor dy = bench::uniform({words.batch, m, H, words.features}, 4);
  const auto run = [&] {
    AttentionInputs now = in;
    if (positions.turn) now.q = positions.turn(in.q, 0), now.k = positions.turn(in.k, 0);
    if (positions.distances) now.distances = positions.distances(now.q, n, 0);
    return attention(now).context;
  };
  const double pairs = static_cast<double>(words.batch * H) * pairs_of(m, n, words.causal);
  const double flops = 4.0 * static_cast<double>(words.features) * pairs;
  const std::string name =
      efficient ? efficient->name
                : fmt::format("{}{} {}{}", o.query == "single" ? "" : o.query + " ", o.score,
                              o.align, words.position.empty() ? "" : " " + words.position);
  race.against_gemm(fmt::format("forward, {}", name), flops, [&] { run(); });
  race.against_gemm(fmt::format("forward+backward, {}", name), 3.5 * flops, [&] {
    Random random(1);
    Tape tape(random);
    tape.backward(run(), dy);
  });
}

void run_bench(const BenchWords& words) {
  const std::vector<std::string> known{"attention", "scale"};
  if (words.what == known[1]) {
    refuse_unread(words, {"size", "ranks", "network"});
    return bench_scale(words.scale);
  }
  if (words.what != known[0]) throw UsageError(unknown_name("benchmark", words.what, known));
  if (!words.named) refuse_unread(words, {"only"});
  // No number is neither below a range nor above it.
  if (std::isnan(words.seconds)) throw UsageError("bench: --seconds needs a number, got nan");
  nlohmann::json rows = nlohmann::json::array();
  bool begun = false;  // the header waits for the first row: a refusal is one sentence
  bench::Race race(words.seconds, words.only, [&](const bench::Row& row) {
    if (!words.json) {
      if (!begun) {
        fmt::print("{:<46} {:>6} {:>7} {:>8} {:>8}\n", "", "ratio", "spread", "rate", "limit");
      }
      begun = true;
      return bench::Race::print(row);
    }
    begun = true;
    rows.push_back({{"name", row.name},
                    {"ratio", row.ratio},
                    {"spread", row.spread},
                    {"ms", row.seconds * 1e3},
                    {"gflops", row.rate},
                    {"sgemm_gflops", row.limit}});
  });
  words.named ? bench_mechanism(race, words) : bench_attention(race);
  if (!begun) throw UsageError(say("bench: no case has '", words.only, "' in its name"));
  if (words.json) fmt::print("{}\n", rows.dump(2));
}

}  // namespace

void add_bench(CLI::App& app, char** argv) {
  auto* verb =
      app.add_subcommand("bench", "Measure speed against the machine's own limit, in one run");
  auto words = std::make_shared<BenchWords>();
  verb->add_option("what", words->what,
                   "What to measure: attention, or scale: a training step on more machines")
      ->required();
  verb->add_option("--seconds", words->seconds, "How long each case is repeated")
      ->check(CLI::Range(0.001, 600.0))
      ->capture_default_str();
  verb->add_option("--only", words->only, "Only cases whose name has this in it");
  const std::string group = "One mechanism of the catalogue";
  for (const FieldInfo& field : attention_fields().infos()) {
    if (field.name == "heads") continue;
    std::string flag = field.name;
    std::ranges::replace(flag, '_', '-');
    verb->add_option_function<std::string>(
            "--" + flag,
            [words, field](const std::string& text) {
              as_usage([&] { field.check_text(text); });
              words->mechanism.set(field.name, text);
            },
            field.help)
        ->group(group);
  }
  verb->add_option("--position", words->position, "Positions, as rotary or alibi")->group(group);
  verb->add_option("--attention", words->attention,
                   "Attention of a long sequence to itself, as window or linear")
      ->group(group);
  verb->add_option("--feature", words->feature, "Attention over several inputs, as alternating")
      ->group(group);
  const auto size = [&](const char* flag, int64_t& value, const char* help) {
    verb->add_option(flag, value, help)
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str()
        ->group(group);
  };
  size("--keys", words->keys, "Keys");
  size("--queries", words->queries, "Queries, if not as many as keys");
  size("--heads", words->heads, "Heads");
  size("--features", words->features, "Features of a head");
  size("--batch", words->batch, "Batch entries");
  verb->add_flag("--causal", words->causal, "Queries look back alone")->group(group);
  const std::string many = "Scale";
  verb->add_option("--size", words->scale.size, "Layers x width of the model, as 6x512")
      ->capture_default_str()
      ->group(many);
  verb->add_option("--ranks", words->scale.ranks, "For how many ranks a step is predicted")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->group(many);
  verb->add_option("--network", words->scale.network, "Between them, as 1gbit,0.5ms")->group(many);
  verb->add_flag("--json", words->json, "Print rows of name, ratio, gflops, sgemm_gflops");
  verb->callback([words, argv, verb, group] {
    for (const CLI::Option* option : verb->get_options()) {
      if (option->count() == 0 || option->get_positional()) continue;
      words->named |= option->get_group() == group;
      std::string name = option->get_lnames()[0];
      std::ranges::replace(name, '-', '_');
      words->said.push_back(std::move(name));
    }
    words->scale.seconds = words->seconds;
    words->scale.json = words->json;
    if (words->what != "scale") bench::wait_passively(argv);
    run_bench(*words);
  });
}

}  // namespace fovea::cli
