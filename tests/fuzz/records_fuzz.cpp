// Whatever a file holds, records come out whole, for every set of roles; leaving bad rows out gives
// the same records and more.
#include "fovea/data/records.h"
#include "memory_file.h"

namespace {

using namespace fovea;
using fuzz::need;
using Kind = Role::Kind;

int64_t read(const std::string& path, const std::vector<Role>& roles, const ReadOptions& options) {
  RecordReader records(path, roles, options);
  int64_t count = 0;
  for (; records.next(); ++count) {
    for (size_t r = 0; r < roles.size(); ++r) {
      if (roles[r].kind == Kind::text || roles[r].kind == Kind::label) {
        need(!records.text(r).empty() || !roles[r].required);
      } else if (roles[r].kind == Kind::list) {
        need(!records.list(r).empty() && records.list(r).size() == records.list(0).size());
      } else {
        need(!records.numbers(r).empty());
      }
    }
  }
  const ReadSummary& summary = records.summary();
  need(summary.rows == count && !summary.sentence().empty());
  need(options.skip_bad || summary.bad_rows == 0);
  need(static_cast<int64_t>(summary.first_bad.size()) == std::min<int64_t>(5, summary.bad_rows));
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const std::vector<std::vector<Role>> all{
      {{"label", Kind::label}, {"text"}},
      {{"words", Kind::list}, {"tags", Kind::list}},
      {{"text"}},
      {{"source"}, {"target"}},
      {{"target", Kind::number}, {"text", Kind::text, false}, {"numbers", Kind::numbers, false}}};
  static const std::vector<std::string> columns{"", "1,2", "label=2,text=1", "2", "text=1+2"};
  // The first byte chooses, so that libFuzzer does.
  const auto& roles = all[data[0] % all.size()];
  ReadOptions options;
  options.columns = columns[data[0] / 8 % columns.size()];
  const std::string path = fuzz::file_of(data + 1, size - 1);
  int64_t strict = 0, lenient = 0;
  const auto count = [&](int64_t& rows) {
    try {
      rows = read(path, roles, options);
    } catch (const Error& error) {
      need(std::string_view(error.what()).size() < 4000);
      return false;
    }
    return true;
  };
  const bool good = count(strict);
  options.skip_bad = true;
  need(!good || (count(lenient) && lenient == strict));
  if (!good) count(lenient);
  return 0;
}
