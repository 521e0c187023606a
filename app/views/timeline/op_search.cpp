// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/op_search.h"

#include <QStringList>
#include <algorithm>

#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

// Words with one blank between and around them, so that whole words are found.
QString words_of(QString text) {
  for (const QChar separator : {QChar(u','), QChar(0x00b7), QChar(0x00a0), QChar(u';')})
    text.replace(separator, QLatin1Char(' '));
  return QLatin1Char(' ') + text.toLower().simplified() + QLatin1Char(' ');
}

// "F3", as an order writes it; empty for all that is not an action.
QString notation_of(const Bar& bar) {
  if (bar.kind != OpKind::kCompute || bar.microbatch < 0) return {};
  QString text;
  switch (bar.action) {
    case ActionKind::kForward:
      text = QStringLiteral("F");
      break;
    case ActionKind::kBackward:
      text = QStringLiteral("B");
      break;
    case ActionKind::kInputGrad:
      text = QStringLiteral("I");
      break;
    case ActionKind::kWeightGrad:
      text = QStringLiteral("W");
      break;
  }
  text += QString::number(bar.microbatch);
  return bar.chunk > 0 ? text + QLatin1Char('.') + QString::number(bar.chunk) : text;
}

}  // namespace

std::vector<OpRef> find_ops(const LaneRows& rows, const QString& name) {
  const QString wanted = words_of(name);
  if (wanted.trimmed().isEmpty()) return {};
  struct Found {
    Nanoseconds begin;
    OpRef op;
  };
  std::vector<Found> found;
  for (const Row& row : rows.rows)
    for (const Lane lane : {Lane::kCompute, Lane::kPipeline, Lane::kData})
      for (const Bar& bar : row.lane(lane).bars) {
        const QString stage = QStringLiteral(" stage %1").arg(row.stage);
        const QStringList names{bar_labels(bar).first() + stage, notation_of(bar) + stage,
                                bar_sentence(rows.program(), row.rank_index, bar)};
        if (std::any_of(names.begin(), names.end(),
                        [&](const QString& one) { return words_of(one).contains(wanted); }))
          found.push_back({bar.span.begin, {row.rank_index, bar.first_op}});
      }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.begin < b.begin; });
  std::vector<OpRef> ops;
  for (const Found& one : found) ops.push_back(one.op);
  return ops;
}

}  // namespace parallelarium
