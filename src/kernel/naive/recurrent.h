// Plain twin of kernel/recurrent and kernel/recurrent_cell.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace fovea::naive {

// In PyTorch's form and order of gates, with a = x W_input^T + b_input and u = h W_hidden^T +
// b_hidden:
//   rnn    h' = tanh(a + u)
//   gru    r, z = sigmoid(a + u)    n = tanh(a + r u)        h' = (1 - z) n + z h
//   lstm   i, f, o = sigmoid(a + u) g = tanh(a + u)          c' = f c + i g    h' = o tanh c'
enum class Cell { rnn, gru, lstm };

constexpr int64_t gates_of(Cell cell) { return cell == Cell::rnn ? 1 : cell == Cell::gru ? 3 : 4; }

// From one row of n numbers to the next, an odd number of cache lines: where rows are a large power
// of two apart, matrix products fall to half their speed.
constexpr int64_t odd_lines(int64_t n) { return ((n + 15) / 16 | 1) * 16; }

// B sequences whose rows stand one after the other.
struct Recurrence {
  Cell cell;
  int64_t B, H;
  const int32_t* offsets;  // [B + 1]: sequence b has the rows [offsets[b], offsets[b + 1])
  const int32_t* order;    // [B]: the sequences, longest first
  bool reverse;            // from a sequence's last row to its first

  int64_t length(int64_t b) const { return offsets[b + 1] - offsets[b]; }
  int64_t row(int64_t b, int64_t t) const {
    return reverse ? offsets[b + 1] - 1 - t : offsets[b] + t;
  }
  // From one row of gates to the next.
  int64_t stride() const { return odd_lines(gates_of(cell) * H); }
};

// One step of one sequence. Each points to a row.
template <class T>
struct CellStep {
  const T *b_input, *b_hidden;
  const T* hidden;  // h W_hidden^T
  const T *h_before, *c_before;
  T* gates;  // in: x W_input^T, out: what the gates are
  T* kept;   // out: c' (lstm), u_n (gru)
  T* h;      // out: h'
};

template <class T>
struct CellStepGrad {
  const T *h_before, *c_before, *h;
  const T* dy;
  T* gates;   // in: what the gates are, out: the gradient of a
  T* kept;    // in: as CellStep left it, out: the gradient of u_n (gru)
  T* dh;      // in: the gradient of h' but for dy, out: of h, but for what u passes on
  T* dc;      // in: the gradient of c', out: of c
  T* hidden;  // out: the gradient of u
};

// All steps of all sequences. y is [rows, H], gates [rows, stride], kept [rows, H], states [B, H].
template <class T>
struct RecurrentForward {
  const T *w_hidden, *b_input, *b_hidden;
  const T *h0, *c0;  // c: lstm only, here and below
  T *gates, *kept;   // as in CellStep
  T* y;
  T *h_last, *c_last;
};

template <class T>
struct RecurrentBackward {
  const T* w_hidden;
  const T *h0, *c0;
  const T *y, *dy;
  const T *dh_last, *dc_last;
  T *gates, *kept;  // as in CellStepGrad
  T* h_before;      // out: [rows, H], the state that each row's step began with; may be null
  T *dh0, *dc0;     // dh0 may be null
};

// A row of an array that not every cell has.
template <class T>
T* row_at(T* first, int64_t at) {
  return first ? first + at : nullptr;
}

