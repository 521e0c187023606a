// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/run/small_copy.h"

#include <QObject>
#include <QStringList>

namespace parallelarium {

QString reduced_degrees(const Setup& big, const Setup& copy) {
  if (big.mesh == copy.mesh) return {};
  const auto degrees = [](const Mesh& mesh) {
    QStringList words;
    for (const auto& [name, degree] : {std::pair("DP", mesh.dp),
                                       {"TP", mesh.tp},
                                       {"PP", mesh.pp},
                                       {"CP", mesh.cp},
                                       {"EP", mesh.ep}})
      if (degree > 1) words << QStringLiteral("%1 %2").arg(QLatin1String(name)).arg(degree);
    return words.isEmpty() ? QObject::tr("1 rank") : words.join(QStringLiteral(" · "));
  };
  return QObject::tr("%1 in place of %2").arg(degrees(copy.mesh), degrees(big.mesh));
}

}  // namespace parallelarium
