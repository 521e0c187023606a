// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sweep/sweep_words.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/settings/setup_fields.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/wire/export/csv.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {
namespace {

struct SweepWords {
  Q_DECLARE_TR_FUNCTIONS(SweepView)
};

}  // namespace

std::vector<std::pair<QString, QString>> sweep_figures() {
  return {
      {QStringLiteral("step"), SweepWords::tr("step time")},
      {QStringLiteral("tokens"), SweepWords::tr("tokens per second")},
      {QStringLiteral("efficiency"), SweepWords::tr("scaling efficiency")},
      {QStringLiteral("mfu"), SweepWords::tr("MFU, attention in full")},
      {QStringLiteral("memory"), SweepWords::tr("memory of the fullest rank")},
      {QStringLiteral("bubble"), SweepWords::tr("bubble of whole step")},
      {QStringLiteral("exposed"), SweepWords::tr("exposed, rank that computes most")},
      {QStringLiteral("compute"), SweepWords::tr("computing, busiest rank")},
      {QStringLiteral("communication"), SweepWords::tr("communication, rank that computes most")},
      {QStringLiteral("communication-over-compute"),
       SweepWords::tr("communication over computing")}};
}

QString figure_label(const QString& figure) {
  for (const auto& [name, label] : sweep_figures())
    if (name == figure) return label;
  return figure;
}

QString swept_label(const QString& option) {
  const SetupSetting* row = find_setting(setup_settings(), option.toStdString());
  if (row && !row->symbol.empty()) return QString::fromStdString(row->symbol);
  const QString label = row ? setting_words(row->label) : option;
  const bool is_symbol =  // "micro-batches", but "TP" and "ZeRO"
      std::any_of(label.begin() + std::min<qsizetype>(1, label.size()), label.end(),
                  [](QChar letter) { return letter.isUpper(); });
  return in_sentence(label, is_symbol);
}

QString swept_figure_text(double figure, const std::string& unit) {
  if (unit == "seconds") return seconds_text(figure);
  if (unit == "bytes") return bytes_text(std::int64_t(figure));
  return unit == "1" ? share_text(figure) : number_text(figure);
}

QString sweep_title(const SweepWish& wish) {
  const QString what = capitalised(figure_label(wish.figure));
  return wish.second.isEmpty() ? SweepWords::tr("%1 over %2").arg(what, swept_label(wish.first))
                               : SweepWords::tr("%1 over %2, for each %3")
                                     .arg(what, swept_label(wish.first), swept_label(wish.second));
}

QString sweep_status(const SettingSweep& sweep) {
  if (sweep.sweeping())
    return SweepWords::tr("Predicting the points: %1 done.").arg(share_text(sweep.progress()));
  if (!sweep.error().isEmpty()) return sweep.error();
  if (sweep.is_stale()) return SweepWords::tr("The curve below is of other settings: sweep again.");
  return {};
}

QString point_name(const SweepAnswer& answer, const SweptPoint& point) {
  QString name =
      QStringLiteral("%1 %2").arg(swept_label(answer.wish.first), answer.firsts[point.first]);
  if (!answer.seconds.empty())
    name += QStringLiteral(", %1 %2").arg(swept_label(answer.wish.second),
                                          answer.seconds[point.second]);
  return name;
}

QString point_outcome(const SweepAnswer& answer, const SweptPoint& point) {
  if (point.refused) return sentence(*point.refused);
  if (!point.figure) return QStringLiteral("–");
  const QString figure = swept_figure_text(*point.figure, answer.unit);
  const QString on = point.ranks() > 0 && ranks_differ(answer)
                         ? SweepWords::tr("%1 on %2 ranks").arg(figure, count_text(point.ranks()))
                         : figure;
  if (point.fits != false) return on;
  return SweepWords::tr("%1, does not fit: it needs %2 of %3")
      .arg(on, bytes_text(point.needed_bytes), bytes_text(answer.capacity_bytes));
}

namespace {

// The least and the most of the points that can be; 0, 0: none can.
template <class Of>
std::pair<std::int64_t, std::int64_t> range_of(const SweepAnswer& answer, const Of& of) {
  std::int64_t least = 0, most = 0;
  for (const SweptPoint& point : answer.points) {
    const std::int64_t value = of(point);
    if (value == 0) continue;
    least = least == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  }
  return {least, most};
}

std::pair<std::int64_t, std::int64_t> ranks_of(const SweepAnswer& answer) {
  return range_of(answer, [](const SweptPoint& point) { return std::int64_t(point.ranks()); });
}

}  // namespace

bool ranks_differ(const SweepAnswer& answer) {
  const auto [least, most] = ranks_of(answer);
  return least != most;
}

