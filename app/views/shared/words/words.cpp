// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/words/words.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/look/words.h"
#include "app/settings/setup_fields.h"
#include "app/state/step/order_edit.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/shared/words/shared_texts.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/model/model_presets.h"
#include "engine/plan/setup/schedule_rules.h"

namespace parallelarium {
namespace {

// Times of ops, as a lesson lets them be read.
struct OpTimes {
  bool hidden;
  const QLocale& locale;
  QString text(Nanoseconds time) const { return shown_time(time, hidden, locale); }
};

QString duration_line(const QString& source, const Bar& bar, const OpTimes& times) {
  return source + QLatin1Char(' ') + times.text(bar.span.end - bar.span.begin);
}

// Shortest and longest over the timed steps; the bar's ops added up.
QString spread_text(const LaneRows& rows, int rank_index, const Bar& bar, const OpTimes& times) {
  const RankTimeline& rank = rows.timeline->ranks[static_cast<std::size_t>(rank_index)];
  const auto last = static_cast<std::size_t>(bar.last_op);
  if (rows.timeline->steps < 2 || rank.shortest.size() <= last || rank.longest.size() <= last)
    return {};
  Nanoseconds low{0}, high{0};
  const auto& ops = rows.program().ranks[static_cast<std::size_t>(rank_index)].ops;
  for (auto op = static_cast<std::size_t>(bar.first_op); op <= last; ++op) {
    if (ops[op].lane != bar.lane) continue;
    low += rank.shortest[op];
    high += rank.longest[op];
  }
  return SharedTexts::tr("%1 to %2 over %3 steps")
      .arg(times.text(low), times.text(high))
      .arg(rows.timeline->steps);
}

// "waited 0.3 ms for ...": the idle time that ends where the bar begins.
QString waited_line(const LaneRows& rows, int rank_index, const Bar& bar, const OpTimes& times) {
  if (bar.lane != Lane::kCompute) return {};
  for (const IdleGap& gap : rows.gaps_of(rank_index)) {
    if (gap.span.end < bar.span.begin) continue;
    if (gap.span.end > bar.span.begin) break;
    const QString why = sentence(gap.why);
    return SharedTexts::tr("before it: idle %1, %2")
        .arg(times.text(gap.span.end - gap.span.begin), why);
  }
  return {};
}

// "inside: computing 8.2 ms, 12 collectives 3.1 ms, waiting 2 ms": what a bar of an action or layer
// is made of.
QString parts_line(const LaneRows& rows, OpRef op, Zoom zoom, const OpTimes& times) {
  const Row* row = rows.row_of(op.rank);
  const Bar* bar = rows.bar_of(op, zoom);
  if (!row || !bar || bar->lane != Lane::kCompute || !row->opens()) return {};
  const BarList& list = row->lane(Lane::kCompute, zoom);
  const auto index = static_cast<std::size_t>(bar - list.bars.data());
  if (list.parts_of(index) < 2) return {};
  const InsideTimes inside = inside_times(row->lane(Lane::kCompute, Zoom::kPieces), list, index);
  const bool waits = list.waits_long(index);
  if (inside.collectives == 0 && !waits) return {};
  QStringList parts = {SharedTexts::tr("computing %1").arg(times.text(inside.computing))};
  if (inside.collectives > 0)
    parts.append(SharedTexts::tr("%1 collectives %2")
                     .arg(inside.collectives)
                     .arg(times.text(inside.communicating)));
  if (waits) parts.append(SharedTexts::tr("waiting %1").arg(times.text(inside.waiting)));
  return SharedTexts::tr("inside: %1").arg(parts.join(QStringLiteral(", ")));
}

QString difference_line(Source source, const Bar& predicted, const Bar& observed,
                        const QLocale& locale) {
  switch (source) {
    case Source::kPaced:
      return SharedTexts::tr("the duration is set");
    case Source::kOversubscribed:
    case Source::kSharedGpu:
      return SharedTexts::tr("times are not evidence of speed");
    default:
      break;
  }
  const auto seconds = [](const Bar& bar) {
    return static_cast<double>((bar.span.end - bar.span.begin).count()) / 1e9;
  };
  return SharedTexts::tr("difference %1")
      .arg(relative_text(seconds(predicted), seconds(observed), locale));
}

QString idle_word(IdleKind kind) {
  switch (kind) {
    case IdleKind::kWarmUp:
      return SharedTexts::tr("warm-up");
    case IdleKind::kWait:
      return SharedTexts::tr("wait");
    case IdleKind::kTransfer:
      return SharedTexts::tr("transfer");
    case IdleKind::kDrain:
      return SharedTexts::tr("drain");
  }
  return {};
}

}  // namespace

QString schedule_title(const Schedule& schedule) {
  if (schedule.order() && schedule.name() == kOwnOrderName) return SharedTexts::tr("your order");
  const ScheduleRule* rule = find_schedule_rule(schedule);
  return rule != nullptr ? sentence(title_of(*rule)) : QString::fromStdString(schedule.name());
}

QStringList bar_lines(const LaneRows* predicted, const LaneRows* observed, OpRef op, bool fresh,
                      Zoom zoom, const HiddenOfOps& hides, const QLocale& locale) {
  const OpTimes times{hides.times, locale};
  const Bar* ours = predicted ? predicted->bar_of(op, zoom) : nullptr;
  const Bar* theirs = observed ? observed->bar_of(op, zoom) : nullptr;
  if (!ours && !theirs) return {};
  const LaneRows& first = ours ? *predicted : *observed;
  const Bar& bar = ours ? *ours : *theirs;
  QStringList lines{bar_sentence(first.program(), op.rank, bar)};
  if (ours)
    lines << duration_line(prediction_source_text(predicted->prediction->word), *ours, times);
  if (theirs) {
    QString line = duration_line(source_text(observed->timeline->source), *theirs, times);
    const QString spread = spread_text(*observed, op.rank, *theirs, times);
    if (!spread.isEmpty()) line += kDotBetween + spread;
    lines << line;
    if (ours && fresh && !hides.times)
      lines << difference_line(observed->timeline->source, *ours, *theirs, locale);
  }
  const QString parts = parts_line(theirs ? *observed : *predicted, op, zoom, times);
  if (!parts.isEmpty()) lines << parts;
  std::int64_t bytes = 0;
  const auto& ops = first.program().ranks[static_cast<std::size_t>(op.rank)].ops;
  for (auto index = bar.first_op; index <= bar.last_op; ++index) {
    const Op& part = ops[static_cast<std::size_t>(index)];
    if (part.kind != OpKind::kCompute && part.lane == bar.lane) bytes += part.bytes * part.repeat;
  }
  if (bytes > 0 && !hides.bytes)
    lines << SharedTexts::tr("%1 (%2)").arg(exact_bytes_text(bytes, locale),
                                            bytes_text(bytes, locale));
  const LaneRows& waited = theirs ? *observed : *predicted;
  const QString wait = waited_line(waited, op.rank, theirs ? *theirs : *ours, times);
  if (!wait.isEmpty()) lines << wait;
  return lines;
}

QString idle_sentence(const LaneRows& rows, int rank_index, Nanoseconds time,
                      const HiddenOfOps& hides, const QLocale& locale) {
  for (const IdleGap& gap : rows.gaps_of(rank_index)) {
    if (time < gap.span.begin) break;
    if (time > gap.span.end) continue;
    return SharedTexts::tr("Idle %1, %2: %3")
        .arg(shown_time(gap.span.end - gap.span.begin, hides.times, locale), idle_word(gap.kind),
             sentence(gap.why));
  }
  return {};
}

QString picture_title(const Setup& setup) {
  QStringList parts;
  parts << (setup.mesh.pp == 1 ? SharedTexts::tr("No pipeline") : schedule_title(setup.schedule));
  parts << plural(setup.mesh.pp, QT_TRANSLATE_NOOP("words", "%1 stage"),
                  QT_TRANSLATE_NOOP("words", "%1 stages"));
  parts << plural(setup.microbatches, QT_TRANSLATE_NOOP("words", "%1 micro-batch"),
                  QT_TRANSLATE_NOOP("words", "%1 micro-batches"));
  if (setup.mesh.dp > 1)
    parts << plural(setup.mesh.dp, QT_TRANSLATE_NOOP("words", "%1 replica"),
                    QT_TRANSLATE_NOOP("words", "%1 replicas"));
  if (setup.mesh.tp > 1) parts << SharedTexts::tr("TP %1").arg(setup.mesh.tp);
  if (setup.mesh.cp > 1) parts << SharedTexts::tr("CP %1").arg(setup.mesh.cp);
  return parts.join(kDotBetween);
}

QString model_words(const Model& model) {
  const Model* const preset = model.name == "custom" ? preset_at_any_sequence(model) : nullptr;
  return sentence(title_of(preset ? *preset : model));
}

QString setup_footer(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  QStringList parts;
  parts << model_words(setup.model);
  parts << plural(setup.model.layers, QT_TRANSLATE_NOOP("words", "%1 layer"),
                  QT_TRANSLATE_NOOP("words", "%1 layers"));
  parts << SharedTexts::tr("DP %1 TP %2 PP %3 CP %4 EP %5")
               .arg(mesh.dp)
               .arg(mesh.tp)
               .arg(mesh.pp)
               .arg(mesh.cp)
               .arg(mesh.ep);
  parts << schedule_title(setup.schedule);
  parts << (setup.microbatches == 1 ? SharedTexts::tr("%1 micro-batch of %2")
                                    : SharedTexts::tr("%1 micro-batches of %2"))
               .arg(setup.microbatches)
               .arg(setup.micro_batch);
  parts << SharedTexts::tr("ZeRO %1").arg(setup.zero);
  parts << QString::fromStdString(setup.precision.name);
  return parts.join(kDotBetween);
}

QString machine_footer(const Prediction& prediction) {
  const Machine& machine = prediction.machine;
  QString text = sentence(title_of(machine));
  if (!machine.calibrated.empty())
    text += kDotBetween +
            SharedTexts::tr("calibrated %1").arg(QString::fromStdString(machine.calibrated));
  else
    text += kDotBetween + prediction_source_text(prediction.word);
  return text;
}

QString moment_sentence(const LaneRows& rows, Nanoseconds time, const HiddenOfOps& hides,
                        bool with_held, const QLocale& locale) {
  QStringList stages;
  int stage = -1;
  for (const Row& row : rows.rows) {
    if (row.stage == stage) continue;  // the first replica stands for its stage
    stage = row.stage;
    const StageMoment moment = moment_of(row, time);
    QStringList held;
    for (const int microbatch : moment.held) held << QString::number(microbatch);
    const QString does = moment.bar ? bar_labels(*moment.bar).front() : SharedTexts::tr("idle");
    if (!with_held) {
      stages << SharedTexts::tr("stage %1 %2").arg(stage).arg(does);
      continue;
    }
    stages << SharedTexts::tr("stage %1 %2, %3")
                  .arg(stage)
                  .arg(does, held.isEmpty()
                                 ? SharedTexts::tr("holds nothing")
                                 : SharedTexts::tr("holds %1").arg(held.join(QLatin1Char(' '))));
  }
  return SharedTexts::tr("At %1: %2.")
      .arg(shown_time(time, hides.times, locale), stages.join(QStringLiteral("; ")));
}

}  // namespace parallelarium
