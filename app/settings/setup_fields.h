// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of a Setup as the panel shows them: their text, their valid neighbours, their defaults.
// A field is named by its command-line option ("pp"); the plan library knows its dotted key.
#pragma once

#include <QString>
#include <QStringList>
#include <string>

#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

// Words of the table of settings in the window's language.
QString setting_words(const std::string& english);
// What people read for a value of a setting: "fused: computes them again".
struct CaptionText {
  QString text, tip;
};
CaptionText caption_of(const SetupSetting& row, const std::string& value);
// The values to choose from, in order; empty for numbers and free text.
std::vector<std::string> choices_of(const SetupSetting& row, const Setup& setup);
// The table must have this option.
const SetupSetting& setting_of(const std::string& option);
// The options of a section of the window, in the order of the table.
std::vector<std::string> options_of(Section section);

// "mesh.pp" for "pp"; the option itself where the plan library does not know it.
QString key_of(const std::string& option);

// What people call the field, for short: "PP", "Micro-batches", "GPUs".
QString field_title(const std::string& option);

// What is wrong with a field, which is called as people do, not by its dotted key.
QString setting_sentence(const Message& problem);

// The value as set_field() would read it: "4", "none", "1e-3".
QString field_text(const Setup& setup, const std::string& option);

// The next value in a direction (+1, -1) that validate() has nothing to say about, or empty.
// Degrees and counts go by one, shares and factors by a twentieth or a quarter, sizes and rates by
// doubling.
QString next_valid(const Setup& setup, const std::string& option, int direction);

// `setup` with the given fields as `base` has them.
Setup with_fields_of(const Setup& base, const Setup& setup,
                     const std::vector<std::string>& options);
// Whether any of the fields differs between the two.
bool fields_differ(const Setup& a, const Setup& b, const std::vector<std::string>& options);

// Keeps the number of sequences in one step at `sequences` by adjusting the micro-batches. False,
// and nothing changed, if no whole number of micro-batches does it.
bool keep_global_batch(Setup& setup, std::int64_t sequences);

}  // namespace parallelarium
