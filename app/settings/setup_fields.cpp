// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/setup_fields.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "app/look/sentence.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

namespace {

constexpr int kMostTries = 600;

double next_value(const Stride& stride, double value, int direction) {
  if (stride.first == 0) return value + direction * stride.add;
  if (direction > 0) return value > 0 ? value * 2 : stride.first;
  return value > stride.first ? value / 2 : 0;
}

bool accepts(const Setup& setup, const std::string& option, const QString& value) {
  Setup candidate = setup;
  if (!set_field(candidate, option, value.toStdString())) return false;
  const std::string key = key_of(option).toStdString();
  // For which devices `auto` is resolved makes no Setup valid.
  const std::vector<Message> problems = validate(resolve(candidate, Placement()));
  // What was wrong before may stay wrong; this field must not be what is wrong.
  if (validate(resolve(setup, Placement())).empty()) return problems.empty();
  return std::none_of(problems.begin(), problems.end(),
                      [&](const Message& problem) { return problem.field == key; });
}

}  // namespace

QString setting_words(const std::string& english) {
  return QCoreApplication::translate("settings", english.c_str());
}

CaptionText caption_of(const SetupSetting& row, const std::string& value) {
  for (const Caption& caption : row.captions)
    if (caption.value == value) return {setting_words(caption.text), setting_words(caption.tip)};
  if (value.starts_with('{')) return {QCoreApplication::translate("settings", "custom"), {}};
  if (row.value.kind == SettingKind::kFlag)
    return {value == "true" ? QCoreApplication::translate("settings", "on")
                            : QCoreApplication::translate("settings", "off"),
            {}};
  return {QString::fromStdString(value), {}};
}

std::vector<std::string> choices_of(const SetupSetting& row, const Setup& setup) {
  if (row.values) return row.values(setup);
  if (!row.value.words.empty()) return row.value.words;
  std::vector<std::string> values;
  for (const Caption& caption : row.captions) values.push_back(caption.value);
  if (values.empty() && row.value.kind == SettingKind::kFlag) return {"false", "true"};
  return values;
}

const SetupSetting& setting_of(const std::string& option) {
  const SetupSetting* row = find_setting(setup_settings(), option);
  assert(row != nullptr);
  return *row;
}

std::vector<std::string> options_of(Section section) {
  std::vector<std::string> options;
  for (const SetupSetting& row : setup_settings())
    if (row.section == section) options.push_back(row.option);
  return options;
}

QString key_of(const std::string& option) {
  const SetupSetting* row = find_setting(setup_settings(), option);
  return QString::fromStdString(row == nullptr ? option : row->key);
}

// The label, without what explains it: "GPUs" of "GPUs (all, or 0,2)".
QString field_title(const std::string& option) {
  const SetupSetting& row = setting_of(option);
  if (!row.symbol.empty()) return QString::fromStdString(row.symbol);
  return setting_words(row.label)
      .section(QStringLiteral(" ("), 0, 0)
      .section(QStringLiteral(", "), 0, 0);
}

QString setting_sentence(const Message& problem) {
  Message said = problem;
  for (const SetupSetting& row : setup_settings()) {
    if (problem.field.empty() || row.key != problem.field) continue;
    const QString title = field_title(row.option);
    for (Message& argument : said.arguments) {
      if (argument.text != problem.field) continue;
      argument.text = title.toStdString();
      QString english = QString::fromStdString(said.text);
      const QRegularExpressionMatch key =
          QRegularExpression(
              QStringLiteral("(?<![\\w.])%1(?![\\w.])")
                  .arg(QRegularExpression::escape(QString::fromStdString(problem.field))))
              .match(english);
      if (key.hasMatch()) english.replace(key.capturedStart(), key.capturedLength(), title);
      said.text = english.toStdString();
    }
  }
  return sentence(said);
}

QString field_text(const Setup& setup, const std::string& option) {
  return QString::fromStdString(text_of(setup, setting_of(option)));
}

QString next_valid(const Setup& setup, const std::string& option, int direction) {
  const SetupSetting& row = setting_of(option);
  const SettingKind kind = row.value.kind;
  if (kind != SettingKind::kWhole && kind != SettingKind::kNumber && kind != SettingKind::kSeed)
    return {};
  bool is_number = false;
  double value = field_text(setup, option).toDouble(&is_number);
  if (!is_number) value = row.value.range.low;  // "auto"
  for (int tries = 0; tries < kMostTries; ++tries) {
    const double last = value;
    value = next_value(row.stride, value, direction);
    if (value < 0 && value > -1e-9) value = 0;  // what sums of 0.05 leave
    if (value < 0 || value == last || value > 1e7) return {};
    const QString candidate = QString::number(value, 'g', 12);
    if (accepts(setup, option, candidate)) return candidate;
  }
  return {};
}

Setup with_fields_of(const Setup& base, const Setup& setup,
                     const std::vector<std::string>& options) {
  Setup result = setup;
  for (const SetupSetting& row : setup_settings()) {
    if (std::find(options.begin(), options.end(), row.option) == options.end()) continue;
    (void)take(result, base, row).ok();  // what a Setup holds can be set
    if (row.option == "model") result.stage_layers = base.stage_layers;
  }
  return result;
}

bool fields_differ(const Setup& a, const Setup& b, const std::vector<std::string>& options) {
  return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    const SetupSetting& row = setting_of(option);
    return row.value.get(a) != row.value.get(b);
  });
}

bool keep_global_batch(Setup& setup, std::int64_t sequences) {
  const std::int64_t each = std::int64_t{setup.mesh.dp} * setup.micro_batch;
  if (each <= 0 || sequences % each != 0 || sequences / each < 1) return false;
  setup.microbatches = static_cast<int>(sequences / each);
  return true;
}

}  // namespace parallelarium
