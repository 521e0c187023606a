// SPDX-License-Identifier: GPL-3.0-or-later
// What a first-time reader stumbles over: what is judged when, what is in view, what stays where it
// was, what a replay begins with, what the end says.
#include <QScrollArea>
#include <QTextBlock>
#include <QTextBrowser>

#include "app/lesson/markdown_view.h"
#include "app/lesson/player/answers/guess_text.h"
#include "app/look/theme/theme.h"
#include "app/shell/window.h"
#include "app/state/run/run_advice.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMore = 1, kRun = 2, kNine = 3, kFill = 5, kEnd = 6;  // of the third lesson

QPushButton* button_named(const QWidget& panel, const QString& text) {
  for (QPushButton* button : panel.findChildren<QPushButton*>())
    if (button->text() == text && button->isVisible()) return button;
  return nullptr;
}

// Whether all of it is seen, or as much of its beginning as there is room for.
testing::AssertionResult in_view(const LessonPanel& panel, const QWidget& part) {
  const auto* scroll = panel.findChild<QScrollArea*>("LessonScroll");
  const QRect room = scroll->viewport()->rect();
  const QRect place(part.mapTo(scroll->viewport(), QPoint(0, 0)), part.size());
  const bool whole = room.top() <= place.top() && place.bottom() <= room.bottom();
  const bool begins = place.height() > room.height() - 16 && place.top() >= room.top() &&
                      place.top() <= room.top() + 16;
  if (part.isVisible() && (whole || begins)) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << place.top() << " to " << place.bottom() << " of 0 to " << room.bottom();
}

TEST_F(LessonPlay, AGoalIsJudgedByCheckAloneAndEnterDoesNotSkipWhatIsSaid) {
  panel_->set_pauses(1000, 700);
  open(QStringLiteral("filling-the-bubble"));
  go_to(kFill);
  set("microbatches", "32");
  EXPECT_FALSE(player().state().solved) << "reached, but nobody has pressed Check";
  ASSERT_EQ(primary()->text(), QStringLiteral("Check"));
  QTest::qWait(750);  // the label has stood long enough
  primary()->setFocus();
  for (int press = 0; press < 3; ++press) QTest::keyClick(primary(), Qt::Key_Return);
  EXPECT_TRUE(player().state().solved);
  EXPECT_EQ(player().step_index(), kFill) << "the second Enter was meant for Check";
  EXPECT_EQ(player().state().attempts, 1);
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("Done"));
  QTest::qWait(1050);
  QTest::keyClick(primary(), Qt::Key_Return);
  EXPECT_EQ(player().step_index(), kEnd);
}

// A narrow pane breaks no word of a table: its rows are stacked instead.
TEST(LessonText, StacksTheRowsOfATableWhereWordsHaveNoRoom) {
  MarkdownView view;
  view.show();
  view.set_markdown(QStringLiteral("Before\n\n| | cuts | sends |\n|---|---|---|\n"
                                   "| PP, pipeline | the stack of layers | gradients, once |\n"),
                    {});
  bool some_tables = false, some_stacks = false;
  for (int width = 120; width <= 420; width += 20) {
    view.resize(width, 100);
    QCoreApplication::processEvents();
    const bool table = !view.document()->rootFrame()->childFrames().isEmpty();
    (table ? some_tables : some_stacks) = true;
    EXPECT_EQ(view.toPlainText().contains(QStringLiteral("sends: gradients, once")), !table);
    for (QTextBlock block = view.document()->begin(); block.isValid(); block = block.next())
      for (int line = 1; line < block.layout()->lineCount(); ++line) {
        const int at = block.layout()->lineAt(line).textStart();
        EXPECT_TRUE(block.text()[at - 1].isSpace()) << block.text().toStdString() << width;
      }
  }
  EXPECT_TRUE(some_tables && some_stacks);
}

// Links of a text stand on the panel's surface, which shines through it.
TEST(LessonText, HasLinksThatCanBeReadInLightAndDark) {
  MarkdownView view;
  view.resize(300, 100);
  view.show();
  view.set_markdown(QStringLiteral("[a link](https://example.org) and text"), {});
  for (const bool dark : {true, false}) {
    apply_theme(*qApp, dark);
    QCoreApplication::processEvents();
    const QColor surface = (dark ? dark_theme() : light_theme()).surface;
    int links = 0;
    const QTextBlock block = view.document()->begin();
    for (auto part = block.begin(); !part.atEnd(); ++part) {
      const QTextCharFormat letters = part.fragment().charFormat();
      if (!letters.isAnchor()) continue;
      EXPECT_GE(contrast_ratio(letters.foreground().color(), surface), 4.5) << dark;
      ++links;
    }
    EXPECT_EQ(links, 1);
  }
}

