#include "fovea/model/sight/word_rows.h"

#include <algorithm>

#include "fovea/model/named_attention.h"
#include "fovea/model/sight/captioner.h"
#include "fovea/model/sight/picture_question.h"

namespace fovea {
namespace {

using Infos = std::vector<FieldInfo>;

void leave_out(Infos& list, const std::vector<std::string>& names) {
  std::erase_if(list, [&](const FieldInfo& info) {
    return std::ranges::find(names, info.name) != names.end();
  });
}

AttentionOptions starting_with(const std::string& score) {
  AttentionOptions start;
  start.score = score;
  return start;
}

// What counts of the captioner and its attention.
Infos options_of(const Settings& settings, Looking looking) {
  Infos list = captioner_option_list();
  if (looking != Looking::hard) leave_out(list, hard_looking_options());
  if (looking == Looking::none) {
    leave_out(list, {"penalty"});
    return list;
  }
  Infos attention = attention_options(settings, starting_with("additive"));
  // It asks with its state, one region's weights at a time; hard looks are drawn from a softmax.
  leave_out(attention, {"query", "heads", "hops"});
  if (looking == Looking::hard) leave_out(attention, {"align", "alpha", "reach"});
  for (FieldInfo& info : attention) {
    if (std::ranges::find(list, info.name, &FieldInfo::name) == list.end()) {
      list.push_back(std::move(info));
    }
  }
  return list;
}

template <class Model>
ModelEntry captioner_row(const std::string& name, Takes takes, Looking looking) {
  ModelEntry row;
  row.name = name, row.takes = takes, row.gives = Gives::tokens;
  row.options = [looking](const Settings& s) { return options_of(s, looking); };
  row.make = [looking](Scope s, const ModelSizes& sizes, const Settings& settings) {
    return std::make_unique<const Model>(
        s, sizes, looking, captioner_options(settings),
        attention_fields().read(settings, starting_with("additive")));
  };
  return row;
}

ModelEntry question_row(const std::string& mechanism, const std::string& score) {
  const bool attends = mechanism == "parallel" || mechanism == "alternating";
  ModelEntry row;
  row.name = mechanism, row.takes = Takes::scene, row.gives = Gives::label;
  row.paper = "Lu, Yang, Batra, Parikh 2016";
  row.options = [=](const Settings& s) {
    Infos list = picture_question_fields().infos();
    if (mechanism == "question") leave_out(list, {"stages", "blocks", "channels", "conv_block"});
    if (!attends) return list;
    for (FieldInfo& info : attention_options_of(mechanism, s, starting_with(score))) {
      list.push_back(std::move(info));
    }
    return list;
  };
  row.make = [=](Scope s, const ModelSizes& sizes, const Settings& settings) {
    return std::make_unique<const PictureQuestionModel>(
        s, mechanism, sizes, picture_question_fields().read(settings),
        attention_fields().read(settings, starting_with(score)));
  };
  return row;
}

}  // namespace

std::vector<ModelEntry> sight_word_rows() {
  ModelEntry soft = captioner_row<Captioner>("soft", Takes::picture, Looking::soft);
  soft.title = "Captioner that looks at all regions, as much as each is worth";
  soft.paper = "Xu et al. 2015";
  soft.equation =
      "z_t = b_t sum_i a_ti r_i,  a_t = align(score(h_(t-1), r)),  h_t = LSTM([y; z_t])";
  ModelEntry hard = captioner_row<Captioner>("hard", Takes::picture, Looking::hard);
  hard.title = "Captioner that looks at one region for each word, drawn while it learns";
  hard.paper = "Xu et al. 2015; Williams 1992";
  hard.equation = "z_t = b_t r_s,  s ~ softmax(score(h_(t-1), r)),  h_t = LSTM([y; z_t])";
  ModelEntry mean = captioner_row<Captioner>("mean", Takes::picture, Looking::none);
  mean.title = "Captioner that has the mean of the regions, without attention";
  mean.paper = "Vinyals et al. 2015";
  mean.equation = "z_t = b_t mean_i r_i,  h_t = LSTM([y; z_t])";
  ModelEntry temporal = captioner_row<FilmCaptioner>("temporal", Takes::frames, Looking::soft);
  temporal.title = "Captioner of films that looks at frames";
  temporal.paper = "Yao et al. 2015";
  temporal.equation = "z_t = b_t sum_f a_tf v_f,  v_f = net(frame f beside the one before) + p_f";
  temporal.defaults = {{"stages", "2"}};
  ModelEntry frames = captioner_row<FilmCaptioner>("mean_frames", Takes::frames, Looking::none);
  frames.title = "Captioner of films that has the mean of the frames, without attention";
  frames.paper = "Venugopalan et al. 2015";
  frames.equation = "z_t = b_t mean_f v_f";
  frames.defaults = temporal.defaults;
  ModelEntry parallel = question_row("parallel", "activated_general");
  parallel.title = "Parallel co-attention between a question's words and a picture's regions";
  parallel.equation = "A = score(Q, V), e_q = w_q tanh(W_q Q + W_v V A^T), at three levels";
  ModelEntry alternating = question_row("alternating", "additive");
  alternating.title = "Alternating co-attention between a question's words and a picture's regions";
  alternating.equation = "s = attend(q_0, Q), v = attend(s, V), q = attend(v, Q), at three levels";
  ModelEntry pooled = question_row("mean", "additive");
  pooled.title = "The means of the question and of the regions, without attention";
  pooled.equation = "h = tanh(W (mean(Q) + mean(V)))";
  ModelEntry question = question_row("question", "additive");
  question.title = "The question alone, whatever its picture";
  question.equation = "h = tanh(W mean(Q))";
  return {soft, hard, mean, temporal, frames, parallel, alternating, pooled, question};
}

}  // namespace fovea
