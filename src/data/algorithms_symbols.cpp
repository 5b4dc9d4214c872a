// Transductions of Grefenstette et al. 2015 (copy, reversal, bigram flip), counting languages of
// Joulin and Mikolov 2015, and the random-access tasks of Kurach, Andrychowicz, Sutskever 2016.
#include <algorithm>

#include "fovea/base/words.h"
#include "fovea/data/algorithms.h"

namespace fovea::algorithm {
namespace {

using O = AlgorithmOptions;

std::string number_text(int64_t n) { return std::to_string(n); }

// "4 17 9", a separator, and then one symbol a step and the end.
std::string draw_symbols(const O& o, int64_t length, Random, Random random) {
  std::vector<std::string> words;
  for (int64_t i = 0; i < length; ++i)
    words.push_back(number_text(static_cast<int64_t>(random.below(o.symbols))));
  return joined(words);
}
template <class Change>
StepSequence lay_transduced(const char* name, const O& o, const std::string& line,
                            const Change& change) {
  std::vector<int32_t> symbols;
  for (const std::string& word : words_of(line))
    symbols.push_back(static_cast<int32_t>(number_in(name, word, o.symbols)));
  const auto L = static_cast<int64_t>(symbols.size());
  check(L > 0, name, ": needs at least one symbol");
  Steps steps(o.symbols + 1, 2 * L + 2);
  for (int32_t s : symbols) steps.mark(s);
  steps.mark(o.symbols);
  change(symbols);
  symbols.push_back(static_cast<int32_t>(o.symbols));
  StepSequence s;
  for (int64_t i = 0; i <= L; ++i) s.asked.push_back(L + 1 + i);
  s.symbols = std::move(symbols);
  s.steps = std::move(steps.all);
  return s;
}
StepSequence lay_symbol_copy(const O& o, const std::string& line) {
  return lay_transduced("symbol-copy", o, line, [](auto&) {});
}
StepSequence lay_reverse(const O& o, const std::string& line) {
  return lay_transduced("reverse", o, line, [](auto& s) { std::ranges::reverse(s); });
}
StepSequence lay_flip(const O& o, const std::string& line) {
  return lay_transduced("bigram-flip", o, line, [](auto& s) {
    for (size_t i = 0; i + 1 < s.size(); i += 2) std::swap(s[i], s[i + 1]);
  });
}

// A language of letters in a row, as "aabbcc": after the first letter whose number is determined,
// every next one is asked for, and the end. Of aabbb, how often b and c come follows from a and b.
struct Language {
  const char* name;
  int64_t letters, free;  // so many letters come as often as they like
  int64_t (*count)(int64_t letter, const std::vector<int64_t>& counts);
};
std::string draw_language(const Language& of, int64_t length, Random shape) {
  std::vector<int64_t> counts{length};
  while (static_cast<int64_t>(counts.size()) < of.free)
    counts.push_back(1 + static_cast<int64_t>(shape.below(static_cast<uint64_t>(length))));
  for (int64_t k = of.free; k < of.letters; ++k) counts.push_back(of.count(k, counts));
  std::string line;
  for (int64_t k = 0; k < of.letters; ++k) line.append(counts[k], static_cast<char>('a' + k));
  return line;
}
StepSequence lay_language(const Language& of, const std::string& line) {
  std::vector<int64_t> counts(of.letters, 0);
  size_t at = 0;
  for (int64_t k = 0; k < of.letters; ++k) {
    for (; at < line.size() && line[at] == 'a' + k; ++at) ++counts[k];
  }
  bool member = at == line.size();
  for (int64_t k = 0; k < of.letters; ++k) {
    member &= counts[k] > 0 && (k < of.free || counts[k] == of.count(k, counts));
  }
  check(member, of.name, ": '", line, "' is no word of the language");
  const auto n = static_cast<int64_t>(line.size());
  Steps steps(of.letters, n);
  StepSequence s;
  int64_t first = 0;  // of the letters that are determined
  for (int64_t k = 0; k < of.free; ++k) first += counts[k];
  for (int64_t i = 0; i < n; ++i) {
    steps.mark(line[i] - 'a');
    if (i < first) continue;
    s.asked.push_back(i);
    s.symbols.push_back(static_cast<int32_t>(i + 1 < n ? line[i + 1] - 'a' : of.letters));
  }
  s.steps = std::move(steps.all);
  return s;
}
int64_t as_first(int64_t, const std::vector<int64_t>& c) { return c[0]; }
constexpr Language anbn{"anbn", 2, 1, as_first}, anbncn{"anbncn", 3, 1, as_first},
    anbncndn{"anbncndn", 4, 1, as_first},
    anb2n{"anb2n", 2, 1, [](int64_t, const std::vector<int64_t>&c) { return 2 * c[0]; }},
    anbmcnm{"anbmcnm", 3, 2, [](int64_t, const std::vector<int64_t>&c) { return c[0] + c[1]; }};
template <const Language& of>
Algorithm language(const std::string& help) {
  return {of.name,
          help,
          false,
          [](const O&) { return of.letters; },
          [](const O&) { return of.letters + 1; },
          [](const O&, int64_t length, Random shape, Random) {
            return draw_language(of, length, shape);
          },
          [](const O&, const std::string& line) { return lay_language(of, line); },
          [](int64_t s) {
            return s == of.letters ? std::string("(end)")
                                   : std::string(1, static_cast<char>('a' + s));
          },
          "letters a",
          "1-19",
          "1-60"};
}

// Memory cells in, memory cells out: the cells are given one a step, then, after a separator, each
// is asked for that the program changes. Numbers are below `symbols`.
struct Cells {
  std::vector<int32_t> after;
  std::vector<int64_t> asked;  // which cells
};
template <class Run>
StepSequence lay_cells(const char* name, const O& o, const std::string& line, const Run& run) {
  Cells c;
  for (const std::string& word : words_of(line))
    c.after.push_back(static_cast<int32_t>(number_in(name, word, o.symbols)));
  const auto M = static_cast<int64_t>(c.after.size());
  check(M >= 4 && M <= o.symbols, name, ": needs from 4 cells to as many as there are symbols, ",
        o.symbols, ", got ", M);
  Steps steps(o.symbols + 1, 2 * M + 1);
  for (int32_t x : c.after) {
    check(x < M, name, ": numbers of ", M, " cells are below ", M, ", got ", x);
    steps.mark(x);
  }
  steps.mark(o.symbols);
  run(c, M);
  StepSequence s;
  for (int64_t cell : c.asked) {
    s.asked.push_back(M + 1 + cell);
    s.symbols.push_back(c.after[cell]);
  }
  s.steps = std::move(steps.all);
  return s;
}
void need(bool ok, const char* name, const std::string& line, const char* what) {
  check(ok, name, ": ", what, ", got '", line, "'");
}

std::string cells_text(const std::vector<int64_t>& cells) {
  std::vector<std::string> words;
  for (int64_t x : cells) words.push_back(number_text(x));
  return joined(words);
}
int64_t below(int64_t n, Random& random) {
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(std::max<int64_t>(1, n))));
}

