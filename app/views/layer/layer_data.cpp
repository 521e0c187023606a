// SPDX-License-Identifier: GPL-3.0-or-later
// From the Session to the picture of a layer.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/vocabulary/vocabulary_picture.h"
#include "engine/passes/pieces.h"
#include "engine/plan/layer/context/context_times.h"
#include "engine/plan/program/report.h"
#include "engine/predict/predicted_layer.h"

namespace parallelarium {
namespace {

struct DataWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

const QString kDot = QStringLiteral(" \u00b7 ");

std::shared_ptr<const LayerSpans> spans_of(const LayerSteps& layer, const Timeline& timeline) {
  auto out = std::make_shared<LayerSpans>();
  out->source = timeline.source;
  bool first = true, first_of_context = true;
  const auto widen = [](Span& window, const Span& by, bool& is_first) {
    window.begin = is_first ? by.begin : std::min(window.begin, by.begin);
    window.end = is_first ? by.end : std::max(window.end, by.end);
    is_first = false;
  };
  for (std::size_t at = 0; at < layer.steps.size(); ++at) {
    const LayerStep& step = layer.steps[at];
    const bool of_context =
        int(at) >= layer.context.first_step && int(at) <= layer.context.last_step;
    auto& ranks = out->spans.emplace_back();
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
      std::optional<Span>& span = ranks.emplace_back();
      const LayerRankStep& of = step.ranks[rank];
      const std::size_t built = std::size_t(layer.ranks[rank].built);
      if (of.first_op < 0 || built >= timeline.ranks.size()) continue;
      const std::vector<Span>& all = timeline.ranks[built].spans;
      if (std::size_t(of.last_op) >= all.size()) continue;
      span = {all[std::size_t(of.first_op)].begin, all[std::size_t(of.last_op)].end};
      widen(out->window, *span, first);
      if (of_context) widen(out->context, *span, first_of_context);
    }
  }
  return first ? nullptr : out;
}

LayerRunFigures figures_of(const LayerSteps& layer, const Program& program, const Observation& run,
                           int rank) {
  return {run.source, layer_counted(layer, program, run, rank),
          layer_flops_per_second(layer, run.timeline, rank)};
}

QString title_of_layer(const Setup& setup, const LayerChoice& choice, const LayerSteps& layer) {
  const LayerContext& context = layer.context;
  QStringList parts{layer_place_name(choice),
                    DataWords::tr("micro-batch %1").arg(choice.microbatch),
                    choice.backward ? DataWords::tr("backward") : DataWords::tr("forward")};
  if (setup.mesh.tp > 1)
    parts << (setup.sequence_parallel
                  ? DataWords::tr("TP %1 with sequence parallel").arg(setup.mesh.tp)
                  : DataWords::tr("TP %1, sequence parallel off").arg(setup.mesh.tp));
  if (setup.mesh.cp > 1)
    parts << QStringList{QStringLiteral("CP %1").arg(setup.mesh.cp),
                         context_method_text(context, setup.cp_split)}
                 .join(QLatin1Char(' '))
                 .trimmed();
  if (layer.experts && setup.mesh.ep > 1) parts << QStringLiteral("EP %1").arg(setup.mesh.ep);
  if (setup.context_parallel == ContextParallel::kRing && context.rounds.size() == 1 &&
      !context.by_heads && !context.moves.empty())
    parts << DataWords::tr("a ring needs fused attention");
  return parts.join(kDot);
}

}  // namespace