template <class T>
T logistic(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
void cell_step(Cell cell, const CellStep<T>& s, int64_t H) {
  for (int64_t j = 0; j < H; ++j) {
    auto a = [&](int64_t gate) { return s.gates[gate * H + j] + s.b_input[gate * H + j]; };
    auto u = [&](int64_t gate) { return s.hidden[gate * H + j] + s.b_hidden[gate * H + j]; };
    if (cell == Cell::rnn) {
      s.h[j] = std::tanh(a(0) + u(0));
    } else if (cell == Cell::gru) {
      const T r = logistic(a(0) + u(0)), z = logistic(a(1) + u(1));
      s.kept[j] = u(2);
      const T n = std::tanh(a(2) + r * s.kept[j]);
      s.gates[j] = r, s.gates[H + j] = z, s.gates[2 * H + j] = n;
      s.h[j] = (1 - z) * n + z * s.h_before[j];
    } else {
      const T i = logistic(a(0) + u(0)), f = logistic(a(1) + u(1));
      const T g = std::tanh(a(2) + u(2)), o = logistic(a(3) + u(3));
      s.gates[j] = i, s.gates[H + j] = f, s.gates[2 * H + j] = g, s.gates[3 * H + j] = o;
      s.kept[j] = f * s.c_before[j] + i * g;
      s.h[j] = o * std::tanh(s.kept[j]);
    }
  }
}

template <class T>
void cell_step_grad(Cell cell, const CellStepGrad<T>& s, int64_t H) {
  for (int64_t j = 0; j < H; ++j) {
    const T dh = s.dh[j] + s.dy[j];
    auto put = [&](int64_t gate, T da) { s.gates[gate * H + j] = s.hidden[gate * H + j] = da; };
    s.dh[j] = 0;
    if (cell == Cell::rnn) {
      put(0, dh * (1 - s.h[j] * s.h[j]));
    } else if (cell == Cell::gru) {
      const T r = s.gates[j], z = s.gates[H + j], n = s.gates[2 * H + j];
      const T dn = dh * (1 - z) * (1 - n * n);
      put(0, dn * s.kept[j] * r * (1 - r));
      put(1, dh * (s.h_before[j] - n) * z * (1 - z));
      put(2, dn);
      s.kept[j] = s.hidden[2 * H + j] = dn * r;
      s.dh[j] = dh * z;
    } else {
      const T i = s.gates[j], f = s.gates[H + j], g = s.gates[2 * H + j], o = s.gates[3 * H + j];
      const T tanh_c = std::tanh(s.kept[j]);
      const T dc = s.dc[j] + dh * o * (1 - tanh_c * tanh_c);
      put(0, dc * g * i * (1 - i));
      put(1, dc * s.c_before[j] * f * (1 - f));
      put(2, dc * i * (1 - g * g));
      put(3, dh * tanh_c * o * (1 - o));
      s.dc[j] = dc * f;
    }
  }
}

template <class T>
void recurrent_forward(const Recurrence& r, const RecurrentForward<T>& f) {
  const int64_t H = r.H, G = gates_of(r.cell);
  std::vector<T> memory(static_cast<size_t>(G * H));
  T* hidden = memory.data();
  for (int64_t b = 0; b < r.B; ++b) {
    const T* h = f.h0 + b * H;
    const T* c = row_at(f.c0, b * H);
    for (int64_t t = 0; t < r.length(b); ++t) {
      const int64_t row = r.row(b, t);
      for (int64_t k = 0; k < G * H; ++k) {
        hidden[k] = 0;
        for (int64_t j = 0; j < H; ++j) hidden[k] += h[j] * f.w_hidden[k * H + j];
      }
      T* kept = row_at(f.kept, row * H);
      cell_step<T>(
          r.cell,
          {f.b_input, f.b_hidden, hidden, h, c, f.gates + row * r.stride(), kept, f.y + row * H},
          H);
      h = f.y + row * H;
      c = kept;
    }
    for (int64_t j = 0; j < H; ++j) f.h_last[b * H + j] = h[j];
    for (int64_t j = 0; j < H && r.cell == Cell::lstm; ++j) f.c_last[b * H + j] = c[j];
  }
}

template <class T>
void recurrent_backward(const Recurrence& r, const RecurrentBackward<T>& g) {
  const int64_t H = r.H, G = gates_of(r.cell);
  const bool lstm = r.cell == Cell::lstm;
  std::vector<T> memory(static_cast<size_t>((G + 2) * H));
  T *hidden = memory.data(), *dh = hidden + G * H, *dc = dh + H;
  for (int64_t b = 0; b < r.B; ++b) {
    for (int64_t j = 0; j < H; ++j) dh[j] = g.dh_last[b * H + j];
    for (int64_t j = 0; j < H && lstm; ++j) dc[j] = g.dc_last[b * H + j];
    for (int64_t t = r.length(b) - 1; t >= 0; --t) {
      const int64_t row = r.row(b, t);
      const T* h_before = t > 0 ? g.y + r.row(b, t - 1) * H : g.h0 + b * H;
      const T* c_before = t > 0 ? row_at(g.kept, r.row(b, t - 1) * H) : row_at(g.c0, b * H);
      cell_step_grad<T>(r.cell,
                        {h_before, c_before, g.y + row * H, g.dy + row * H,
                         g.gates + row * r.stride(), row_at(g.kept, row * H), dh, dc, hidden},
                        H);
      for (int64_t j = 0; j < H; ++j) {
        for (int64_t k = 0; k < G * H; ++k) dh[j] += hidden[k] * g.w_hidden[k * H + j];
        if (g.h_before) g.h_before[row * H + j] = h_before[j];
      }
    }
    for (int64_t j = 0; j < H && g.dh0; ++j) g.dh0[b * H + j] = dh[j];
    for (int64_t j = 0; j < H && lstm; ++j) g.dc0[b * H + j] = dc[j];
  }
}

}  // namespace fovea::naive
