// Whatever a file holds, it is questions whose answers stand in their passages, or one sentence.
#include "fovea/data/passages.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  using fuzz::need;
  const std::string path = fuzz::file_of(data, size);
  ReadOptions options;
  for (const bool skip : {false, true}) {
    options.skip_bad = skip;
    std::vector<PassageQuestion> all;
    if (!fuzz::allow_error([&] { all = read_passages(path, options); })) continue;
    need(!all.empty());
    for (const PassageQuestion& q : all) {
      need(q.passage && !q.passage->empty() && !q.question.empty());
      need(q.may_be_unanswered || !q.answers.empty());
      for (const PassageAnswer& answer : q.answers) {
        need(!answer.text.empty() && answer.begin >= 0);
        need(q.passage->compare(static_cast<size_t>(answer.begin), answer.text.size(),
                                answer.text) == 0);
      }
    }
  }
  // The same as clozes.
  options.skip_bad = false;
  std::vector<PassageQuestion> clozes;
  fuzz::allow_error([&] { clozes = read_clozes(path, options); });
  for (const PassageQuestion& q : clozes) need(!q.candidates.empty() && q.answers.size() >= 1);
  return 0;
}
