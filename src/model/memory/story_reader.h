// What memories are compared with: an LSTM that reads the story and then the question, word by
// word.
#pragma once

#include "fovea/model/memory/stories.h"
#include "fovea/model/recurrent/encoder.h"

namespace fovea {

class StoryReader : public Scorer {
 public:
  StoryReader(Scope s, const ModelSizes& sizes, const RecurrentModelOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  RecurrentModelOptions options_;
  WordTable words_;
  Recurrent layers_;
  WordTable answers_;
};
// Those of the recurrent models that count here.
const Fields<RecurrentModelOptions>& story_reader_fields();

}  // namespace fovea
