// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/roofline/roofline_data.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/plan/plan_search.h"
#include "app/views/shared/words/plan_words.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

struct RooflineWords {
  Q_DECLARE_TR_FUNCTIONS(RooflineView)
};

QString phase_text(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return RooflineWords::tr("forward");
    case Phase::kRecompute:
      return RooflineWords::tr("recompute");
    case Phase::kInputGrad:
      return RooflineWords::tr("input gradient");
    case Phase::kWeightGrad:
      return RooflineWords::tr("weight gradient");
    default:
      return RooflineWords::tr("update");
  }
}

}  // namespace

const RooflinePoint* RooflineData::point() const {
  if (!roofline || hidden || roofline->points.empty()) return nullptr;
  return &roofline->points[std::size_t(std::clamp(selected, 0, int(roofline->points.size()) - 1))];
}

bool RooflineData::selects(const RooflinePiece& piece) const {
  return point() && point()->piece == piece.piece;
}

RooflineData roofline_data(const Session& session, int layer, int selected) {
  RooflineData data;
  // The search is the Session's own part; what it has predicted is no state that is shown.
  PlanSearch& search = PlanSearch::of(const_cast<Session&>(session));
  data.whose = whose_text(session);
  const bool of_plan = search.shows_plan();
  const std::shared_ptr<const Prediction> plan =
      of_plan ? search.prediction_of(search.selected()->setup) : nullptr;
  if (of_plan && !plan) {
    data.refusal = RooflineWords::tr("Predicting the plan …");
    return data;
  }
  const RunRecord* run = session.runs().current();
  data.measured = !of_plan && run && run->observed() && !session.runs().current_is_stale() &&
                  run->observation.source == Source::kMeasured;
  const Prediction& prediction = of_plan         ? *plan
                                 : data.measured ? *run->prediction
                                                 : *session.subject().prediction();
  data.layers = prediction.setup.model.layers;
  data.machine = sentence(title_of(prediction.machine));
  data.model = model_words(prediction.setup.model);
  data.source = prediction_source_text(prediction.word);
  const Machine& machine = prediction.machine;
  if (machine.usable_memory_share < 1)
    data.limit = RooflineWords::tr("Of the memory of a device %1 may be used.")
                     .arg(bytes_text(
                         std::int64_t(machine.memory_bytes.value * machine.usable_memory_share)));
  data.selected = selected;
  data.dimmed = of_plan ? search.is_outdated() : !session.problems().empty();
  for (const char* key : {"lane.predicted", "step.seconds", "roofline"})
    data.hidden = data.hidden || session.locks().hidden(QLatin1String(key));
  if (prediction.program.ranks.empty()) {
    data.refusal = RooflineWords::tr("No prediction yet");
    return data;
  }
  Result<Roofline> made =
      roofline_of(prediction, layer, data.measured ? &run->observation.timeline : nullptr);
  if (!made) {
    data.refusal = sentence(made.error());
    return data;
  }
  data.roofline = std::move(*made);
  data.numbers.resize(data.roofline->points.size());
  for (std::size_t at = 0; at < data.roofline->pieces.size(); ++at)
    for (const int point : data.roofline->pieces[at].points)
      data.numbers[std::size_t(point)] = int(at) + 1;
  return data;
}

QString seconds_or_dash(double seconds) {
  return seconds > 0 ? seconds_text(seconds) : QStringLiteral("–");
}

QString point_text(const RooflinePoint& point) {
  return QStringLiteral("%1, %2").arg(name_text(point.piece), phase_text(point.phase));
}

QString bound_text(RooflineBound bound) {
  switch (bound) {
    case RooflineBound::kCompute:
      return RooflineWords::tr("arithmetic");
    case RooflineBound::kMemory:
      return RooflineWords::tr("memory");
    default:
      return RooflineWords::tr("launch");
  }
}

QString flops_rate_text(double flops_per_second) {
  return value_text(flops_per_second, "flops_per_second");
}

namespace {

QString origins_of(const LadderRow& row, QString (*text_of)(const Origin& origin)) {
  const Sourced &latency = row.latency_seconds, &rate = row.bytes_per_second;
  if (latency.value <= 0) return text_of(rate.origin);
  const QString of_latency = text_of(latency.origin), of_rate = text_of(rate.origin);
  return rate.value <= 0 || of_rate == of_latency
             ? of_latency
             : RooflineWords::tr("%1; rate: %2").arg(of_latency, of_rate);
}

}  // namespace

QString ladder_origin(const LadderRow& row) { return origins_of(row, origin_text); }

QString ladder_origin_word(const LadderRow& row) { return origins_of(row, origin_word); }

QString roofline_title(const RooflineData& data) {
  if (!data.roofline) return data.refusal;
  return RooflineWords::tr("Roofline · %1 · layer %2 of %3 on rank %4, one micro-batch")
      .arg(data.machine)
      .arg(data.roofline->layer)
      .arg(data.model)
      .arg(data.roofline->rank);
}

