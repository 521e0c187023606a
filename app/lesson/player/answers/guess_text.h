// SPDX-License-Identifier: GPL-3.0-or-later
// A guess is written as the student typed it, not to three digits: "16 %", "4".
#pragma once

#include <QLocale>
#include <QString>
#include <optional>
#include <string>

namespace parallelarium {

// In the unit of an Ask; a share is 0 to 1 and written in per cent. What is below 1 keeps three
// digits.
QString guess_text(double value, const std::string& unit, const QLocale& locale = QLocale());
// What stands behind the field: "%", "ms", "MiB", "GB/s", or of a plain number ("1") what it counts
// in the user's language, `counted`: "layers". Where that is a unit itself, such as "GB", the
// others of its kind may be typed, too.
QString unit_label(const std::string& unit, const QString& counted = {});
// The same, or "= 0.5 MiB" where the student typed another unit.
QString unit_beside(const QString& typed, const std::string& unit, const QString& counted = {},
                    const QLocale& locale = QLocale());
// Why a number cannot be an answer in that unit, as a sentence: a share has its limits, and nothing
// that is counted or lasts is negative. Empty if it can.
QString guess_problem(double value, const std::string& unit);
// Why nothing was read, as a sentence that names the units there are.
QString unread_guess_text(const QString& typed, const std::string& unit,
                          const QString& counted = {});
// What a student typed, in the user's locale or with a point, in what stands behind the field or in
// another unit of its kind, such as "1.5 GiB". A share comes back as 0 to 1. None if it is not a
// number.
std::optional<double> read_guess(const QString& typed, const std::string& unit,
                                 const QString& counted = {}, const QLocale& locale = QLocale());

}  // namespace parallelarium
