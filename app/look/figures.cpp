// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/figures.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/look/sentence.h"
#include "engine/predict/compare.h"

namespace parallelarium {

namespace {

struct Figures {
  Q_DECLARE_TR_FUNCTIONS(figures)
};

// `value` with three significant digits, never in powers of ten; a minus sign that is one.
QString plain_number(double value, const QLocale& locale) {
  const double size = std::fabs(value);
  int decimals = 0;
  if (size > 0) {
    const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
    decimals = std::clamp(3 - before, 0, 9);
    // 99.96 rounds to 100.0, which has a digit too many.
    const double scale = std::pow(10.0, decimals);
    if (decimals > 0 && std::round(size * scale) / scale >= std::pow(10.0, before)) --decimals;
  }
  return locale.toString(value, 'f', decimals);
}

struct Unit {
  double size;
  const char* name;
};

template <std::size_t count>
QString scaled(double value, const std::array<Unit, count>& units, const QLocale& locale) {
  for (const Unit& unit : units)
    // 999.6 of a unit is 1000 of it on screen, so it moves up.
    if (std::fabs(value) >= unit.size * 0.9995)
      return plain_number(value / unit.size, locale) + QChar(0x00a0) + QString::fromUtf8(unit.name);
  const Unit& least = units.back();
  return plain_number(value / least.size, locale) + QChar(0x00a0) + QString::fromUtf8(least.name);
}

// From here on seconds say little.
constexpr double kLongSeconds = 999.5;

// "16 min 40 s", "3 h 24 min", "7.06 days".
QString long_time_text(double seconds, const QLocale& locale) {
  constexpr double kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour, kManyDays = 2;
  if (std::fabs(seconds) >= kManyDays * kDay)
    return Figures::tr("%1 days").arg(plain_number(seconds / kDay, locale));
  const bool hours = std::fabs(seconds) >= kHour - 0.5;
  const double less = hours ? kMinute : 1;  // the lesser unit
  const auto whole = std::llround(std::fabs(seconds) / less);
  const QString text = (hours ? Figures::tr("%1 h %2 min") : Figures::tr("%1 min %2 s"))
                           .arg(whole / 60)
                           .arg(whole % 60);
  return seconds < 0 ? QChar(0x2212) + text : text;
}

QString with_sign(const QString& text, bool negative) {
  return (negative ? QString(QChar(0x2212)) : QStringLiteral("+")) + text;
}

}  // namespace

QString number_text(double value, const QLocale& locale) {
  if (!std::isfinite(value)) return QStringLiteral("–");
  const double size = std::fabs(value);
  if (size != 0 && (size < 0.001 || size >= 1e6)) {  // 1.26e-9, not 1.26e-09
    static const QRegularExpression kZeros(QStringLiteral("(e[+-]?)0+(?=\\d)"));
    return locale.toString(value, 'g', 3).replace(kZeros, QStringLiteral("\\1"));
  }
  if (value == std::round(value)) return locale.toString(value, 'f', 0);
  return plain_number(value, locale);
}

QString count_text(std::int64_t value, const QLocale& locale) {
  return locale.toString(static_cast<qlonglong>(value));
}

QString seconds_text(double seconds, const QLocale& locale) {
  static constexpr std::array<Unit, 4> kUnits{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};
  if (!std::isfinite(seconds)) return QStringLiteral("–");
  if (seconds == 0) return locale.toString(0) + QChar(0x00a0) + QStringLiteral("ms");
  return std::fabs(seconds) < kLongSeconds ? scaled(seconds, kUnits, locale)
                                           : long_time_text(seconds, locale);
}

QString time_text(Nanoseconds time, const QLocale& locale) {
  return seconds_text(static_cast<double>(time.count()) / 1e9, locale);
}

QString bytes_text(std::int64_t bytes, const QLocale& locale) {
  static constexpr std::array<Unit, 4> kUnits{{{1024.0 * 1024 * 1024 * 1024, "TiB"},
                                               {1024.0 * 1024 * 1024, "GiB"},
                                               {1024.0 * 1024, "MiB"},
                                               {1024, "KiB"}}};
  for (const Unit& unit : kUnits) {
    if (std::fabs(static_cast<double>(bytes)) < unit.size) continue;
    const double value = static_cast<double>(bytes) / unit.size;
    const QString number =
        value == std::round(value) ? locale.toString(value, 'f', 0) : plain_number(value, locale);
    return number + QChar(0x00a0) + QString::fromUtf8(unit.name);
  }
  return locale.toString(static_cast<qlonglong>(bytes)) + QChar(0x00a0) + QStringLiteral("B");
}

QString exact_bytes_text(std::int64_t bytes, const QLocale& locale) {
  return Figures::tr("%1 bytes").arg(locale.toString(static_cast<qlonglong>(bytes)));
}

QString rate_text(double bytes_per_second, const QLocale& locale) {
  static constexpr std::array<Unit, 3> kUnits{{{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}}};
  return scaled(bytes_per_second, kUnits, locale);
}

QString tokens_rate_text(double tokens_per_second, const QLocale& locale) {
  static constexpr std::array<Unit, 3> kUnits{{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  const QString number = tokens_per_second < 1000 ? number_text(tokens_per_second, locale)
                                                  : scaled(tokens_per_second, kUnits, locale);
  return number + QChar(0x00a0) + Figures::tr("tokens/s");
}

QString share_text(double share, const QLocale& locale) {
  if (!std::isfinite(share)) return QStringLiteral("–");
  return plain_number(share * 100, locale) + QChar(0x00a0) + QLatin1Char('%');
}

QString seconds_difference_text(double seconds, const QLocale& locale) {
  const QString text = seconds_text(std::fabs(seconds), locale);
  return seconds == 0 ? text : with_sign(text, seconds < 0);
}

QString share_difference_text(double from, double to, const QLocale& locale) {
  // As share_text rounds it.
  const auto shown = [](double share) {
    if (!std::isfinite(share) || share == 0) return share;
    const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(share))) - 2);
    return std::round(share / unit) * unit;
  };
  const double points = (shown(to) - shown(from)) * 100;
  const QString number = locale.toString(std::fabs(points), 'f', 1);
  const QString unit = QChar(0x00a0) + QStringLiteral("pt");
  if (std::fabs(points) < 0.05) return number + unit;
  return with_sign(number, points < 0) + unit;
}

