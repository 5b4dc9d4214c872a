#include "fovea/model/baselines.h"

#include "fovea/model/linear/classifier.h"
#include "fovea/model/linear/crf_tagger.h"
#include "fovea/model/linear/regressor.h"
#include "fovea/model/ngram/kneser_ney.h"
#include "fovea/model/numbers/nearest.h"

namespace fovea {
namespace {

using Infos = std::vector<FieldInfo>;

// Of texts, pairs and phrases: the task makes n-grams of them.
ModelEntry linear_row(Takes takes, std::string title) {
  return {.name = "linear",
          .takes = takes,
          .gives = Gives::label,
          .title = std::move(title),
          .paper = "Joachims 1998; Wang, Manning 2012; Hsieh et al. 2008",
          .equation = "y = W x + b,  x = tf-idf of n-grams",
          .options = [](const Settings&) { return linear_model_fields().infos(); },
          .make =
              [](Scope s, const ModelSizes& sizes, const Settings& settings) {
                return std::make_unique<const LinearClassifier>(
                    s, sizes, linear_model_fields().read(settings));
              }};
}

ModelEntry most_frequent_row(Takes takes) {
  return {
      .name = "most_frequent",
      .takes = takes,
      .gives = Gives::label,
      .title = "The most frequent label",
      .paper = "",
      .equation = "y = argmax_c n_c",
      .options = [](const Settings&) { return Infos(); },
      .make = [](Scope s, const ModelSizes& sizes,
                 const Settings&) { return std::make_unique<const MostFrequentLabel>(s, sizes); }};
}

}  // namespace

std::vector<ModelEntry> baseline_rows() {
  return {
      linear_row(Takes::text, "Linear SVM over n-grams of words and letters"),
      linear_row(Takes::pair, "Linear SVM over n-grams of both texts, what they share, or numbers"),
      linear_row(Takes::phrase, "Linear SVM over n-grams of the sentence and round its phrase"),
      {.name = "crf",
       .takes = Takes::text,
       .gives = Gives::labels,
       .title = "Linear-chain conditional random field over words",
       .paper = "Lafferty, McCallum, Pereira 2001; Sha, Pereira 2003",
       .equation = "p(y) ~ exp(sum_t w_(y_t) . x_t + A[y_(t-1), y_t])",
       .options = [](const Settings&) { return crf_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const CrfTagger>(s, sizes, crf_fields().read(settings));
           }},
      {.name = "most_frequent",
       .takes = Takes::text,
       .gives = Gives::labels,
       .title = "The most frequent label of each word",
       .paper = "",
       .equation = "y_t = argmax_c n_(x_t, c)",
       .options = [](const Settings&) { return Infos(); },
       .make = [](Scope s, const ModelSizes& sizes,
                  const Settings&) { return std::make_unique<const MostFrequentTag>(s, sizes); }},
      most_frequent_row(Takes::text),
      most_frequent_row(Takes::pair),
      most_frequent_row(Takes::phrase),
      {.name = "linear",
       .takes = Takes::text,
       .gives = Gives::number,
       .title = "Ridge regression over n-grams of words and letters",
       .paper = "Hoerl, Kennard 1970",
       .equation = "y = w . x + b,  x = tf-idf of n-grams",
       .options = [](const Settings&) { return linear_model_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const LinearRegressor>(s, sizes,
                                                            linear_model_fields().read(settings));
           }},
      {.name = "mean",
       .takes = Takes::text,
       .gives = Gives::number,
       .title = "The mean of what was learned from",
       .paper = "",
       .equation = "y = mean_i y_i",
       .options = [](const Settings&) { return Infos(); },
       .make = [](Scope s, const ModelSizes&,
                  const Settings&) { return std::make_unique<const MeanNumber>(s); }},
      {.name = "ngram",
       .takes = Takes::text,
       .gives = Gives::next,
       .title = "Counted n-grams, interpolated",
       .paper = "Kneser, Ney 1995; Chen, Goodman 1999",
       .equation = "p(w | h) = max(c(hw) - D, 0) / c(h) + g(h) p(w | h')",
       .options = [](const Settings&) { return ngram_model_fields().infos(); },
       .make =
           [](Scope, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const KneserNey>(sizes, ngram_model_fields().read(settings));
           }},
      {.name = "nearest",
       .takes = Takes::numbers,
       .gives = Gives::number,
       .title = "The mean of the nearest known examples",
       .paper = "Fix, Hodges 1951",
       .equation = "f(q) = mean of v_j over the n nearest k_j, n chosen on validation",
       .options = [](const Settings&) { return Infos(); },
       .make = [](Scope s, const ModelSizes&,
                  const Settings&) { return std::make_unique<const NearestNeighbours>(s); }},
      {.name = "least_squares",
       .takes = Takes::numbers,
       .gives = Gives::number,
       .title = "Least squares",
       .paper = "Legendre 1805",
       .equation = "f(q) = w . q + b",
       .options = [](const Settings&) { return Infos(); },
       .make = [](Scope s, const ModelSizes& sizes,
                  const Settings&) { return std::make_unique<const LeastSquares>(s, sizes); }},
  };
}

}  // namespace fovea
