// Rows of JSON lines.
#include <deque>

#include "fovea/base/error.h"
#include "fovea/data/json_line.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

class JsonRows : public Rows, JsonVisitor {
 public:
  JsonRows(LineReader& lines, std::vector<std::string> paths)
      : lines_(lines), paths_(std::move(paths)), lists_(paths_.size()) {}

  Got next() override {
    if (const Got got = next_line(lines_); got != Got::good) return got;
    cells_.assign(paths_.size(), {});
    lists_.assign(paths_.size(), {});
    kept_.clear();
    expected_ = 0;
    const std::string problem = walk_json(lines_.text(), *this);
    return problem.empty() ? Got::good : bad(lines_.number(), problem);
  }

  bool is_list(size_t column) const override { return lists_[column].given; }
  std::span<const std::string_view> list(size_t column) override {
    if (!lists_[column].given) return Rows::list(column);
    return lists_[column].values;
  }

 private:
  struct List {
    bool given = false;
    std::vector<std::string_view> values;
  };

  // Keys mostly come in the same order.
  bool wants(std::string_view path) override {
    for (size_t i = 0; i < paths_.size(); ++i) {
      found_ = expected_ + i < paths_.size() ? expected_ + i : expected_ + i - paths_.size();
      if (paths_[found_] != path) continue;
      expected_ = found_ + 1 < paths_.size() ? found_ + 1 : 0;
      return true;
    }
    return false;
  }
  void value(std::string_view, const JsonValue& value) override {
    lists_[found_] = {};
    cells_[found_] = value.kind == JsonKind::null ? std::string_view() : keep(value.text);
  }
  void list(std::string_view path, std::span<const JsonValue> values) override {
    wants(path);  // another value within the array may have been found meanwhile
    List list{true, {}};
    std::string all;
    for (const JsonValue& value : values) {
      list.values.push_back(keep(value.text));
      if (!all.empty()) all += ' ';
      all += value.text;
    }
    cells_[found_] = kept_.emplace_back(std::move(all));
    lists_[found_] = std::move(list);
  }
  // What lies in the line stays there; what was unescaped is kept.
  std::string_view keep(std::string_view text) {
    const std::string_view line = lines_.text();
    const bool inside = text.data() >= line.data() && text.data() < line.data() + line.size();
    return inside ? text : kept_.emplace_back(text);
  }

  LineReader& lines_;
  std::vector<std::string> paths_;
  std::vector<List> lists_;
  std::deque<std::string> kept_;
  size_t expected_ = 0, found_ = 0;
};

}  // namespace

std::unique_ptr<Rows> json_rows(LineReader& lines, std::vector<std::string> paths) {
  return std::make_unique<JsonRows>(lines, std::move(paths));
}

}  // namespace fovea