QString parameters_text(std::int64_t parameters, const QLocale& locale) {
  static constexpr std::array<Unit, 4> kUnits{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}}};
  if (parameters < 1000) return count_text(parameters, locale);
  return scaled(static_cast<double>(parameters), kUnits, locale);
}

QString value_text(double value, std::string_view unit, const QLocale& locale) {
  if (unit == "bytes") return bytes_text(std::llround(value), locale);
  if (unit == "seconds") return seconds_text(value, locale);
  if (unit == "share") return share_text(value, locale);
  if (unit == "bytes_per_second") return rate_text(value, locale);
  if (unit == "flops" || unit == "flops_per_second") {
    static constexpr std::array<Unit, 5> kUnits{
        {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1, ""}}};
    return scaled(value, kUnits, locale) +
           (unit == "flops" ? QStringLiteral("FLOP") : QStringLiteral("FLOP/s"));
  }
  return number_text(value, locale);
}

QString relative_text(double predicted, double observed, const QLocale& locale) {
  const std::optional<double> difference = relative_difference(predicted, observed);
  if (!difference) return QStringLiteral("–");
  const double percent = *difference * 100;
  const QString unit = QChar(0x00a0) + QStringLiteral("%");
  const QString number = locale.toString(std::fabs(percent), 'f', std::fabs(percent) < 10 ? 1 : 0);
  if (std::fabs(percent) < 0.05) return number + unit;
  return with_sign(number, percent < 0) + unit;
}

QString bytes_difference_text(std::int64_t predicted, std::int64_t observed,
                              const QLocale& locale) {
  const std::int64_t difference = observed - predicted;
  if (difference == 0) return bytes_text(0, locale);
  return with_sign(bytes_text(std::abs(difference), locale), difference < 0);
}

QString with_firm_units(QString text) {
  static const QRegularExpression kBefore(
      QStringLiteral("(?<=\\d) (?=(?:%|pt\\b|[nµm]?s\\b|[KMGT]iB\\b|[kMG]?B(?:/s)?\\b|T?FLOP))"));
  return text.replace(kBefore, QString(QChar(0x00a0)));
}

QString prediction_source_text(const std::string& word) {
  if (word == "peak") return Figures::tr("lower bound at peak rates");
  if (word == "assumed") return Figures::tr("predicted, assumed rates");
  if (word == "published") return Figures::tr("predicted, published efficiencies");
  return Figures::tr("predicted");
}

QString origin_text(const Origin& origin) { return sentence(message_of(origin)); }

QString origin_word(const Origin& origin) { return sentence(word_of(origin)); }

QString outdated_text(const Message& outdated) {
  return outdated.id == "bf16-untold"
             ? Figures::tr(
                   "An older version measured the cores and did not tell how they "
                   "multiplied bf16: times in bf16 may be off until Run, Calibrate "
                   "measures again.")
             : Figures::tr(
                   "The cores multiply bf16 in another way than when they were measured: "
                   "times in bf16 are off until Run, Calibrate measures again.");
}

QString source_text(Source source) {
  switch (source) {
    case Source::kPredicted:
      return Figures::tr("predicted");
    case Source::kMeasured:
      return Figures::tr("measured");
    case Source::kOversubscribed:
      return Figures::tr("oversubscribed");
    case Source::kPaced:
      return Figures::tr("rehearsed");
    case Source::kSharedGpu:
      return Figures::tr("shared GPU");
  }
  return {};
}

QString minutes_text(std::int64_t minutes) {
  return minutes == 1 ? Figures::tr("1 minute") : Figures::tr("%1 minutes").arg(minutes);
}

QString age_text(const std::string& iso_date) {
  QDateTime then = QDateTime::fromString(QString::fromStdString(iso_date), Qt::ISODate);
  if (!then.isValid()) return {};
  then.setTimeSpec(Qt::UTC);
  const qint64 seconds = then.secsTo(QDateTime::currentDateTimeUtc());
  if (seconds < 60) return Figures::tr("just now");
  if (seconds < 3600) return Figures::tr("%1 min ago").arg(seconds / 60);
  const QDateTime here = then.toLocalTime();
  if (here.date() == QDate::currentDate())
    return Figures::tr("today %1").arg(QLocale().toString(here.time(), QLocale::ShortFormat));
  return QLocale().toString(here.date(), QLocale::ShortFormat);
}

}  // namespace parallelarium
