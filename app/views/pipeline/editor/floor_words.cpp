// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/editor/floor_words.h"

#include <QObject>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/pipeline/editor/editor_paint.h"
#include "app/views/pipeline/editor/editor_words.h"

namespace parallelarium {

QString no_shorter_text(const HeldLimits& limits) {
  if (limits.empty()) return QObject::tr("No order of this work is shorter.");
  if (limits_differ(limits)) return QObject::tr("No order that keeps the limits is shorter.");
  return QObject::tr("No order that holds at most %1 in any row is shorter.")
      .arg(number_text(limits.front()));
}

namespace {

QString floor_with(const HeldLimits& limits) {
  if (limits.empty()) return QObject::tr("The floor");
  if (limits_differ(limits)) return QObject::tr("The floor within the limits");
  return QObject::tr("The floor with at most %1 held").arg(number_text(limits.front()));
}

}  // namespace

QString floor_reason(const OrderEdit& edit) {
  if (!edit.floor()) return {};
  const Floor& floor = *edit.floor();
  if (!std::isfinite(floor.at_least)) return QObject::tr("No order keeps these limits.");
  const std::string_view by = floor.proved_by;
  const QString shown =
      by == "work"
          ? QObject::tr("the work of one rank, what must come before it, and what follows.")
      : by == "path"
          ? QObject::tr("a micro-batch goes forward and back behind all others of a stage.")
      : by == "memory" ? QObject::tr("where few micro-batches may be held, they take turns.")
                       : QObject::tr("all such orders were tried.");
  QString text = floor_with(edit.limits()) + QStringLiteral(": ") + shown;
  if (!floor.exact)
    text += QChar(' ') + (std::isfinite(floor.best_known)
                              ? QObject::tr("The best order known here takes %1.")
                                    .arg(forwards_text(edit.in_forwards(floor.best_known)))
                              : QObject::tr("No order is known that keeps the limits."));
  return text;
}

}  // namespace parallelarium
