#include "fovea/memory/stack.h"

#include <cmath>
#include <variant>

#include "fovea/base/parallel.h"
#include "fovea/memory/strengths.h"

namespace fovea {
namespace {

struct Ends {
  bool pop_top, pop_bottom, push_bottom, read_top, read_bottom;
  int64_t pushes() const { return push_bottom ? 2 : 1; }
  int64_t pops() const { return pop_top && pop_bottom ? 2 : 1; }
};
Ends ends_of(StackKind kind) {
  switch (kind) {
    case StackKind::stack:
      return {true, false, false, true, false};
    case StackKind::queue:
      return {false, true, false, false, true};
    case StackKind::deque:
      break;
  }
  return {true, true, true, true, true};
}

template <class T>
struct Lists {
  std::vector<Strengths<T>> of;
  std::vector<std::vector<typename Strengths<T>::Popped>> popped;  // by sequence, in turn
  std::vector<Tensor> slopes;  // by step: d loss / d controls, as far as it is known
};

}  // namespace

struct NeuralStacks::State {
  StackKind kind;
  Ends ends;
  int64_t B, width;
  std::vector<Tensor> told;  // by step: the controls, squashed
  int32_t in_force = 0;      // steps that have not been undone
  std::variant<Lists<float>, Lists<double>> lists;

  int64_t controls() const { return NeuralStacks::controls(kind, width); }
  int64_t reads() const { return NeuralStacks::reads(kind, width); }
  // Where in the controls the value lies that was pushed at an end.
  int64_t value_at(bool bottom) const { return ends.pushes() + ends.pops() + (bottom ? width : 0); }
  template <class T>
  Lists<T>& typed() {
    if (!std::holds_alternative<Lists<T>>(lists)) lists = Lists<T>();
    auto& l = std::get<Lists<T>>(lists);
    if (l.of.empty()) {
      l.of.assign(static_cast<size_t>(B), Strengths<T>(width));
      l.popped.resize(static_cast<size_t>(B));
    }
    return l;
  }

  template <class T>
  void forward(int64_t b, int32_t step, T* r, bool keep) {
    auto& l = typed<T>();
    Strengths<T>& list = l.of[b];
    const T* c = told[step].template read<T>().data() + b * controls();
    const T *d = c, *u = c + ends.pushes();
    const auto pop = [&](T strength, bool bottom) {
      const auto popped = list.pop(strength, bottom);
      keep ? l.popped[b].push_back(popped) : list.forget();
    };
    if (ends.pop_top) pop(*u++, false);
    if (ends.pop_bottom) pop(*u, true);
    list.push(d[0], c + value_at(false), step, false);
    if (ends.push_bottom) list.push(d[1], c + value_at(true), step, true);
    if (ends.read_top) list.read(r, false), r += width;
    if (ends.read_bottom) list.read(r, true);
  }