// k, A_0 .. A_n-1, 0: the first cell becomes A_k.
std::string draw_access(const O&, int64_t M, Random, Random random) {
  std::vector<int64_t> c(M, 0);
  c[0] = below(M - 2, random);
  for (int64_t i = 1; i + 1 < M; ++i) c[i] = 1 + below(M - 1, random);
  return cells_text(c);
}
StepSequence lay_access(const O& o, const std::string& line) {
  return lay_cells("ram-access", o, line, [&](Cells& c, int64_t M) {
    need(c.after[0] + 1 < M, "ram-access", line, "the first cell must name one of the others");
    c.after[0] = c.after[c.after[0] + 1];
    c.asked = {0};
  });
}
// A_0 .. A_n-1, 0: each up to the 0 becomes one more.
std::string draw_increment(const O&, int64_t M, Random, Random random) {
  std::vector<int64_t> c(M, 0);
  for (int64_t i = 0; i + 1 < M; ++i) c[i] = 1 + below(M - 2, random);
  return cells_text(c);
}
StepSequence lay_increment(const O& o, const std::string& line) {
  return lay_cells("ram-increment", o, line, [&](Cells& c, int64_t M) {
    for (int64_t i = 0; i < M && c.after[i] != 0; ++i) {
      c.after[i] = static_cast<int32_t>((c.after[i] + 1) % M);
      c.asked.push_back(i);
    }
    need(!c.asked.empty(), "ram-increment", line, "the first cell must not be 0");
  });
}
// p, A_0 .. A_n-1, 0, ...: from cell p on the same again, or backwards. How many there are does not
// follow from the number of cells, so that a program must find p in its cell. There are few of them
// as often as many: who is only shown many never gets one right and has nothing to begin from.
std::vector<int64_t> draw_numbers(int64_t M, Random shape, Random& random) {
  std::vector<int64_t> c(M, 0);
  const int64_t n = std::min(M - 1, 1 + below((M - 2) / 2, shape));
  for (int64_t i = 1; i <= n; ++i) c[i] = 1 + below(M - 1, random);
  c[0] = n;
  return c;
}
// To be copied anywhere behind the 0 that ends them.
std::string draw_copy(const O&, int64_t M, Random shape, Random random) {
  std::vector<int64_t> c = draw_numbers(M, shape, random);
  c[0] += 2 + below(M - 2 * c[0] - 1, random);
  return cells_text(c);
}
// The paper's p: the cell behind the last, since backwards one must know where the end is.
std::string draw_reverse(const O&, int64_t M, Random shape, Random random) {
  std::vector<int64_t> c = draw_numbers(M, shape, random);
  c[0] += 1;
  return cells_text(c);
}
StepSequence lay_moved(const char* name, const O& o, const std::string& line, bool backwards) {
  return lay_cells(name, o, line, [&](Cells& c, int64_t M) {
    int64_t n = 0;
    while (1 + n < M && c.after[1 + n] != 0) ++n;
    const int64_t p = c.after[0];
    need(n > 0 && p > n && p + n <= M, name, line,
         "the first cell must name one behind the numbers, with room for them");
    for (int64_t i = 0; i < n; ++i) {
      c.after[p + i] = c.after[backwards ? n - i : 1 + i];
      c.asked.push_back(p + i);
    }
  });
}
// p, q, A_0 .. A_n-1, 0: A_p and A_q change places.
std::string draw_swap(const O&, int64_t M, Random, Random random) {
  std::vector<int64_t> c(std::max<int64_t>(2, M), 0);
  c[0] = below(M - 3, random), c[1] = below(M - 3, random);
  for (int64_t i = 2; i + 1 < M; ++i) c[i] = 1 + below(M - 1, random);
  c.resize(M);
  return cells_text(c);
}
StepSequence lay_swap(const O& o, const std::string& line) {
  return lay_cells("ram-swap", o, line, [&](Cells& c, int64_t M) {
    const int64_t p = c.after[0] + 2, q = c.after[1] + 2;
    need(p < M && q < M, "ram-swap", line, "the first two cells must name others behind them");
    std::swap(c.after[p], c.after[q]);
    for (int64_t i = 2; i + 1 < M; ++i) c.asked.push_back(i);
  });
}

}  // namespace