std::vector<std::pair<QString, QString>> point_facts(const RooflinePoint& point) {
  std::vector<std::pair<QString, QString>> facts = {
      {RooflineWords::tr("FLOP per byte"), number_text(point.intensity())},
      {RooflineWords::tr("computes"), value_text(point.flops, "flops")},
      {RooflineWords::tr("moves at least"), bytes_text(std::int64_t(point.bytes))},
      {RooflineWords::tr("predicted"), seconds_or_dash(point.seconds)},
      {RooflineWords::tr("reaches"), flops_rate_text(point.rate())},
      {RooflineWords::tr("bound by"), bound_text(point.bound)}};
  if (point.measured_seconds > 0) {
    facts.emplace_back(RooflineWords::tr("measured"), seconds_text(point.measured_seconds));
    facts.emplace_back(RooflineWords::tr("reached"), flops_rate_text(point.measured_rate()));
  }
  return facts;
}

QString roofline_description(const RooflineData& data) {
  QStringList said{roofline_title(data), data.whose};
  if (!data.roofline) return said.join(QLatin1Char('\n'));
  for (const RooflineCeiling& ceiling : data.roofline->ceilings)
    if (ceiling.flops_per_second > 0)
      said << RooflineWords::tr("%1: %2, ridge at %3 FLOP per byte, %4.")
                  .arg(sentence(ceiling.name), flops_rate_text(ceiling.flops_per_second),
                       number_text(ceiling.ridge), origin_text(ceiling.origin));
  for (const LadderRow& row : data.roofline->ladder) {
    QStringList known;
    if (row.bytes > 0) known << bytes_text(row.bytes);
    if (row.bytes_per_second.value > 0) known << rate_text(row.bytes_per_second.value);
    if (row.latency_seconds.value > 0)
      known << RooflineWords::tr("latency %1").arg(seconds_text(row.latency_seconds.value));
    said << RooflineWords::tr("%1: %2, %3.")
                .arg(sentence(row.name), known.join(QStringLiteral(", ")), ladder_origin(row));
  }
  if (!data.limit.isEmpty()) said << data.limit;
  if (data.hidden) {
    said << RooflineWords::tr("Hidden until you answer.");
    return said.join(QLatin1Char('\n'));
  }
  for (const Quantity& quantity : roofline_quantities(data))
    said << QStringLiteral("%1: %2.").arg(quantity.title, quantity.predicted.text);
  for (const RooflinePiece& piece : data.roofline->pieces)
    said << RooflineWords::tr("%1: %2 of the layer's time.")
                .arg(name_text(piece.piece), share_text(piece.share));
  for (std::size_t at = 0; at < data.roofline->points.size(); ++at) {
    QStringList facts;
    for (const auto& [word, value] : point_facts(data.roofline->points[at]))
      facts << QStringLiteral("%1 %2").arg(word, value);
    said << QStringLiteral("%1. %2: %3")
                .arg(data.numbers[at])
                .arg(point_text(data.roofline->points[at]), facts.join(QStringLiteral(", ")));
  }
  return said.join(QLatin1Char('\n'));
}

std::vector<Quantity> roofline_quantities(const RooflineData& data) {
  const Roofline none;
  const Roofline& of = data.roofline ? *data.roofline : none;
  const auto quantity = [&](const char* key, const QString& title, const QString& text,
                            double value) {
    Quantity made;
    made.key = QLatin1String(key);
    made.title = title;
    made.predicted = {data.roofline ? text : QString(), data.source, {}, false};
    made.predicted_value = value;
    return made;
  };
  std::vector<Quantity> five = {
      quantity("roofline.forward_seconds", RooflineWords::tr("Layer, forward"),
               seconds_text(of.forward_seconds), of.forward_seconds),
      quantity("roofline.memory_share", RooflineWords::tr("Share waiting for memory"),
               share_text(of.memory_share), of.memory_share),
      quantity("roofline.intensity", RooflineWords::tr("FLOP per byte, mean"),
               number_text(of.intensity), of.intensity),
      quantity("roofline.of_peak", RooflineWords::tr("Of peak arithmetic"), share_text(of.of_peak),
               of.of_peak)};
  for (Quantity& made : five) {
    made.note = RooflineWords::tr("of one micro-batch");
    if (data.hidden) made.predicted = hidden_figure();
  }
  // The machine's own, which the plot shows while a lesson asks, too.
  five.push_back(
      quantity("roofline.ridge", RooflineWords::tr("Ridge"), number_text(of.ridge), of.ridge));
  five.back().predicted.source = RooflineWords::tr("FLOP per byte");
  if (of.ridge <= 0) five.back().predicted.text = QStringLiteral("–");
  return five;
}

}  // namespace parallelarium
