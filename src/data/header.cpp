// Whether a first row names the columns.
#include <algorithm>
#include <set>

#include "fovea/base/utf8.h"
#include "fovea/data/dialect.h"

namespace fovea {
namespace {

// Rows below which counts of values tell nothing.
constexpr size_t enough = 5;

class FirstRow {
 public:
  FirstRow(std::span<const std::vector<std::string>> rows, bool decimal_comma)
      : first_(rows[0]), rest_(rows.subspan(1)), decimal_comma_(decimal_comma) {}

  HeaderSign sign() const {
    size_t words = 0, above_numbers = 0;
    for (size_t c = 0; c < first_.size(); ++c) {
      const bool word = !trimmed(first_[c]).empty() && !to_number(first_[c], decimal_comma_);
      words += word;
      above_numbers += word && is_above_numbers(c);
    }
    // A year may be a name.
    if (above_numbers > 0 && 2 * words >= first_.size()) {
      return {true, "names in the first row are not numbers and occur nowhere else"};
    }
    std::set<std::string_view> names;
    for (size_t c = 0; c < first_.size(); ++c) {
      const std::string_view cell = trimmed(first_[c]);
      // pandas leaves the name of its row numbers empty.
      if (cell.empty() && c > 0) return {false, "the first row has an empty cell"};
      if (to_number(cell, decimal_comma_)) return {false, "the first row has a number"};
      if (!names.insert(cell).second) return {false, "the first row has a cell twice"};
      if (!cell.empty() && recurs(c)) return {false, "a cell of the first row comes again below"};
      if (code_points(cell).size() > 60) return {false, "the first row has a long text"};
    }
    int usual = 0, sure = 0, asked = 0, above_labels = 0, above_texts = 0;
    for (size_t c = 0; c < first_.size(); ++c) {
      usual += usual_name_weight(first_[c]) > 0;
      sure += usual_name_weight(first_[c]) == 2;
      const std::string name = to_lowercase(trimmed(first_[c]));
      asked += name == "question" || name == "answer";  // beside another they are names too
      above_labels += is_above_labels(c);
      above_texts += is_above_texts(c);
    }
    if (usual >= 2 || (sure >= 1 && asked > 0) || (usual >= 1 && asked >= 2) ||
        (sure == 1 && above_texts > 0) ||
        (usual == 1 && rest_.size() >= enough && above_texts + above_labels > 0)) {
      return {true, "the first row has usual names of columns, which occur nowhere else"};
    }
    if (above_labels > 0 && above_texts > 0) {
      return {true, "names in the first row are short and occur nowhere else"};
    }
    return {false, "the first row looks like the others"};
  }

 private:
  bool recurs(size_t c) const {
    return std::any_of(rest_.begin(), rest_.end(), [&](const auto& row) {
      // A whole row that comes again is a header again, as in files put together.
      return c < row.size() && row[c] == first_[c] && row != first_;
    });
  }

  template <class F>
  void each_below(size_t c, const F& f) const {
    for (const auto& row : rest_) {
      if (c < row.size() && row != first_ && !trimmed(row[c]).empty()) f(trimmed(row[c]));
    }
  }

  bool is_above_numbers(size_t c) const {
    size_t count = 0, numbers = 0;
    each_below(c, [&](std::string_view cell) {
      ++count;
      numbers += to_number(cell, decimal_comma_).has_value();
    });
    return count > 0 && numbers == count;
  }

  // Everything below comes more than once.
  bool is_above_labels(size_t c) const {
    std::multiset<std::string_view> values;
    each_below(c, [&](std::string_view cell) { values.insert(cell); });
    return values.size() >= enough && std::all_of(values.begin(), values.end(), [&](auto value) {
             return values.count(value) > 1;
           });
  }

  // One or two words above texts of several; of scripts that write no spaces, above much longer
  // ones.
  bool is_above_texts(size_t c) const {
    if (split_at_spaces(first_[c]).size() > 2) return false;
    const size_t letters = code_points(first_[c]).size();
    size_t count = 0, texts = 0;
    each_below(c, [&](std::string_view cell) {
      ++count;
      const bool wide = std::any_of(cell.begin(), cell.end(),
                                    [](char b) { return static_cast<signed char>(b) < 0; });
      texts += (split_at_spaces(cell).size() > 2 && cell.size() > first_[c].size()) ||
               (wide && code_points(cell).size() >= 2 * letters + 2);
    });
    return count > 0 && 10 * texts >= 9 * count;
  }

  const std::vector<std::string>& first_;
  std::span<const std::vector<std::string>> rest_;
  bool decimal_comma_;
};

}  // namespace

HeaderSign find_header(std::span<const std::vector<std::string>> rows, bool decimal_comma) {
  if (rows.empty()) return {false, "there is no row"};
  return FirstRow(rows, decimal_comma).sign();
}

}  // namespace fovea