std::vector<Algorithm> of_symbols() {
  const auto plus1 = [](const O& o) { return o.symbols + 1; };
  const auto make = [&](const char* name, const char* help,
                        StepSequence (*lay)(const O&, const std::string&)) {
    return Algorithm{name, help,        false,     plus1,  plus1,          draw_symbols,
                     lay,  number_text, "symbols", "8-64", "16,64,96,128", {"symbols"}};
  };
  return {make("symbol-copy", "symbols, to be written again", lay_symbol_copy),
          make("reverse", "symbols, backwards", lay_reverse),
          make("bigram-flip", "symbols, every two exchanged", lay_flip)};
}

std::vector<Algorithm> of_languages() {
  return {language<anbn>("as many b as a"), language<anbncn>("as many b and c as a"),
          language<anbncndn>("as many b, c and d as a"), language<anb2n>("twice as many b as a"),
          language<anbmcnm>("as many c as a and b")};
}

std::vector<Algorithm> of_cells() {
  const auto plus1 = [](const O& o) { return o.symbols + 1; };
  const auto same = [](const O& o) { return o.symbols; };
  const auto make = [&](const char* name, const char* help,
                        std::string (*draw)(const O&, int64_t, Random, Random),
                        StepSequence (*lay)(const O&, const std::string&)) {
    return Algorithm{name, help,        false,   plus1,  same,         draw,
                     lay,  number_text, "cells", "4-12", "8,12,16,24", {"symbols"}};
  };
  return {
      make("ram-access", "memory cells: the one that the first names", draw_access, lay_access),
      make("ram-increment", "memory cells: one more in each", draw_increment, lay_increment),
      make("ram-copy", "memory cells: the same again where a pointer says", draw_copy,
           [](const O& o, const std::string& l) { return lay_moved("ram-copy", o, l, false); }),
      make("ram-reverse", "memory cells: backwards where a pointer says", draw_reverse,
           [](const O& o, const std::string& l) { return lay_moved("ram-reverse", o, l, true); }),
      make("ram-swap", "memory cells: two change places", draw_swap, lay_swap)};
}

}  // namespace fovea::algorithm
