// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/words/setup_words.h"

#include <QCoreApplication>
#include <QStringList>

#include "app/look/sentence.h"
#include "app/views/shared/words/words.h"
#include "engine/planner/search.h"

namespace parallelarium {
namespace {

struct SetupWords {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

// Without a pipeline the plain order needs no name: one micro-batch after another.
bool names_schedule(const Setup& setup) {
  return setup.mesh.pp > 1 || !(setup.schedule == Schedule("1f1b"));
}

}  // namespace

QString zero_words(const Setup& setup) {
  const QString stage = QString::number(setup.zero);
  return setup.zero > 0 && setup.zero_group > 0
             ? QStringLiteral("%1/%2").arg(stage).arg(setup.zero_group)
             : stage;
}

QString schedule_words(const Setup& setup) {
  if (!names_schedule(setup)) return SetupWords::tr("no pipeline");
  if (setup.chunks > 1) return SetupWords::tr("interleaved, %1").arg(setup.chunks);
  return schedule_title(setup.schedule);
}

QString recompute_words(const Setup& setup) {
  return sentence(value_words("recompute", text_of(setup.recompute)));
}

QString order_words(RankOrder order) {
  return sentence(value_words("order", std::string(name_of(order))));
}

namespace {

// "layers of the stages: 1 (6 stages) + 2 (13 stages) + 0".
QString stage_layers_words(const std::vector<int>& layers) {
  QStringList parts;
  for (std::size_t at = 0, end = 0; at < layers.size(); at = end) {
    while (end < layers.size() && layers[end] == layers[at]) ++end;
    const QString each = QString::number(layers[at]);
    parts << (end - at > 1 ? SetupWords::tr("%1 (%2 stages)").arg(each).arg(end - at) : each);
  }
  return SetupWords::tr("layers of the stages: %1").arg(parts.join(QStringLiteral(" + ")));
}

}  // namespace

QString axes_text(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  QStringList parts;
  for (const auto& [name, degree] : {std::pair("TP", mesh.tp),
                                     {"PP", mesh.pp},
                                     {"DP", mesh.dp},
                                     {"CP", mesh.cp},
                                     {"EP", mesh.ep}})
    if (degree > 1) parts << QStringLiteral("%1 %2").arg(QLatin1String(name)).arg(degree);
  if (differs_by_whole_experts(setup)) parts << QStringLiteral("ETP 1");
  if (setup.sequence_parallel) parts << QStringLiteral("SP");
  if (setup.zero > 0)
    parts << (setup.zero_group > 0
                  ? SetupWords::tr("ZeRO %1 in groups of %2").arg(setup.zero).arg(setup.zero_group)
                  : QStringLiteral("ZeRO %1").arg(setup.zero));
  if (names_schedule(setup))
    parts << (setup.chunks > 1 ? SetupWords::tr("interleaved in %1 chunks").arg(setup.chunks)
                               : schedule_words(setup));
  if (!setup.stage_layers.empty()) parts << stage_layers_words(setup.stage_layers);
  if (mesh.order != Mesh().order)
    parts << SetupWords::tr("ranks by %1").arg(order_words(mesh.order));
  parts << SetupWords::tr("micro-batch %1").arg(setup.micro_batch);
  if (setup.recompute != Recompute::kNone)
    parts << SetupWords::tr("recompute %1").arg(recompute_words(setup));
  return parts.join(QStringLiteral(", "));
}

}  // namespace parallelarium