// The box that takes the answer is always in view; so is what it asks, in a small window too.
TEST_F(LessonPlay, TheQuestionStandsInViewBesideItsBox) {
  panel_->resize(260, 360);
  open(QStringLiteral("naive-and-gpipe"));
  press_primary();
  ASSERT_EQ(step(), "how-much-waiting");
  const auto* scroll = panel_->findChild<QScrollArea*>("LessonScroll");
  MarkdownView* text = nullptr;
  for (MarkdownView* view : panel_->findChildren<MarkdownView*>())
    if (view->accessibleName() == QStringLiteral("Lesson text")) text = view;
  ASSERT_NE(text, nullptr);
  ASSERT_GT(text->height(), scroll->viewport()->height()) << "or there is nothing to prove";
  const auto y_of = [&](int y) { return text->mapTo(scroll->viewport(), QPoint(0, y)).y(); };
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return y_of(text->height()) <= scroll->viewport()->height() + 9; }, 3000))
      << y_of(text->height()) << " of " << scroll->viewport()->height();
  EXPECT_GE(y_of(text->last_paragraph()), 0);
}

TEST_F(LessonPlay, HintsNeverMoveTheAnswerBox) {
  open(QStringLiteral("filling-the-bubble"));
  for (const int height : {620, 300}) {
    panel_->resize(300, height);
    player().reset();
    press_primary();
    QApplication::processEvents();
    const auto* number = panel_->findChild<QLineEdit*>("LessonNumber");
    const QPoint before = number->mapTo(panel_.get(), QPoint(0, 0));
    for (int hint = 0; hint < 3; ++hint) {
      QPushButton* next = button_named(
          *panel_, hint == 0 ? QStringLiteral("Hint") : QStringLiteral("Hint %1").arg(hint + 1));
      ASSERT_NE(next, nullptr);
      QTest::mouseClick(next, Qt::LeftButton);
      QApplication::processEvents();
      EXPECT_EQ(number->mapTo(panel_.get(), QPoint(0, 0)), before) << hint << " at " << height;
      EXPECT_TRUE(number->isVisible());
    }
  }
}

TEST_F(LessonPlay, NothingIsPreselectedNorLooksSo) {
  panel_->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(panel_.get()));
  open(QStringLiteral("filling-the-bubble"));
  go_to(kRun);
  primary()->setFocus();
  bring_run(session_.subject().prediction()->bubble.of_total);
  press_primary();
  ASSERT_EQ(player().step_index(), kNine);
  QApplication::processEvents();
  const auto cards = panel_->findChildren<OptionCard*>();
  ASSERT_EQ(cards.size(), 3);
  for (const OptionCard* card : cards) {
    EXPECT_FALSE(card->isChecked());
    EXPECT_FALSE(card->hasFocus());
  }
  EXPECT_TRUE(panel_->isAncestorOf(QApplication::focusWidget())) << "the keys stay in the lesson";
  // With the focus a card keeps the border of one that is not chosen.
  OptionCard* card = cards.front();
  const auto border = [card] {
    return card->grab().toImage().pixelColor(card->width() / 2, 0).rgb();
  };
  const QRgb plain = border();
  QWidget* const text = QApplication::focusWidget();
  for (int word = 0; word < 20 && QApplication::focusWidget() == text; ++word)
    QTest::keyClick(text, Qt::Key_Tab);
  ASSERT_TRUE(card->hasFocus()) << "Tab leads from the text to the first card";
  EXPECT_EQ(border(), plain);
  QTest::keyClick(card, Qt::Key_Space);
  ASSERT_TRUE(card->isChecked());
  EXPECT_NE(border(), plain);
  // The frame of the focus is for those who walk by keyboard: a click leaves none.
  const auto seen = [card] { return card->grab().toImage(); };
  const QImage walked = seen();
  cards.back()->setFocus(Qt::MouseFocusReason);
  const QImage alone = seen();
  EXPECT_NE(walked, alone) << "a frame shows where the keys are";
  card->setFocus(Qt::MouseFocusReason);
  ASSERT_TRUE(card->hasFocus());
  EXPECT_EQ(seen(), alone);
  QTest::keyClick(card, Qt::Key_F13);
  EXPECT_EQ(seen(), walked) << "the first key brings it back";
}

