// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/player/answers/guess_text.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/lesson/leak.h"

namespace parallelarium {

namespace {

// How an answer is typed: what stands behind the field, and what else may follow the number.
struct AnswerField {
  QString label;
  double size = 1;  // of one, in the unit of the figures
  const std::vector<TypedUnit>* units = nullptr;
};

QString name_of(const TypedUnit& unit) { return QString::fromUtf8(unit.name); }

AnswerField field_of(const std::string& unit, const QString& counted) {
  const std::vector<TypedUnit>& own = typed_units(unit);
  if (!own.empty()) return {name_of(own.front()), own.front().size, &own};
  for (const char* kind : {"seconds", "bytes", "bytes_per_second"})
    for (const TypedUnit& each : typed_units(kind))
      if (name_of(each) == counted) return {counted, 1, &typed_units(kind)};
  return {counted, 1, &own};
}

// A typed number without what follows it, and how much one of it is in the unit of the figures.
struct TypedParts {
  QString number;
  double size = 1;
  bool other = false;  // in another unit than the one behind the field
};

// Splits "1.5 GiB" into its number and its unit. The letters of a unit may all be small; a lone
// capital among them may mean another: Mb is a megabit.
TypedParts split_typed(QString text, const AnswerField& field) {
  text = text.trimmed();
  text.replace(QChar(0x03bc), QChar(0x00b5));  // two letters that look like µ
  const auto is_number = [](QChar letter) {
    return letter.isDigit() || letter == QLatin1Char('.') || letter == QLatin1Char(',');
  };
  qsizetype end = text.size();
  while (end > 0 && !is_number(text[end - 1])) --end;
  const QString typed = text.mid(end).trimmed(), number = text.left(end).trimmed();
  const auto one_of_field =
      std::find_if(field.units->begin(), field.units->end(),
                   [&](const auto& one) { return name_of(one) == field.label; });
  for (const TypedUnit& each : *field.units)
    if (const QString name = name_of(each); typed == name || typed == name.toLower())
      return {number, field.size * each.size / one_of_field->size, name != field.label};
  if (typed.isEmpty() || typed.compare(field.label, Qt::CaseInsensitive) == 0)
    return {number, field.size};
  return {text, field.size};
}

}  // namespace

QString unit_label(const std::string& unit, const QString& counted) {
  return field_of(unit, counted).label;
}

QString guess_text(double value, const std::string& unit, const QLocale& locale) {
  QLocale plain = locale;
  plain.setNumberOptions(QLocale::OmitGroupSeparator);
  const AnswerField field = field_of(unit, {});
  const double shown = value / field.size, size = std::fabs(shown);
  // What is small keeps three digits.
  const double parts = size > 0 && size < 1 ? std::pow(10, 2 - std::floor(std::log10(size))) : 100;
  const QString number =
      plain.toString(std::round(shown * parts) / parts, 'f', QLocale::FloatingPointShortest);
  return field.label.isEmpty() ? number : number + QChar(0x00a0) + field.label;
}

QString guess_problem(double value, const std::string& unit) {
  if (unit == "share" && (value < 0 || value > 1))
    return QObject::tr("A share lies between 0\u00a0% and 100\u00a0%.");
  return value < 0 ? QObject::tr("The answer cannot be negative.") : QString();
}

QString unread_guess_text(const QString& typed, const std::string& unit, const QString& counted) {
  QStringList names;
  for (const TypedUnit& each : *field_of(unit, counted).units)
    if (const QString name = name_of(each);
        name != QLatin1String("us") && name != QLatin1String("KB"))
      names << name;
  const QString text = typed.trimmed();
  return names.size() < 2
             ? QObject::tr("“%1” is not a number.").arg(text)
             : QObject::tr("“%1” is not a number. One of these units may follow it: %2.")
                   .arg(text, names.join(QStringLiteral(", ")));
}

QString unit_beside(const QString& typed, const std::string& unit, const QString& counted,
                    const QLocale& locale) {
  const AnswerField field = field_of(unit, counted);
  const std::optional<double> value = read_guess(typed, unit, counted, locale);
  if (!value || !split_typed(typed, field).other) return field.label;
  const QString own = guess_text(*value, unit, locale);
  return QStringLiteral("= ") +
         (typed_units(unit).empty() ? own + QChar(0x00a0) + field.label : own);
}

std::optional<double> read_guess(const QString& typed, const std::string& unit,
                                 const QString& counted, const QLocale& locale) {
  const TypedParts parts = split_typed(typed, field_of(unit, counted));
  bool ok = false;
  double value = locale.toDouble(parts.number, &ok);
  if (!ok) value = QLocale::c().toDouble(parts.number, &ok);
  if (!ok || !std::isfinite(value)) return std::nullopt;
  return value * parts.size;
}

}  // namespace parallelarium