QString sizes_note(const SweepAnswer& answer) {
  const auto [ranks, most_ranks] = ranks_of(answer);
  const auto [batch, most_batch] =
      range_of(answer, [](const SweptPoint& point) { return point.batch(); });
  if (ranks == 0) return {};
  QStringList said;
  if (ranks != most_ranks)
    said << SweepWords::tr("The number of ranks changes, from %1 to %2.")
                .arg(count_text(ranks), count_text(most_ranks));
  if (batch != most_batch)
    said << SweepWords::tr("The batch of a step changes, from %1 to %2 sequences.")
                .arg(count_text(batch), count_text(most_batch));
  if (said.isEmpty())
    said << SweepWords::tr("Ranks at all points: %1; sequences of a batch: %2.")
                .arg(count_text(ranks), count_text(batch));
  return said.join(QLatin1Char(' '));
}

QString limits_note(const SweepAnswer& answer) {
  QStringList said;
  if (answer.limits.memory_bytes > 0)
    said << SweepWords::tr("memory of a device that may be used: %1")
                .arg(bytes_text(answer.limits.memory_bytes));
  if (!answer.limits.framework.isEmpty())
    said << SweepWords::tr("launch line of %1")
                .arg(
                    QString::fromStdString(framework_title(answer.limits.framework.toStdString())));
  return said.isEmpty() ? QString()
                        : SweepWords::tr("Limits of the search hold for the points: %1.")
                              .arg(said.join(QStringLiteral("; ")));
}

std::string sweep_csv(const SweepAnswer& answer) {
  const auto number = [](std::int64_t value) {
    return value > 0 ? std::to_string(value) : std::string();
  };
  std::string text = answer.wish.first.toStdString();
  if (!answer.seconds.empty()) text += ',' + answer.wish.second.toStdString();
  text += ',' + answer.wish.figure.toStdString() + ",unit,fits,ranks,global_batch,refused\n";
  for (const SweptPoint& point : answer.points) {
    text += csv_field(answer.firsts[point.first].toStdString());
    if (!answer.seconds.empty())
      text += ',' + csv_field(answer.seconds[point.second].toStdString());
    text += ',' + (point.figure ? QByteArray::number(*point.figure, 'g', 17).toStdString() : "");
    text += ',' + answer.unit + ',';
    if (point.fits) text += *point.fits ? "true" : "false";
    text += ',' + number(point.ranks()) + ',' + number(point.batch()) + ',';
    text += csv_field(point.refused ? point.refused->text : "") + '\n';
  }
  return text;
}

QString ran_outcome(const SweepAnswer& answer, const std::vector<SweptRun>& runs, int point) {
  for (const SweptRun& run : runs) {
    if (run.point != point) continue;
    const QString figure = swept_figure_text(run.figure, answer.unit);
    return run.rehearsed ? SweepWords::tr(", rehearsed %1").arg(figure)
                         : SweepWords::tr(", measured %1").arg(figure);
  }
  return {};
}

QStringList refusals_of(const SweepAnswer& answer) {
  std::vector<std::pair<QString, QStringList>> said;
  for (const SweptPoint& point : answer.points) {
    if (!point.refused) continue;
    const QString why = sentence(*point.refused);
    auto same =
        std::find_if(said.begin(), said.end(), [&](const auto& one) { return one.first == why; });
    if (same == said.end()) same = said.insert(said.end(), {why, {}});
    same->second << point_name(answer, point);
  }
  QStringList lines;
  for (const auto& [why, points] : said)
    lines << QStringLiteral("%1: %2").arg(points.join(QStringLiteral("; ")), why);
  return lines;
}

QString sweep_description(const SettingSweep& sweep) {
  QStringList said{sweep_title(sweep.answer() ? sweep.answer()->wish : sweep.wish())};
  if (const QString status = sweep_status(sweep); !status.isEmpty()) said << status;
  if (!sweep.answer()) {
    said << SweepWords::tr("Not swept yet: press Sweep.");
    return said.join(QLatin1Char('\n'));
  }
  const SweepAnswer& answer = *sweep.answer();
  for (const QString& note : {sizes_note(answer), limits_note(answer)})
    if (!note.isEmpty()) said << note;
  for (std::size_t at = 0; at < answer.points.size(); ++at) {
    const SweptPoint& point = answer.points[at];
    said << QStringLiteral("%1: %2").arg(
        point_name(answer, point),
        point_outcome(answer, point) + ran_outcome(answer, sweep.runs(), int(at)));
  }
  return said.join(QLatin1Char('\n'));
}

}  // namespace parallelarium