LayerPicture layer_picture(const Session& session, LayerLook look,
                           std::shared_ptr<const LayerSteps> layer) {
  const std::shared_ptr<const Prediction> prediction = session.subject().prediction();
  const Setup& setup = prediction->setup;
  LayerPicture picture;
  look.choice = valid_layer_choice(setup, look.choice);
  picture.predicted_word = prediction_source_text(prediction->word);
  picture.playhead = session.playback().playhead();
  picture.dimmed = !session.problems().empty();
  picture.can_look_inside = can_look_inside(session);
  const auto hides = [&](const char* figure, const char* of_layer) {
    return session.locks().hidden(QLatin1String(figure)) ||
           session.locks().hidden(QLatin1String(of_layer));
  };
  picture.hides_time =
      hides("lane.predicted", "layer.seconds") || session.locks().hidden_of_ops().times;
  picture.hides_traffic = hides("traffic.sent_bytes", "layer.sent_bytes");
  picture.hides_memory = hides("memory.peak_bytes", "layer.kept_bytes");
  picture.hides_flops = session.locks().hidden(QStringLiteral("layer.flops"));
  picture.hides_blocks = session.locks().hidden(QStringLiteral("layer.blocks"));
  picture.layer =
      layer ? std::move(layer)
            : std::make_shared<const LayerSteps>(predicted_layer(*prediction, look.choice));
  picture.title = title_of_layer(setup, look.choice, *picture.layer);
  if (picture.layer->steps.empty()) {
    picture.empty =
        DataWords::tr("A program of this size is made of whole stages; its layers have no pieces.");
    look.step = -1;
  } else if (look.context_alone && setup.mesh.cp == 1) {
    picture.empty =
        DataWords::tr("With CP 1 every rank has all tokens of a sequence; set CP to 2 or more.");
  }
  look.step = std::min(look.step, int(picture.layer->steps.size()) - 1);
  look.rank = std::clamp(look.rank, 0, std::max(0, int(picture.layer->ranks.size()) - 1));
  if (look.inside && (!(look.inside->of == setup) || !(look.inside->choice == look.choice)))
    look.inside.reset();
  picture.look = look;
  if (look.choice.place != LayerPlace::kLayer) {
    if (setup.mesh.tp == 1)
      picture.notice = DataWords::tr("Nothing is cut by words: every rank has all %1.")
                           .arg(count_text(setup.model.vocab));
  } else if (setup.mesh.tp == 1 && setup.mesh.cp == 1 && picture.layer->ranks.size() <= 1)
    picture.notice = DataWords::tr("Nothing is split: one rank computes the whole layer.");
  if (!picture.drawn()) return picture;
  if (picture.layer->routed)  // as long as the layer
    picture.routed = {picture.layer, &*picture.layer->routed};
  picture.sends_copies =
      !routes_own_tokens(setup) && setup.expert_dispatch != ExpertDispatch::kOncePerNode;
  if (!picture.hides_time) picture.predicted = spans_of(*picture.layer, prediction->timeline);
  picture.flops_per_second =
      layer_flops_per_second(*picture.layer, prediction->timeline, look.rank);
  const RunRecord* run = session.runs().current();
  picture.stale = session.runs().current_is_stale();
  if (!run || !run->observed() || session.runs().current_is_stale() ||
      session.locks().hidden(QStringLiteral("lane.run")))
    return picture;
  // Of the same Setup the same Program is built.
  const auto of_run =
      run->prediction->setup == setup
          ? picture.layer
          : std::make_shared<const LayerSteps>(predicted_layer(*run->prediction, look.choice));
  if (of_run->steps.size() == picture.layer->steps.size())
    picture.run = figures_of(*of_run, run->prediction->program, run->observation, look.rank);
  if (picture.hides_time) return picture;
  if (picture.run) picture.observed = spans_of(*of_run, run->observation.timeline);
  if (const Routing* counted = routing_of_timeline(run->observation); counted && picture.routed) {
    Result<RoutedLayer> routed =
        route_layer(setup, look.choice.layer, look.choice.microbatch, 0, counted);
    if (routed) picture.routed = std::make_shared<const RoutedLayer>(std::move(*routed));
  }
  if (picture.shows_context())
    picture.attention_ratios = over_least(attention_seconds(
        run->prediction->setup, run->prediction->program, run->observation.timeline));
  return picture;
}

double layer_share_done(const LayerPicture& picture, int step, int rank) {
  const LayerSpans* times = picture.shown();
  if (!times) return 1;
  // What sends nothing happens with the piece behind it.
  for (std::size_t at = std::size_t(step); at < times->spans.size(); ++at) {
    const std::optional<Span>& span = times->spans[at][std::size_t(rank)];
    if (!span) continue;
    if (picture.playhead <= span->begin) return 0;
    if (picture.playhead >= span->end || int(at) != step) return 1;
    return double((picture.playhead - span->begin).count()) /
           double((span->end - span->begin).count());
  }
  return 1;
}

}  // namespace parallelarium
