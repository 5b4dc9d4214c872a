#include "fovea/model/machine/random_access.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/memory/fuzzy_numbers.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

constexpr MachineModule modules[] = {{"read", 1}, {"zero", 0},       {"one", 0},   {"two", 0},
                                     {"inc", 1},  {"add", 2},        {"sub", 2},   {"dec", 1},
                                     {"less", 2}, {"less_equal", 2}, {"equal", 2}, {"min", 2},
                                     {"max", 2},  {"write", 2}};
constexpr auto module_count = static_cast<int64_t>(std::size(modules));

// Numbers that wire one step: for every argument a choice of what is there by then, for every
// register a choice of everything, and whether to stop.
int64_t wires(int64_t registers) {
  int64_t n = 1;
  for (int64_t i = 0; i < module_count; ++i) n += modules[i].arguments * (registers + i);
  return n + registers * (registers + module_count);
}

Tensor certainly(int64_t number, int64_t B, int64_t M, Dtype dtype) {
  Tensor x = Tensor::zeros({B, M}, dtype);
  with_real(dtype, [&]<class T>(T) {
    for (int64_t b = 0; b < B; ++b) x.write<T>()[b * M + number % M] = 1;
  });
  return x;
}

constexpr double least = 1e-6;  // under a logarithm

constexpr const char* not_cells =
    "random-access machine: works on memory cells; data must be one of ram-access, ram-increment, "
    "ram-copy, ram-reverse and ram-swap";

}  // namespace

std::span<const MachineModule> machine_modules() { return modules; }

const Fields<RandomAccessOptions>& random_access_fields() {
  using O = RandomAccessOptions;
  static const Fields<O> fields{
      {"registers", &O::registers, "registers of the machine", whole_from(1, 64)},
      {"width", &O::width, "units of a layer", whole_from(1, 65536)},
      {"machine_steps", &O::machine_steps,
       "most steps of a run; 0: two, and cell_steps for each cell", whole_from(0, 1000)},
      {"cell_steps", &O::cell_steps, "most steps for each cell, where machine_steps is 0",
       between(0, 100)},
      {"noise", &O::noise, "noise of the wiring while training, at first", between(0, 100)},
      {"entropy", &O::entropy, "bonus for undecided wiring, at first", between(0, 100)},
      {"settle", &O::settle, "epochs in which noise and bonus fade", whole_from(1, 1e9)},
      {"decide", &O::decide, "noise of the wiring, behind those epochs", between(0, 100)},
      {"sharpen", &O::sharpen, "cost of undecided wiring, behind those epochs", between(0, 100)}};
  return fields;
}

// What happened: memories after each step, and how likely it stopped there.
struct RandomAccessMachine::Run {
  std::vector<Tensor> memories;  // [B, M, M]
  std::vector<Tensor> stops;     // [B, 1]; together 1
  Tensor entropy;                // mean over the choices of all steps
  int64_t M = 0;
};

RandomAccessMachine::RandomAccessMachine(Scope s, const ModelSizes& sizes,
                                         const RandomAccessOptions& o)
    : options_(o),
      numbers_(sizes.outputs),
      hidden_(s / "hidden", o.registers, o.width),
      wiring_(s / "wiring", o.width, wires(o.registers), {.init = init::xavier_uniform(0.3)}) {
  check(sizes.inputs == sizes.outputs + 1, not_cells);
}