TEST_F(LessonPlay, AReplayBeginsWithoutTheRunsAndPinsOfBefore) {
  open(QStringLiteral("filling-the-bubble"));
  go_to(kRun);
  bring_run(session_.subject().prediction()->bubble.of_total);
  session_.pin();
  ASSERT_NE(session_.runs().current(), nullptr);
  ASSERT_NE(session_.runs().pinned(), nullptr);
  open(QStringLiteral("filling-the-bubble"));
  EXPECT_EQ(session_.runs().current(), nullptr);
  EXPECT_EQ(session_.runs().pinned(), nullptr);
  EXPECT_TRUE(session_.runs().shown().empty());
  EXPECT_EQ(session_.runs().all().size(), 1u) << "a document keeps them";
  press_primary();
  player().commit({0.3, {}, {}, {}});
  player().show_answer();
  press_primary();
  ASSERT_EQ(player().step_index(), kRun);
  EXPECT_FALSE(player().state().judgement) << "an old run does not pass the new play";
  panel_->leave_lesson();
  EXPECT_EQ(session_.runs().shown().size(), 1u);
}

TEST_F(LessonPlay, TheEndSumsUpWhatWasAnsweredAndSaysWhatIsNext) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  player().show_hint();
  type_number(QStringLiteral("37.5"));
  press_and_see();
  const double predicted = session_.subject().prediction()->bubble.of_total;
  press_primary();
  ASSERT_EQ(player().step_index(), kRun);
  RunRecord run = made_up_run(session_.setup(), 1.1);
  run.observation.bubble.of_total = 0.3125;
  player().next();  // no: it is not solved
  ASSERT_EQ(player().step_index(), kRun);
  run.observation.date = "2026-11-21T09:00:00Z";
  bring_run(predicted + 0.01, run.observation.date);
  if (!player().state().solved) FAIL() << feedback().toStdString();
  press_primary();
  choose(QStringLiteral("whole-step"));
  press_primary();
  choose(QStringLiteral("useful-time"));
  press_primary();
  press_primary();
  const double deep = player().drawn().at("deep");
  type_number(QLocale().toString(100 * (deep - 1) / (8 + deep - 1), 'f', 1));
  press_primary();
  press_primary();
  set("microbatches", "32");
  press_primary();
  press_primary();
  type_number(QString::number(9 * (deep + 11)));
  press_primary();
  press_primary();
  ASSERT_EQ(primary()->text(), QStringLiteral("Finish"));
  press_primary();
  ASSERT_FALSE(player().is_open());
  QString said;
  for (const MarkdownView* view : panel_->findChildren<MarkdownView*>())
    if (view->isVisible()) said += view->toPlainText();
  for (const QString& part :
       {QStringLiteral("1 hint"), QStringLiteral("More micro-batches"),
        QStringLiteral("guess: 37.5 %"), QStringLiteral("predicted "), QStringLiteral("rehearsed "),
        QStringLiteral("right at try 2"), QStringLiteral("reached"), QStringLiteral("1 minute"),
        QStringLiteral("Next:"), QStringLiteral("Chunks in turn")})
    EXPECT_TRUE(said.contains(part)) << part.toStdString() << "\n" << said.toStdString();
  // A goal shows its conditions as one sets it, so it is none of what was right at once.
  const auto& steps = read_lesson(kLessons.toStdString() + "filling-the-bubble")->steps;
  const auto asked = std::count_if(steps.begin(), steps.end(), [](const Step& one) {
    return one.kind == StepKind::kPredict || one.kind == StepKind::kExplain;
  });
  EXPECT_TRUE(said.contains(QStringLiteral(" of %1 questions right at the first try").arg(asked)))
      << said.toStdString();
  EXPECT_LT(said.indexOf(QStringLiteral("Next:")), said.indexOf(QStringLiteral("first try")))
      << "what comes next is seen at once";
  EXPECT_EQ(primary()->text(), QStringLiteral("Next lesson"));
  press_primary();
  ASSERT_TRUE(player().is_open());
  EXPECT_EQ(player().lesson().id, "chunks-in-turn");
}

TEST_F(LessonPlay, WhatWasRightBeforeAPlayWasResumedIsKeptAndSummedUp) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  const double more = player().drawn().at("more");
  player().commit({3 / (more + 3), {}, {}, {}});
  ASSERT_EQ(player().state().right, true);
  press_primary();
  ASSERT_EQ(player().step_index(), kRun);
  const nlohmann::json before = player().answers()["steps"];
  panel_->leave_lesson();
  ASSERT_TRUE(player().go_on(kLessons + QStringLiteral("filling-the-bubble")));
  EXPECT_EQ(player().step_index(), kRun);
  EXPECT_EQ(player().answers()["steps"], before) << "with what was right";
  EXPECT_EQ(player().state(1).right, true);
}

