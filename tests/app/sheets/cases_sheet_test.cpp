// SPDX-License-Identifier: GPL-3.0-or-later
// Published runs in the window: what the table says is what the engine says, the points stand where
// the table's figures are, and a row opens as the Setup of its file.
#include "app/sheets/cases/cases_sheet.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QTableView>
#include <cmath>

#include "app/sheets/cases/case_scatter.h"
#include "tests/app/window/texts/german.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class PublishedRuns : public WindowFixture {
 protected:
  // Two sources: one that is predicted whole, and one that cannot be said.
  static std::unique_ptr<CasesSheet> sheet_of(std::initializer_list<const char*> names = {
                                                  "korthikanti-2022-table-5", "solar-open-2026"}) {
    std::vector<Case> cases;
    for (const char* name : names) cases.push_back(*find_case(name));
    auto sheet = std::make_unique<CasesSheet>(std::move(cases));
    sheet->show();
    sheet->wait();
    QApplication::processEvents();
    return sheet;
  }
  static QPushButton* open_button(const CasesSheet& sheet) {
    for (QPushButton* button : sheet.findChildren<QPushButton*>())
      if (button->text().contains(QLatin1String("setup"))) return button;
    return nullptr;
  }
};

TEST_F(PublishedRuns, StandBesideWhatTheEnginePredicts) {
  const auto sheet = sheet_of();
  const CaseTable& table = sheet->table();
  EXPECT_EQ(table.rowCount(), 8 + 6);
  for (const CaseLine& line : table.lines()) {
    if (!line.row->impossible.empty()) {
      EXPECT_FALSE(line.predicted) << line.row->name;
      continue;
    }
    const Result<CasePrediction> made = predict_case(*line.row);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(line.predicted, made->values[line.figure]) << line.row->name;
  }
  const auto text = [&](int column) { return table.index(0, column).data().toString(); };
  EXPECT_EQ(text(CaseTable::kSource), QStringLiteral("Korthikanti et al. 2022, Table 5"));
  EXPECT_EQ(text(CaseTable::kPublished), QStringLiteral("1.42\u00a0s"));
  EXPECT_EQ(text(CaseTable::kRates), QStringLiteral("fitted on it"));
  EXPECT_EQ(text(CaseTable::kError), error_text(*table.lines().front().error()));
}

TEST_F(PublishedRuns, AreFilteredBySourceAndFigure) {
  const auto sheet = sheet_of();
  const auto boxes = sheet->findChildren<QComboBox*>();
  const auto* view = sheet->findChild<QTableView*>();
  boxes[0]->setCurrentIndex(2);
  EXPECT_EQ(view->model()->rowCount(), 6);
  EXPECT_EQ(sheet->findChild<CaseScatter*>()->description(),
            QStringLiteral("Nothing of this is predicted."));
  boxes[0]->setCurrentIndex(0);
  boxes[2]->setCurrentText(QStringLiteral("step"));  // of the first source alone
  EXPECT_EQ(view->model()->rowCount(), 8);
  boxes[2]->setCurrentIndex(0);
  boxes[0]->setCurrentIndex(0);
  EXPECT_EQ(view->model()->rowCount(), 14);
}

TEST_F(PublishedRuns, ArePointsThatChooseTheirRows) {
  const auto sheet = sheet_of();
  auto* scatter = sheet->findChild<CaseScatter*>();
  const std::vector<CaseLine>& lines = sheet->table().lines();
  // Every predicted line has a point that finds it, or one of a line whose point covers its own.
  int found = 0;
  for (int x = 0; x < scatter->width(); x += 2)
    for (int y = 0; y < scatter->height(); y += 2)
      if (const CaseLine* line = scatter->line_at(QPointF(x, y))) {
        ++found;
        EXPECT_TRUE(line->predicted);
      }
  ASSERT_GT(found, 0);
  Q_EMIT scatter->line_chosen(&lines[5]);
  EXPECT_EQ(sheet->chosen(), &lines[5]);
  EXPECT_TRUE(QRegularExpression(QStringLiteral("^[1-9]\\d* figures: mean error "))
                  .match(scatter->description())
                  .hasMatch())
      << scatter->description().toStdString();
}

TEST_F(PublishedRuns, SayWhyTheyCannotBeOpened) {
  const auto sheet = sheet_of();
  const std::vector<CaseLine>& lines = sheet->table().lines();
  const auto impossible = std::find_if(lines.begin(), lines.end(), [](const CaseLine& line) {
    return !line.row->impossible.empty();
  });
  ASSERT_NE(impossible, lines.end());
  sheet->choose(&*impossible);
  EXPECT_FALSE(open_button(*sheet)->isEnabled());
  bool said = false;
  for (const QLabel* label : sheet->findChildren<QLabel*>())
    said = said || label->text().contains(QString::fromStdString(impossible->row->impossible));
  EXPECT_TRUE(said);
  sheet->choose(&lines.front());
  EXPECT_TRUE(open_button(*sheet)->isEnabled());
}

// As Plan asks for it: every line that is left is of the model, and none of it is missing.
TEST_F(PublishedRuns, ShowOneModelAlone) {
  action(QStringLiteral("Published runs"))->trigger();
  auto* sheet = window->findChild<CasesSheet*>();
  ASSERT_NE(sheet, nullptr);
  const auto* shown = sheet->findChild<QTableView*>()->model();
  const int all = shown->rowCount();
  const Model wanted = *find_model("llama3-8b");
  sheet->show_model(sentence(title_of(wanted)));
  int of_it = 0;
  for (const CaseLine& line : sheet->table().lines())
    of_it += line.row->impossible.empty() &&
             title_of(line.row->setup.model).text == title_of(wanted).text;
  EXPECT_GT(of_it, 10);
  EXPECT_EQ(shown->rowCount(), of_it);
  sheet->show_model(QStringLiteral("a model that nobody published"));
  EXPECT_EQ(shown->rowCount(), all);
}

TEST_F(PublishedRuns, OpenAsTheSetupOfTheirFile) {
  action(QStringLiteral("Published runs"))->trigger();
  auto* sheet = window->findChild<CasesSheet*>();
  ASSERT_NE(sheet, nullptr);
  const std::vector<CaseLine>& lines = sheet->table().lines();
  const auto at = std::find_if(lines.begin(), lines.end(), [](const CaseLine& line) {
    return line.of->name == "korthikanti-2022-table-5";
  });
  ASSERT_NE(at, lines.end());
  const CaseRow row = *at->row;
  sheet->choose(&*at);
  open_button(*sheet)->click();
  session().wait_for_prediction();
  EXPECT_EQ(session().setup(), *setup_from_json(row.asked));
  ASSERT_NE(session().subject().prediction(), nullptr);
  EXPECT_NEAR(session().subject().prediction()->step.seconds, predict_case(row)->values.front(),
              1e-9);
}

// Names of rows and sources stay as they were published; what we say of them is German.
TEST_F(PublishedRuns, AreToldInGerman) {
  const German german;
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases.ok());
  const auto is_translated = [](const std::string& words) {
    EXPECT_NE(case_text(words), QString::fromStdString(words));
  };
  for (const Case& of : *cases) {
    is_translated(of.title);
    for (const std::string& sentence : of.assumed) is_translated(sentence);
    for (const CaseRow& row : of.rows) {
      if (!row.impossible.empty()) is_translated(row.impossible);
    }
  }
  for (const CaseMetric& metric : kCaseMetrics)
    EXPECT_NE(metric_text(metric.name), QString::fromLatin1(metric.label)) << metric.name;
}

}  // namespace
}  // namespace parallelarium