RandomAccessMachine::Run RandomAccessMachine::run(const ModelInputs& in) const {
  const int64_t T = in.steps.dim(0), B = in.steps.dim(1), M = (T - 1) / 2, R = options_.registers;
  // Every cell holds one number that names a cell.
  bool cells = T == 2 * M + 1 && M >= 2 && M <= numbers_ && in.steps.dim(2) == numbers_ + 1;
  with_real(in.steps.dtype(), [&]<class U>(U) {
    const auto rows = in.steps.read<U>();
    for (int64_t i = 0; cells && i < M * B; ++i) {
      const auto row = rows.subspan(i * (numbers_ + 1), numbers_ + 1);
      cells = std::ranges::count(row, U(1)) == 1 && std::ranges::count(row.first(M), U(1)) == 1;
    }
  });
  check(cells, not_cells);
  const Dtype dtype = in.steps.dtype();
  Run run;
  run.M = M;
  Tensor memory = reshape(permute(slice(slice(in.steps, 0, 0, M), 2, 0, M), {1, 0, 2}), {B, M, M});
  std::vector<Tensor> registers(static_cast<size_t>(R), certainly(0, B, M, dtype));
  const Tensor zero = certainly(0, B, M, dtype), one = certainly(1, B, M, dtype),
               two = certainly(2, B, M, dtype);
  Random* random = Tape::random();
  const double settled =
      static_cast<double>(std::max<int64_t>(0, in.epoch)) / static_cast<double>(options_.settle);
  const double noise = options_.noise * std::pow(0.01, std::min(1.0, settled)) +
                       options_.decide * std::clamp(settled - 1, 0.0, 1.0);
  Tensor left = Tensor::full({B, 1}, 1, dtype), entropies;
  int64_t choices = 0;
  Recorder* recorder = Recorder::current();

  const int64_t steps =
      options_.machine_steps > 0
          ? options_.machine_steps
          : 2 + static_cast<int64_t>(std::ceil(options_.cell_steps * static_cast<double>(M)));
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<Tensor> seen;
    for (const Tensor& r : registers) seen.push_back(slice(r, 1, 0, 1));
    Tensor wire = wiring_(relu(hidden_(concat(seen, 1))));
    if (random && in.epoch >= 0 && noise > 0) {
      Tensor drawn(wire.shape(), dtype);
      with_real(dtype, [&]<class U>(U) {
        for (U& x : drawn.write<U>()) x = static_cast<U>(noise * random->normal());
      });
      wire = wire + drawn;
    }
    std::vector<Tensor> there = registers;
    int64_t at = 1;
    std::vector<float> shown;
    const int64_t columns = R + module_count;
    // A mixture of everything that is there.
    const auto choose = [&](const std::vector<Tensor>& from) {
      const auto n = static_cast<int64_t>(from.size());
      const Tensor logits = slice(wire, 1, at, at + n);
      at += n;
      const Tensor c = softmax(logits);
      if (in.epoch >= 0) {
        const Tensor e = sum(c * log(c + least)) * (-1.0 / static_cast<double>(B));
        entropies = entropies.empty() ? e : entropies + e;
        ++choices;
      }
      if (recorder) {
        for (int64_t j = 0; j < columns; ++j) shown.push_back(j < n ? c.read()[j] : 0);
      }
      const Tensor all = stack(from, 1);  // [B, n, M]
      return reshape(matmul(reshape(c, {B, 1, n}), all), {B, M});
    };
    for (const MachineModule& module : modules) {
      const std::string_view name = module.name;
      Tensor a, b;
      if (module.arguments > 0) a = choose(there);
      if (module.arguments > 1) b = choose(there);
      Tensor y = zero;
      if (name == "read") y = reshape(matmul(reshape(a, {B, 1, M}), memory), {B, M});
      if (name == "one") y = one;
      if (name == "two") y = two;
      if (name == "inc") y = fuzzy_shifted(a, 1);
      if (name == "dec") y = fuzzy_shifted(a, -1);
      if (name == "add") y = fuzzy(FuzzyOp::add, a, b);
      if (name == "sub") y = fuzzy(FuzzyOp::subtract, a, b);
      if (name == "less") y = fuzzy(FuzzyOp::less, a, b);
      if (name == "less_equal") y = fuzzy(FuzzyOp::less_equal, a, b);
      if (name == "equal") y = fuzzy(FuzzyOp::equal, a, b);
      if (name == "min") y = fuzzy(FuzzyOp::minimum, a, b);
      if (name == "max") y = fuzzy(FuzzyOp::maximum, a, b);
      if (name == "write") {
        const Tensor p = reshape(a, {B, M, 1});
        memory = memory + p * (reshape(b, {B, 1, M}) - memory);
      }
      there.push_back(y);
    }
    for (Tensor& r : registers) {
      r = choose(there);
      // A module of two arguments multiplies their sums: what rounding leaves beside 1 would grow
      // from step to step, until its logarithm is none (as the paper has it, too).
      r = r / sum(r, 1, true);
    }
    if (recorder) {
      Weights w;
      w.rows = Tensor::of({1, 1, static_cast<int64_t>(shown.size()) / columns, columns}, shown);
      recorder->keep("circuit", std::move(w));
    }
    const Tensor stop = sigmoid(slice(wire, 1, 0, 1));
    const bool last = t + 1 == steps;
    run.stops.push_back(last ? left : left * stop);
    run.memories.push_back(memory);
    left = left * (1.0 - stop);
  }
  if (choices > 0) run.entropy = entropies * (1.0 / static_cast<double>(choices));
  return run;
}