  // Leaves d loss / d controls of this step in slopes[step].
  template <class T>
  void backward(int64_t b, int32_t step, const T* dr) {
    auto& l = typed<T>();
    Strengths<T>& list = l.of[b];
    const auto slope_of = [&](const typename Strengths<T>::Entry& e) {
      return l.slopes[e.step].template write<T>().data() + b * controls() + value_at(e.bottom);
    };
    if (ends.read_bottom) list.undo_read(dr + (ends.read_top ? width : 0), true, slope_of);
    if (ends.read_top) list.undo_read(dr, false, slope_of);
    T* slope = l.slopes[step].template write<T>().data() + b * controls();
    if (ends.push_bottom) slope[1] = list.undo_push(true);
    slope[0] = list.undo_push(false);
    const auto undo_pop = [&](bool bottom) {
      const auto popped = l.popped[b].back();
      l.popped[b].pop_back();
      return list.undo_pop(popped, bottom);
    };
    T* du = slope + ends.pushes();
    if (ends.pop_bottom) du[ends.pops() - 1] = undo_pop(true);
    if (ends.pop_top) du[0] = undo_pop(false);
  }
};

NeuralStacks::NeuralStacks(StackKind kind, int64_t B, int64_t width)
    : state_(std::make_shared<State>(State{
          .kind = kind, .ends = ends_of(kind), .B = B, .width = width, .told = {}, .lists = {}})) {
  check(B >= 1 && width >= 1, "neural stack: needs sequences and features, got ", B, " and ",
        width);
}

namespace {

// As they are told to the stacks: strengths through a sigmoid, values through tanh.
Tensor squashed(const Tensor& controls, int64_t strengths) {
  Tensor told(controls.shape(), controls.dtype());
  const int64_t C = controls.dim(1);
  with_real(told.dtype(), [&]<class T>(T) {
    const auto from = controls.read<T>();
    auto to = told.write<T>();
    for (int64_t i = 0; i < told.elements(); ++i) {
      to[i] = i % C < strengths ? 1 / (1 + std::exp(-from[i])) : std::tanh(from[i]);
    }
  });
  return told;
}
void unsquash(Tensor& slope, const Tensor& told, int64_t strengths) {
  const int64_t C = told.dim(1);
  with_real(told.dtype(), [&]<class T>(T) {
    const auto at = told.read<T>();
    auto to = slope.write<T>();
    for (int64_t i = 0; i < told.elements(); ++i) {
      to[i] *= i % C < strengths ? at[i] * (1 - at[i]) : 1 - at[i] * at[i];
    }
  });
}

}  // namespace

Tensor NeuralStacks::step(const Tensor& controls, bool squash) {
  State& s = *state_;
  check(controls.shape() == Shape({s.B, s.controls()}), "neural stack: needs controls ",
        Shape({s.B, s.controls()}), ", got ", controls.shape());
  const int64_t strengths = s.ends.pushes() + s.ends.pops();
  const auto step = static_cast<int32_t>(s.told.size());
  // The list points into them: they must be nobody else's, and stay where they are.
  s.told.push_back(squash ? squashed(controls, strengths) : controls);
  s.in_force = step + 1;
  Tensor r({s.B, s.reads()}, controls.dtype());
  const bool keep = Tape::current() != nullptr;
  with_real(r.dtype(), [&]<class T>(T) {
    T* to = r.write<T>().data();
    s.typed<T>();
    for (int64_t b = 0; b < s.B; ++b) s.forward<T>(b, step, to + b * s.reads(), keep);
  });
  const Tensor before = std::exchange(last_, Tensor());
  r = record(
      "stack_step", {controls, before}, r,
      [state = state_, step, squash, strengths, shape = before.empty() ? Shape{} : before.shape()](
          const Tensor& dy, InputGradients& dx) {
        State& s = *state;
        with_real(dy.dtype(), [&]<class T>(T) {
          auto& l = s.typed<T>();
          if (l.slopes.empty()) l.slopes.resize(s.told.size());
          if (l.slopes[step].empty()) {  // the first to come makes them for all
            for (size_t t = 0; t < s.told.size(); ++t)
              l.slopes[t] = Tensor::zeros(s.told[t].shape(), dy.dtype());
          }
          // Steps behind this one that no loss has looked at.
          const std::vector<T> nothing(static_cast<size_t>(s.reads()), T(0));
          for (int32_t t = s.in_force - 1; t >= step; --t) {
            for (int64_t b = 0; b < s.B; ++b) {
              s.backward<T>(b, t, t > step ? nothing.data() : dy.read<T>().data() + b * s.reads());
            }
          }
          s.in_force = step;
          Tensor slope = std::move(l.slopes[step]);
          if (squash) unsquash(slope, s.told[step], strengths);
          dx.add(0, std::move(slope));
        });
        // The step before must be undone as well, whether or not anything else used it.
        if (dx.wants(1) && !dx.begun(1)) dx.add(1, Tensor::zeros(shape, dy.dtype()));
      });
  last_ = r;
  return r;
}

int64_t NeuralStacks::steps() const { return static_cast<int64_t>(state_->told.size()); }

std::vector<float> NeuralStacks::held(int64_t b) const {
  const int64_t n = steps();
  std::vector<float> strengths(static_cast<size_t>(n * state_->ends.pushes()), 0);
  std::visit(
      [&](const auto& lists) {
        if (lists.of.empty()) return;
        const auto& list = lists.of.at(static_cast<size_t>(b));
        for (size_t i = 0; i < list.size(); ++i) {
          const auto& e = list.entry(i);
          strengths[static_cast<size_t>(e.step + (e.bottom ? n : 0))] =
              static_cast<float>(e.strength);
        }
      },
      state_->lists);
  return strengths;
}

}  // namespace fovea
