// SPDX-License-Identifier: GPL-3.0-or-later
// What the axis of an order says of its unit.
#include <QObject>
#include <QStringList>

#include "app/views/pipeline/editor/editor_paint.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostTold = 4;  // stages

}  // namespace

// Of stages that differ each is told, or the mean of many.
QString unit_words(const EditorPicture& picture) {
  const std::vector<Durations>& stages = *picture.durations;
  const bool many = stages.size() > kMostTold;
  bool differ = false;
  const auto each = [&](double Durations::*kind) {
    QStringList figures;
    double mean = 0;
    for (const Durations& stage : stages) {
      figures << forwards_figure(stage.*kind / picture.unit);
      mean += stage.*kind / picture.unit / static_cast<double>(stages.size());
    }
    const bool equal = figures.count(figures.front()) == figures.size();
    differ = differ || !equal;
    return equal  ? figures.front()
           : many ? forwards_figure(mean)
                  : figures.join(QStringLiteral(" \u00b7 "));
  };
  const QString forward = each(&Durations::forward);
  const QString whole = picture.split ? QString() : each(&Durations::backward);
  const QString input = picture.split ? each(&Durations::input_grad) : QString();
  const QString weight = picture.split ? each(&Durations::weight_grad) : QString();
  if (!differ)
    return picture.split
               ? QObject::tr("one unit is a forward; I takes %1, W takes %2").arg(input, weight)
               : QObject::tr("one unit is a forward; a backward takes %1").arg(whole);
  const QString took =
      picture.split ? QObject::tr("F takes %1, I takes %2, W takes %3").arg(forward, input, weight)
                    : QObject::tr("a forward takes %1, a backward %2").arg(forward, whole);
  return (many ? QObject::tr("one unit is the mean forward; on average %1")
               : QObject::tr("one unit is the mean forward; by stage %1"))
      .arg(took);
}

}  // namespace parallelarium
