// SPDX-License-Identifier: GPL-3.0-or-later
// A guess is written as the student typed it, not to three digits: "16 %", "4".
#pragma once

#include <QLocale>
#include <QString>
#include <optional>
#include <string>

namespace parallelarium {

// In the unit of an Ask; a share is 0 to 1 and written in per cent.
QString guess_text(double value, const std::string& unit, const QLocale& locale = QLocale());
// What stands behind the field: "%", "ms", "MiB", "GB/s", or nothing.
QString unit_label(const std::string& unit);
// Why a number cannot be an answer in that unit, as a sentence: a share has its limits, and nothing
// that is counted or lasts is negative. Empty if it can.
QString guess_problem(double value, const std::string& unit);
// What a student typed, in the user's locale or with a point; a per cent sign may follow. A share
// comes back as 0 to 1. None if it is not a number.
std::optional<double> read_guess(const QString& typed, const std::string& unit,
                                 const QLocale& locale = QLocale());

}  // namespace parallelarium
