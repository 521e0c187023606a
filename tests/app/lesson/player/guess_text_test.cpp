// SPDX-License-Identifier: GPL-3.0-or-later
// What people type as an answer, and how it is told again.
#include "app/lesson/player/answers/guess_text.h"

#include <gtest/gtest.h>

namespace parallelarium {
namespace {

TEST(GuessText, ReadsWhatPeopleType) {
  const QLocale german(QLocale::German), english(QLocale::English);
  EXPECT_DOUBLE_EQ(*read_guess(QStringLiteral(" 27,3 % "), "share", {}, german), 0.273);
  EXPECT_DOUBLE_EQ(*read_guess(QStringLiteral("27.3"), "share", {}, english), 0.273);
  EXPECT_DOUBLE_EQ(*read_guess(QStringLiteral("4"), "1", {}, english), 4);
  EXPECT_FALSE(read_guess(QString(), "1", {}, english));
  EXPECT_FALSE(read_guess(QStringLiteral("a quarter"), "share", {}, english));
  EXPECT_FALSE(read_guess(QStringLiteral("nan"), "1", {}, english));
  EXPECT_EQ(guess_text(0.16, "share", english), QStringLiteral("16\u00a0%"));
  EXPECT_EQ(guess_text(0.3333, "share", german), QStringLiteral("33,33\u00a0%"));
  EXPECT_EQ(guess_text(4, "1", english), QStringLiteral("4"));
}

TEST(GuessText, ReadsQuantitiesInTheUnitsThatPeopleTypeThemIn) {
  const QLocale german(QLocale::German), english(QLocale::English);
  const auto read = [&](const char* typed, const char* unit) {
    return read_guess(QString::fromUtf8(typed), unit, {}, english).value_or(-1);
  };
  EXPECT_DOUBLE_EQ(read("1.5", "bytes"), 1.5 * 1048576);
  EXPECT_DOUBLE_EQ(read("1.5 MiB", "bytes"), 1.5 * 1048576);
  EXPECT_DOUBLE_EQ(read("512KiB", "bytes"), 524288);
  EXPECT_DOUBLE_EQ(read("2 gib", "bytes"), 2147483648.0);
  EXPECT_DOUBLE_EQ(read("3 MB", "bytes"), 3e6);
  EXPECT_DOUBLE_EQ(read("40 B", "bytes"), 40);
  EXPECT_DOUBLE_EQ(read("250 µs", "seconds"), 250e-6);
  EXPECT_DOUBLE_EQ(read("250 \u03bcs", "seconds"), 250e-6);
  EXPECT_DOUBLE_EQ(read("2 s", "seconds"), 2);
  EXPECT_DOUBLE_EQ(read("2", "seconds"), 0.002);
  EXPECT_DOUBLE_EQ(read("900 MB/s", "bytes_per_second"), 9e8);
  EXPECT_DOUBLE_EQ(*read_guess(QStringLiteral("1,5 GiB"), "bytes", {}, german), 1.5 * 1073741824);
  // Another quantity, bits, or what is no unit.
  for (const char* typed : {"2 s", "3 Mb", "4 MiBs", "MiB", "5 MiB 6"})
    EXPECT_FALSE(read_guess(QString::fromUtf8(typed), "bytes", {}, english)) << typed;
  EXPECT_FALSE(read_guess(QStringLiteral("4 MiB"), "1", {}, english));
}

// What a plain number counts may follow it; where that is a unit, so may the others of its kind.
TEST(GuessText, ReadsWhatAPlainNumberCounts) {
  const QLocale english(QLocale::English);
  const auto read = [&](const char* typed, const char* counted) {
    return read_guess(QString::fromUtf8(typed), "1", QString::fromUtf8(counted), english)
        .value_or(-1);
  };
  EXPECT_EQ(unit_label("1", QStringLiteral("layers")), QStringLiteral("layers"));
  EXPECT_EQ(unit_label("bytes"), QStringLiteral("MiB"));
  EXPECT_DOUBLE_EQ(read("12", "layers"), 12);
  EXPECT_DOUBLE_EQ(read("12 Layers", "layers"), 12);
  EXPECT_DOUBLE_EQ(read("12 ranks", "layers"), -1);
  EXPECT_DOUBLE_EQ(read("layers", "layers"), -1);
  EXPECT_DOUBLE_EQ(read("108", "GB"), 108);
  EXPECT_DOUBLE_EQ(read("108 gb", "GB"), 108);
  EXPECT_DOUBLE_EQ(read("0.108 TB", "GB"), 108);
  EXPECT_DOUBLE_EQ(read("1 GiB", "GB"), 1.073741824);
  EXPECT_DOUBLE_EQ(read("2 s", "ms"), 2000);
  EXPECT_DOUBLE_EQ(read("2 s", "GB"), -1);
  EXPECT_EQ(unit_beside(QStringLiteral("0.108 TB"), "1", QStringLiteral("GB"), english),
            QStringLiteral("= 108\u00a0GB"));
  EXPECT_EQ(unit_beside(QStringLiteral("108 GB"), "1", QStringLiteral("GB"), english),
            QStringLiteral("GB"));
  EXPECT_TRUE(unread_guess_text(QStringLiteral("108 Mb"), "1", QStringLiteral("GB"))
                  .contains(QStringLiteral("TB")));
}

// What stands beside the field says what is judged, and what is kept of a guess is read back as it
// to half a per cent.
TEST(GuessText, SaysInItsOwnUnitWhatWasTypedInAnother) {
  const QLocale english(QLocale::English);
  EXPECT_EQ(unit_beside(QString(), "bytes", {}, english), QStringLiteral("MiB"));
  EXPECT_EQ(unit_beside(QStringLiteral("3 MiB"), "bytes", {}, english), QStringLiteral("MiB"));
  EXPECT_EQ(unit_beside(QStringLiteral("512 KiB"), "bytes", {}, english),
            QStringLiteral("= 0.5\u00a0MiB"));
  EXPECT_EQ(unit_beside(QStringLiteral("512 parts"), "bytes", {}, english), QStringLiteral("MiB"));
  for (const char* typed : {"3 KiB", "17 B", "250 KiB", "7 GiB"}) {
    const double value = *read_guess(QString::fromUtf8(typed), "bytes", {}, english);
    const double again = *read_guess(guess_text(value, "bytes", english), "bytes", {}, english);
    EXPECT_NEAR(again / value, 1, 0.005) << typed;
  }
}

}  // namespace
}  // namespace parallelarium
