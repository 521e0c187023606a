// SPDX-License-Identifier: GPL-3.0-or-later
// Titles of predictions and runs, and in what a run differs from what is set.
#include <QRegularExpression>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/look/words.h"
#include "app/settings/setup_fields.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/shared/words/shared_texts.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/model/model_presets.h"

namespace parallelarium {

QString predicted_title(const Prediction& prediction) {
  const QString machine = sentence(title_of(prediction.machine));
  if (prediction.word == "peak")
    return SharedTexts::tr("LOWER BOUND AT PEAK RATES") + kDotBetween +
           SharedTexts::tr("on %1").arg(machine);
  const QString predicted = SharedTexts::tr("PREDICTED") + kDotBetween;
  if (prediction.cores_for_gpus)
    return predicted + SharedTexts::tr("for the cores, as the GPUs are not calibrated yet");
  // Of ranks that share cores a rehearsal gives every lane one of its own.
  const bool apart =
      prediction.machine.lanes_share_core && prediction.setup.run.backend == Backend::kPaced;
  const QString cores = apart ? kDotBetween + SharedTexts::tr("a core for every lane") : QString();
  if (prediction.word == "assumed")
    return predicted +
           (prediction.machine.local
                ? SharedTexts::tr("assumed rates, this computer is not calibrated yet") + cores
                : SharedTexts::tr("for %1, assumed rates").arg(machine));
  if (prediction.word == "published")
    return predicted + SharedTexts::tr("for %1, published efficiencies").arg(machine);
  if (outdated_rates(prediction.setup, prediction.machine))
    return predicted + SharedTexts::tr("for this engine, calibrated by an older version") + cores;
  return predicted + (prediction.machine.local
                          ? SharedTexts::tr("for this engine, calibrated") + cores
                          : SharedTexts::tr("for %1, calibrated").arg(machine));
}

QString run_title(const Observation& observation, bool absolute) {
  QString title =
      observation.source == Source::kPaced
          ? SharedTexts::tr("REHEARSAL") + kDotBetween +
                SharedTexts::tr("durations set, 1:%1").arg(number_text(observation.stretch))
          : SharedTexts::tr("%1 RUN").arg(source_text(observation.source).toUpper());
  const Timeline& timeline = observation.timeline;
  if (timeline.steps > 0)
    title += kDotBetween + SharedTexts::tr("training step %1 of %2, the median")
                               .arg(timeline.step)
                               .arg(timeline.steps);
  if (observation.source == Source::kOversubscribed || observation.source == Source::kSharedGpu)
    title += kDotBetween + SharedTexts::tr("not evidence of speed");
  else if (!observation.gpu_use.empty())
    title += kDotBetween + SharedTexts::tr("other processes used its GPUs");
  else if (delay_of(observation))
    title += kDotBetween +
             (observation.source == Source::kPaced
                  ? SharedTexts::tr("other work kept the cores: times are off by a factor of %1")
                  : SharedTexts::tr(
                        "other work kept the cores: computing took %1 times its processor time"))
                 .arg(number_text(observation.delay_factor));
  const QString date = QString::fromStdString(observation.date);
  // "2026-11-21T08:32:30Z" as people write it.
  const QString written = date.left(16).replace(QLatin1Char('T'), QLatin1Char(' '));
  const QString age = absolute ? (date.isEmpty() ? date : SharedTexts::tr("%1 UTC").arg(written))
                               : age_text(observation.date);
  if (!age.isEmpty()) title += kDotBetween + age;
  return title;
}

QString run_title_tip(const Observation& observation) {
  if (observation.source != Source::kPaced) return {};
  return SharedTexts::tr(
             "Durations set, 1:%1: what takes one second on the machine is given %1 "
             "seconds here.")
             .arg(number_text(observation.stretch)) +
         QLatin1Char('\n') + meaning_of("set");
}

namespace {

constexpr qsizetype kMostDiffering = 3;  // settings that a title names

// "on", "custom", "all of DP": a setting's value in the words of the panel. What a 0 means that is
// no number stands in the label: "ZeRO group (0: all of DP)".
QString panel_words(const Setup& setup, const SetupSetting& row) {
  static const QRegularExpression kMeansOfZero(QStringLiteral("\\(0: ([^)]*)\\)"));
  if (row.option == "machine")
    if (const Result<Machine> machine = machine_of(setup.machine))
      return sentence(title_of(*machine));
  const QString value = field_text(setup, row.option);
  if (value == QLatin1String("0")) {
    const QRegularExpressionMatch means = kMeansOfZero.match(setting_words(row.label));
    if (means.hasMatch()) return means.captured(1);
  }
  return caption_of(row, value.toStdString()).text.section(QStringLiteral(": "), 0, 0);
}

// "8 micro-batches": in what `run` differs from the present Setup, what says most first.
QString differing(const Setup& run, const Setup& present) {
  QStringList parts;
  const auto differs = [&](bool is, const QString& text) {
    if (is) parts << text;
  };
  differs(run.model.name != present.model.name || run.model.title != present.model.title,
          sentence(title_of(run.model)));
  differs(run.schedule != present.schedule, schedule_title(run.schedule));
  differs(run.mesh.pp != present.mesh.pp,
          plural(run.mesh.pp, QT_TRANSLATE_NOOP("words", "%1 stage"),
                 QT_TRANSLATE_NOOP("words", "%1 stages")));
  differs(run.mesh.dp != present.mesh.dp, SharedTexts::tr("DP %1").arg(run.mesh.dp));
  differs(run.mesh.tp != present.mesh.tp, SharedTexts::tr("TP %1").arg(run.mesh.tp));
  differs(run.microbatches != present.microbatches,
          plural(run.microbatches, QT_TRANSLATE_NOOP("words", "%1 micro-batch"),
                 QT_TRANSLATE_NOOP("words", "%1 micro-batches")));
  differs(run.micro_batch != present.micro_batch,
          SharedTexts::tr("micro-batch size %1").arg(run.micro_batch));
  // Said above, or what follows from that; or a run of another would be of these settings, too.
  static const std::vector<std::string> kSaid = {
      "model",       "schedule", "pp",      "dp",   "tp",          "microbatches",
      "micro-batch", "backend",  "stretch", "gpus", "global-batch"};
  const bool same_model = run.model.name == present.model.name;
  for (const SetupSetting& row : setup_settings()) {
    if (row.option.empty() || std::find(kSaid.begin(), kSaid.end(), row.option) != kSaid.end())
      continue;
    if (!same_model && row.key.rfind("model.", 0) == 0) continue;
    const QString title = field_title(row.option);  // empty: what others fill
    if (!title.isEmpty() && fields_differ(run, present, {row.option}))
      parts << title + QLatin1Char(' ') + panel_words(run, row);
  }
  if (parts.isEmpty()) return SharedTexts::tr("other settings");
  if (parts.size() <= kMostDiffering) return parts.join(QStringLiteral(", "));
  return parts.mid(0, kMostDiffering).join(QStringLiteral(", ")) + QStringLiteral(" \u2026");
}

}  // namespace

QString other_settings_title(const Observation& run, const Setup& present) {
  return (run.source == Source::kPaced ? SharedTexts::tr("Rehearsal of other settings: %1")
                                       : SharedTexts::tr("Run of other settings: %1"))
      .arg(differing(run.setup, present));
}

QString pinned_title(const RunRecord& pinned, const Setup& present) {
  const QString title = SharedTexts::tr("PINNED") + kDotBetween +
                        (pinned.observed() ? source_text(pinned.observation.source)
                                           : prediction_source_text(pinned.prediction->word));
  const Setup& setup = pinned.observation.setup;
  return setup == present
             ? title
             : title + kDotBetween + SharedTexts::tr("with %1").arg(differing(setup, present));
}

}  // namespace parallelarium