TEST_F(LessonPlay, WhileAQuestionIsOpenNoRunGivesItAwayAndItsFormulaIsNotOnThePageBefore) {
  open(QStringLiteral("filling-the-bubble"));
  EXPECT_TRUE(run_refusal(session_).isEmpty());
  EXPECT_TRUE(session_.locks().hidden(QStringLiteral("formulas")));
  EXPECT_FALSE(player().body().contains(QStringLiteral("÷ (m")));
  press_primary();
  EXPECT_THAT(run_refusal(session_).toStdString(), testing::HasSubstr("Commit your answer"));
  session_.start_run(false);
  EXPECT_EQ(session_.jobs().state(), RunState::kIdle);
  type_number(QStringLiteral("30"));
  press_and_see();
  EXPECT_TRUE(run_refusal(session_).isEmpty()) << "committed";
  player().reset();
  press_primary();
  EXPECT_FALSE(run_refusal(session_).isEmpty());
  panel_->leave_lesson();
  EXPECT_TRUE(run_refusal(session_).isEmpty());
}

TEST_F(LessonPlay, AShareBeyondTheWholeIsNoAnswer) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  auto* number = panel_->findChild<QLineEdit*>("LessonNumber");
  for (const char* typed : {"200", "200 %", "-5", "100.1"}) {
    number->clear();
    type_number(QLatin1String(typed));
    EXPECT_FALSE(primary()->isEnabled()) << typed;
    QTest::keyClick(number, Qt::Key_Return);
    EXPECT_EQ(player().state().attempts, 0) << typed;
  }
  for (const char* typed : {"0", "100", "33.3 %"}) {
    number->clear();
    type_number(QLatin1String(typed));
    EXPECT_TRUE(primary()->isEnabled()) << typed;
  }
  EXPECT_TRUE(guess_problem(2, "1").isEmpty());
  EXPECT_FALSE(guess_problem(-2, "1").isEmpty());
}

// Hints, feedback and the model answer come into view in every size of the window.
class LessonView : public testing::TestWithParam<QSize> {};

TEST_P(LessonView, WhatWasJustRevealedIsInView) {
  Window window;
  window.set_asks(false);
  window.resize(GetParam());
  window.show();
  LessonPanel& panel = window.lesson();
  panel.set_pauses(0, 0);
  LessonPlayer& player = panel.player();
  ASSERT_TRUE(player.open(kLessons + QStringLiteral("filling-the-bubble"), 7));
  player.next();
  const auto settle = [] { QTest::qWait(30); };
  settle();
  MarkdownView *hints = nullptr, *model = nullptr;
  for (MarkdownView* view : panel.findChildren<MarkdownView*>()) {
    if (view->accessibleName() == QLatin1String("Hints")) hints = view;
    if (view->accessibleName() == QLatin1String("Explanation")) model = view;
  }
  for (int hint = 1; hint <= 3; ++hint) {
    player.show_hint();
    const auto* scroll = panel.findChild<QScrollArea*>("LessonScroll");
    const auto end = [&] {  // of all hints, which is that of the newest one
      return hints->mapTo(scroll->viewport(), QPoint(0, hints->height())).y();
    };
    settle();
    EXPECT_TRUE(QTest::qWaitFor([&] { return end() <= scroll->viewport()->height(); }, 3000))
        << "hint " << hint;
    EXPECT_GT(end(), 0);
  }
  player.commit({0.375, {}, {}, {}});
  player.show_answer();
  settle();
  const auto* said = panel.findChild<MarkdownView*>("LessonFeedback");
  // Heights settle late.
  EXPECT_TRUE(QTest::qWaitFor([&] { return bool(in_view(panel, *said)); }, 3000))
      << in_view(panel, *said).message();
  QPushButton* show = button_named(panel, QStringLiteral("Explanation"));
  ASSERT_NE(show, nullptr);
  EXPECT_TRUE(show->isChecked()) << "it opened with the verdict";
  show->click();
  show->click();
  settle();
  EXPECT_TRUE(QTest::qWaitFor([&] { return bool(in_view(panel, *model)); }, 3000))
      << in_view(panel, *model).message();
}

INSTANTIATE_TEST_SUITE_P(Sizes, LessonView,
                         testing::Values(QSize(1440, 900), QSize(1024, 700), QSize(960, 540)));

}  // namespace
}  // namespace parallelarium