namespace {

// Of the asked cells the rows b M + cell of a memory, and which sequence each belongs to.
struct AskedCells {
  Tensor rows, sequences;
};
AskedCells cells_of(const Tensor& asked, int64_t B, int64_t M) {
  AskedCells cells{asked, asked};
  auto rows = cells.rows.write<int32_t>();
  auto sequences = cells.sequences.write<int32_t>();
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t t = rows[i] / B, b = rows[i] % B;
    check(t > M, "random-access machine: only cells can be asked for");
    rows[i] = static_cast<int32_t>(b * M + t - M - 1);
    sequences[i] = static_cast<int32_t>(b);
  }
  return cells;
}

}  // namespace

Scorer::Output RandomAccessMachine::operator()(const ModelInputs& in) const {
  const Run r = run(in);
  const int64_t B = in.steps.dim(1), M = r.M;
  Tensor memory;
  for (size_t t = 0; t < r.memories.size(); ++t) {
    const Tensor part = r.memories[t] * reshape(r.stops[t], {B, 1, 1});
    memory = memory.empty() ? part : memory + part;
  }
  Tensor rows = reshape(memory, {B * M, M});
  if (!in.rows.empty()) rows = embedding(rows, cells_of(in.rows, B, M).rows);
  const Tensor scores = log(rows + least);
  if (M == numbers_) return {scores};
  return {concat({scores, Tensor::full({scores.dim(0), numbers_ - M}, -30, scores.dtype())}, 1)};
}

Tensor RandomAccessMachine::loss(const ModelInputs& in, const Tensor& targets, double) const {
  const Run r = run(in);
  const int64_t B = in.steps.dim(1), M = r.M, n = targets.elements();
  const AskedCells cells = cells_of(in.rows, B, M);
  Tensor cost;
  for (size_t t = 0; t < r.memories.size(); ++t) {
    const Tensor rows = embedding(reshape(r.memories[t], {B * M, M}), cells.rows);
    const Tensor each = log(pick(rows, targets) + least);  // [n]
    const Tensor weight = reshape(embedding(r.stops[t], cells.sequences), {n});
    const Tensor part = sum(weight * each);
    cost = cost.empty() ? part : cost + part;
  }
  const Tensor loss = cost * (-1.0 / static_cast<double>(n));
  if (r.entropy.empty()) return loss;
  const double settled = static_cast<double>(in.epoch) / static_cast<double>(options_.settle),
               bonus = options_.entropy * std::pow(0.01, std::min(1.0, settled)),
               cost_of = options_.sharpen * std::clamp(settled - 1, 0.0, 1.0);
  if (bonus == 0 && cost_of == 0) return loss;
  return loss + r.entropy * (cost_of - bonus);
}

}  // namespace fovea
