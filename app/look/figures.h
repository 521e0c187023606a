// SPDX-License-Identifier: GPL-3.0-or-later
// How every figure is written, in one place: three significant digits, MiB, GB/s, ms, on screen in
// the user's locale. The same quantity gives the same text everywhere.
#pragma once

#include <QLocale>
#include <QString>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/plan/machine/rates/origin.h"
#include "engine/plan/program/timeline.h"

namespace parallelarium {

struct Message;
struct Prediction;

// Three significant digits (whole numbers whole); powers of ten below 0.001 and from a million.
QString number_text(double value, const QLocale& locale = QLocale());
QString count_text(std::int64_t value, const QLocale& locale = QLocale());  // 1,024: exact
QString seconds_text(double seconds, const QLocale& locale = QLocale());    // s, ms, µs, ns
QString time_text(Nanoseconds time, const QLocale& locale = QLocale());
QString bytes_text(std::int64_t bytes, const QLocale& locale = QLocale());  // B, KiB, MiB, GiB
QString exact_bytes_text(std::int64_t bytes, const QLocale& locale = QLocale());
QString rate_text(double bytes_per_second, const QLocale& locale = QLocale());          // GB/s
QString tokens_rate_text(double tokens_per_second, const QLocale& locale = QLocale());  // tokens/s
QString share_text(double share, const QLocale& locale = QLocale());                    // "28.7 %"
// "+3.2 ms", with its sign.
QString seconds_difference_text(double seconds, const QLocale& locale = QLocale());
// "+2.0 pt": the difference of the two shares as share_text shows them.
QString share_difference_text(double from, double to, const QLocale& locale = QLocale());
QString parameters_text(std::int64_t parameters, const QLocale& locale = QLocale());  // "6.4 M"
// A value in the unit of a Formula: "bytes", "seconds", "flops", "1" (a plain number) or
// "share" (a percentage).
QString value_text(double value, std::string_view unit, const QLocale& locale = QLocale());
// observed against predicted: "+5.1 %" (relative_difference()); "0 B" and "+12 B" for bytes.
QString relative_text(double predicted, double observed, const QLocale& locale = QLocale());
QString bytes_difference_text(std::int64_t predicted, std::int64_t observed,
                              const QLocale& locale = QLocale());

// `text` with no-break spaces between a number and its unit, so that a line never ends between
// them.
QString with_firm_units(QString text);

// Words for where a number comes from: "predicted", "lower bound at peak rates", "assumed".
QString prediction_source_text(const std::string& word);
QString outdated_text(const Message& outdated);  // of outdated_bf16(), in the user's language
// Where a rate of a Machine comes from, as a line and as the word of its kind.
QString origin_text(const Origin& origin);
QString origin_word(const Origin& origin);
QString source_text(Source source);          // "measured", "rehearsed", ...
QString minutes_text(std::int64_t minutes);  // "1 minute", "12 minutes"
// "2 min ago", "today 14:05", "2026-11-21" for an ISO 8601 date in UTC.
QString age_text(const std::string& iso_date);

}  // namespace parallelarium
