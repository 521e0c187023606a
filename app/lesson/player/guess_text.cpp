// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/player/guess_text.h"

#include <QObject>
#include <cmath>

namespace parallelarium {

namespace {

// One unit on screen in the unit of the figures.
double size_of(const std::string& unit) {
  if (unit == "share") return 0.01;
  if (unit == "seconds") return 0.001;
  if (unit == "bytes") return 1048576;
  if (unit == "bytes_per_second") return 1e9;
  return 1;
}

}  // namespace

QString unit_label(const std::string& unit) {
  if (unit == "share") return QStringLiteral("%");
  if (unit == "seconds") return QStringLiteral("ms");
  if (unit == "bytes") return QStringLiteral("MiB");
  if (unit == "bytes_per_second") return QStringLiteral("GB/s");
  return {};
}

QString guess_text(double value, const std::string& unit, const QLocale& locale) {
  QLocale plain = locale;
  plain.setNumberOptions(QLocale::OmitGroupSeparator);
  const double shown = std::round(value / size_of(unit) * 100) / 100;
  const QString number = plain.toString(shown, 'f', QLocale::FloatingPointShortest);
  const QString label = unit_label(unit);
  return label.isEmpty() ? number : number + QChar(0x00a0) + label;
}

QString guess_problem(double value, const std::string& unit) {
  if (unit == "share" && (value < 0 || value > 1))
    return QObject::tr("A share lies between 0\u00a0% and 100\u00a0%.");
  return value < 0 ? QObject::tr("The answer cannot be negative.") : QString();
}

std::optional<double> read_guess(const QString& typed, const std::string& unit,
                                 const QLocale& locale) {
  QString text = typed.trimmed();
  const QString label = unit_label(unit);
  if (!label.isEmpty() && text.endsWith(label)) text.chop(label.size());
  text = text.trimmed();
  bool ok = false;
  double value = locale.toDouble(text, &ok);
  if (!ok) value = QLocale::c().toDouble(text, &ok);
  if (!ok || !std::isfinite(value)) return std::nullopt;
  return value * size_of(unit);
}

}  // namespace parallelarium
