// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/figures.h"

#include <gtest/gtest.h>

#include <QRegularExpression>
#include <nlohmann/json.hpp>

#include "app/look/sentence.h"
#include "engine/plan/machine/machine.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

const QLocale kC = QLocale::c();
std::string without_marks(const QString& text) {
  return QString(text).replace(QChar(0x00a0), QLatin1Char(' ')).toStdString();
}

TEST(Figures, TimesHaveThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(without_marks(seconds_text(0.0841234, kC)), "84.1 ms");
  EXPECT_EQ(without_marks(seconds_text(0.005, kC)), "5.00 ms");
  EXPECT_EQ(without_marks(seconds_text(1.2345, kC)), "1.23 s");
  EXPECT_EQ(without_marks(seconds_text(2.5e-6, kC)), "2.50 µs");
  EXPECT_EQ(without_marks(seconds_text(0, kC)), "0 ms");
}

TEST(Figures, RoundingNeverGivesAFourthDigit) {
  EXPECT_EQ(without_marks(seconds_text(0.09996, kC)), "100 ms");
  EXPECT_EQ(without_marks(seconds_text(0.00999951, kC)), "10.0 ms");
  EXPECT_EQ(without_marks(seconds_text(0.99996, kC)), "1.00 s");
  EXPECT_EQ(without_marks(share_text(0.09996, kC)), "10.0 %");
}

TEST(Figures, SizesAreBinaryAndExactWhenWhole) {
  EXPECT_EQ(without_marks(bytes_text(0, kC)), "0 B");
  EXPECT_EQ(without_marks(bytes_text(1023, kC)), "1023 B");
  EXPECT_EQ(without_marks(bytes_text(4 << 20, kC)), "4 MiB");
  EXPECT_EQ(without_marks(bytes_text(43201536, kC)), "41.2 MiB");
  EXPECT_EQ(without_marks(bytes_text(std::int64_t{80} << 30, kC)), "80 GiB");
}

TEST(Figures, LongTimesAreInMinutesHoursOrDays) {
  EXPECT_EQ(without_marks(seconds_text(999, kC)), "999 s");
  EXPECT_EQ(without_marks(seconds_text(1000, kC)), "16 min 40 s");
  EXPECT_EQ(without_marks(seconds_text(3599.6, kC)), "1 h 0 min");
  EXPECT_EQ(without_marks(seconds_text(12255, kC)), "3 h 24 min");
  EXPECT_EQ(without_marks(seconds_text(609984, kC)), "7.06 days");
}

TEST(Figures, DifferencesSayTheirSignAndUnit) {
  EXPECT_EQ(without_marks(share_difference_text(0.30, 0.32, kC)), "+2.0 pt");
  EXPECT_EQ(without_marks(share_difference_text(0.32, 0.3077, kC)), "−1.2 pt");
  EXPECT_EQ(without_marks(share_difference_text(0.2, 0.2001, kC)), "0.0 pt");
  // 17.7 % beside 15.1 % differ by what a reader subtracts.
  EXPECT_EQ(without_marks(share_difference_text(0.15144, 0.17652, kC)), "+2.6 pt");
  EXPECT_EQ(without_marks(seconds_difference_text(-0.0032, kC)), "−3.20 ms");
  EXPECT_EQ(without_marks(seconds_difference_text(0, kC)), "0 ms");
  EXPECT_EQ(without_marks(bytes_difference_text(5, 5, kC)), "0 B");
  EXPECT_EQ(without_marks(bytes_difference_text(2048, 1024, kC)), "−1 KiB");
  EXPECT_EQ(without_marks(relative_text(2, 2.1, kC)), "+5.0 %");
  EXPECT_EQ(without_marks(relative_text(0, 1, kC)), "–");
  EXPECT_EQ(without_marks(number_text(1.26e-9, kC)), "1.26e-9");
  EXPECT_EQ(without_marks(number_text(3.5e12, kC)), "3.5e+12");
}

TEST(Figures, FollowTheLocaleOnScreen) {
  const QLocale german(QLocale::German, QLocale::Germany);
  EXPECT_EQ(without_marks(seconds_text(0.0841, german)), "84,1 ms");
}

TEST(Figures, OriginsKeepTheNamesOfTheirSources) {
  const std::string sheet =
      "specification: NVIDIA H100 Tensor Core GPU datasheet, SXM (FP8; half of the figure with "
      "sparsity)";
  const std::string ladder =
      "published in te42kyfo/gpu-benches 1c36d50, gpu-latency/v100.txt (43 KiB; 30 cycles at 1380 "
      "MHz)";
  const std::string here = "measured on this computer on 2026-11-21 (best matrix product)";
  for (const std::string& line : {sheet, ladder, here})
    EXPECT_EQ(origin_text(origin_of(line)).toStdString(), line);
  const German german;
  EXPECT_EQ(
      origin_text(origin_of(sheet)).toStdString(),
      "Spezifikation: NVIDIA H100 Tensor Core GPU datasheet, SXM (FP8; die Hälfte der Zahl mit "
      "Sparsity)");
  EXPECT_EQ(
      origin_text(origin_of(ladder)).toStdString(),
      "veröffentlicht in te42kyfo/gpu-benches 1c36d50, gpu-latency/v100.txt (43 KiB; 30 Takte "
      "bei 1380 MHz)");
  EXPECT_EQ(origin_text(origin_of(here)).toStdString(),
            "auf diesem Rechner gemessen am 2026-11-21 (bestes Matrixprodukt)");
  EXPECT_EQ(origin_word(origin_of("assumed as of B200")).toStdString(), "angenommen");
}

// Small words that English has and German has not.
TEST(Figures, NotesOfShippedOriginsHaveNoEnglishInGerman) {
  const German german;
  static const QRegularExpression english(
      QStringLiteral("\\b(of|the|with|by|and|which|each|from|one|way)\\b"));
  int notes = 0;
  for (const std::string& name : machine_names()) {
    std::vector<nlohmann::json> rest = {to_json(*find_machine(name))};
    while (!rest.empty()) {
      const nlohmann::json json = std::move(rest.back());
      rest.pop_back();
      for (const auto& [key, value] : json.items()) {
        if (value.is_structured()) rest.push_back(value);
        if (key != "origin") continue;
        for (const OriginNote& note : origin_of(value.get<std::string>()).notes) {
          const QString said = sentence(message_of(note));
          EXPECT_FALSE(said.contains(english)) << name << ": " << said.toStdString();
          ++notes;
        }
      }
    }
  }
  EXPECT_GT(notes, 300);
}

TEST(Figures, RatesAreDecimalAndParametersShort) {
  EXPECT_EQ(without_marks(rate_text(1.5e9, kC)), "1.50 GB/s");
  EXPECT_EQ(without_marks(parameters_text(6'400'000, kC)), "6.40 M");
  EXPECT_EQ(without_marks(parameters_text(175'000'000'000, kC)), "175 B");
}

TEST(Figures, ANumberAndItsUnitStayOnOneLine) {
  const QString firm = QChar(0x00a0);
  EXPECT_EQ(with_firm_units(QStringLiteral("9 % of 12 ms, 3 MiB at 4 GB/s and 2 slots")),
            QStringLiteral("9~% of 12~ms, 3~MiB at 4~GB/s and 2 slots").replace('~', firm));
  EXPECT_EQ(with_firm_units(QStringLiteral("8 sequences, 4 Bars")),
            QStringLiteral("8 sequences, 4 Bars"));
}

}  // namespace
}  // namespace parallelarium
