// Attention along lists of edges: graphs, buckets, any set of keys for each query. Time and memory
// grow with the edges; nothing of size Tq x Tk exists, forward or backward.
//   e_ij = map(scale q_i . k_j),   additive:   e_ij = w . map(q_i + k_j),   distance: -|q_i - k_j|,
//   plus a bias for every edge      a_i = align(e_i)      out_i = sum_j drop(a_ij) v_j
//   Graph attention (Velickovic et al. 2018) is additive with D = 1, w = 1 and leaky_relu; its
//   second form (Brody et al. 2022) has D > 1 and a w for each head.
// It has a plain twin in naive/attention_edges.h.
#pragma once

#include "fovea/kernel/attention_rows.h"

namespace fovea::kernel {

// The keys of query i are keys[offsets[i]] to keys[offsets[i + 1] - 1], in any order; the place in
// that list is the number of the edge, below 2^31. One set of lists serves all heads, or each batch
// entry and head has one of its own. A query with no keys gives zeros; a key that comes twice
// counts twice.
struct EdgeLists {
  int64_t edges = 0;                 // E, the room of a set; its last offset says how many it has
  const int64_t* offsets = nullptr;  // [sets, Tq + 1], each set's from 0
  const int32_t* keys = nullptr;     // [sets, E]
  // The same edges by key, made by edges_by_key; backward passes alone need them.
  const int64_t* key_offsets = nullptr;  // [sets, Tk + 1]
  const int32_t* key_edges = nullptr;    // [sets, E], numbers of edges, rising for each key
  const int32_t* key_queries = nullptr;  // [sets, E]
  int64_t batch = 0, head = 0;           // batch b and head h use set b * batch + h * head

  int64_t set(int64_t b, int64_t h) const { return b * batch + h * head; }
};

// Fills key_offsets, key_edges and key_queries, in a time linear in edges.
void edges_by_key(const EdgeLists& lists, int64_t sets, int64_t Tq, int64_t Tk,
                  int64_t* key_offsets, int32_t* key_edges, int32_t* key_queries);

// A number for every edge: that of batch b, head h, edge e is at(b, h)[e]. A stride of 0
// broadcasts.
template <class T>
struct EdgeView {
  T* data = nullptr;
  int64_t batch = 0, head = 0;

  T* at(int64_t b, int64_t h) const { return data + b * batch + h * head; }
  explicit operator bool() const { return data != nullptr; }
};

struct EdgesInputs {
  HeadInputs<float> base;  // without ranges, mask, bias and align, which are not looked at
  EdgeLists lists;
  ScoreMap map = ScoreMap::none;
  const float* w = nullptr;  // an additive score, whose map is not distance: [D], or [H, D]
  int64_t w_head = 0;        // 0 or D
  EdgeView<const float> bias;
  RowAlign align = RowAlign::softmax;  // not local
  float alpha = 1.5f;                  // entmax
  GivenAlign given{};
};

struct EdgesGradients {
  HeadView<float> dq, dk, dv;
  EdgeView<float> dbias{};  // strides of bias; none: not wanted; summed where a stride is 0
  float* dw = nullptr;      // of w's shape; none: not wanted
};

// weights, when wanted: [B, H, E], before dropout; 0 in the room that a set has left.
void attention_edges_forward(const EdgesInputs& in, HeadView<float> out,
                             EdgeView<float> weights = {});

// Overwrites every gradient; every sum has one order. dweights is the gradient that arrives at the
// weights before dropout. Without dout the weights alone are differentiated, and dv is 0.
void attention_edges_backward(const EdgesInputs& in, HeadView<const float> dout,
                              const EdgesGradients& to, EdgeView<const float> dweights = {});

}  // namespace fovea::kernel
