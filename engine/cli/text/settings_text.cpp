// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/settings_text.h"

#include <fmt/ranges.h>

#include "engine/cli/text/table.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

std::string values_of(const SetupSetting& row) {
  switch (row.value.kind) {
    case SettingKind::kWhole:
    case SettingKind::kNumber:
      if (row.value.range.high == 0) return "a whole number";  // its own reader bounds it
      return fmt::format("{:.10g} to {:.10g}", row.value.range.low, row.value.range.high) +
             (row.unit.empty() ? "" : " " + row.unit);
    case SettingKind::kSeed:
      return "a whole number";
    case SettingKind::kFlag:
      return "true, false";
    case SettingKind::kChoice:
      return fmt::format("{}", fmt::join(row.value.words, ", "));
    case SettingKind::kWholes:
      return "even, or N,N,...";
    case SettingKind::kText:
    case SettingKind::kTexts:
      return row.values ? "a name" : "text";
    case SettingKind::kObject:
      return row.from_file != nullptr ? "a name, {...} or a file" : "a name or {...}";
  }
  return {};
}

}  // namespace

std::string settings_text() {
  const Setup usual = new_setup();
  Table table({"option", "key in files", "values", "default", ""});
  for (const SetupSetting& row : setup_settings())
    table.add({"--" + row.option, row.key, values_of(row), text_of(usual, row), row.help});
  return table.text();
}

}  // namespace parallelarium
