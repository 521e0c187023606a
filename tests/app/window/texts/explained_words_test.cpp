// SPDX-License-Identifier: GPL-3.0-or-later
// Words in a lesson's text: dots under their first place, and what they mean by hover and F1.
#include <QAbstractTextDocumentLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QTextBlock>
#include <QTextDocument>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

class ExplainedWords : public testing::Test {
 protected:
  void SetUp() override {
    view.resize(400, 200);
    view.explain_words();
    view.set_markdown(
        QStringLiteral("## A bubble\n\nA `bubble` in code. A rank waits: that is a bubble. "
                       "The next bubble is none, says [a bubble](https://arxiv.org)."),
        {});
    view.show();
    QApplication::processEvents();
  }
  void TearDown() override { QToolTip::hideText(); }

  // The dotted parts of the text.
  QStringList dotted() const {
    QStringList parts;
    for (QTextBlock block = view.document()->begin(); block.isValid(); block = block.next())
      for (auto part = block.begin(); !part.atEnd(); ++part)
        if (part.fragment().charFormat().underlineStyle() == QTextCharFormat::DotLine)
          parts << part.fragment().text();
    return parts;
  }
  QPoint middle_of(const TextWord& word) {
    QTextCursor cursor(view.document());
    cursor.setPosition((word.begin + word.end) / 2);
    return view.cursorRect(cursor).center();
  }
  void hover(const QPoint& point) {
    QHelpEvent help(QEvent::ToolTip, point, view.viewport()->mapToGlobal(point));
    QApplication::sendEvent(view.viewport(), &help);
  }
  MarkdownView view;
};

TEST_F(ExplainedWords, AreDottedOnceAndNotInCodeLinksAndHeadings) {
  EXPECT_EQ(dotted(), (QStringList{QStringLiteral("rank"), QStringLiteral("bubble")}));
  ASSERT_EQ(view.words().size(), 2u);
  EXPECT_EQ(view.words()[1].word->id, QStringLiteral("bubble"));
}

TEST_F(ExplainedWords, SayTheirMeaningUnderThePointer) {
  hover(middle_of(view.words()[1]));
  EXPECT_TRUE(QToolTip::text().contains(meaning_of("bubble").toHtmlEscaped()))
      << QToolTip::text().toStdString();
}

TEST_F(ExplainedWords, SayTheirMeaningAtAClickAndNotWhereThereIsNone) {
  const auto click = [&](const QPoint& point) {
    QToolTip::hideText();
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, point);
    return QToolTip::isVisible() ? QToolTip::text() : QString();
  };
  for (int turn = 0; turn < 2; ++turn)  // the word stands chosen before the second
    EXPECT_TRUE(click(middle_of(view.words()[1])).contains(meaning_of("bubble").toHtmlEscaped()));
  EXPECT_EQ(click(QPoint(view.width() - 4, view.height() - 4)), QString());
}

// F1 belongs to the window while the keys go elsewhere, and it asks the text under the pointer.
TEST_F(ExplainedWords, AreFoundByTheirPlaceOnTheScreen) {
  const auto explains = [&](const QPoint& point) {
    return MarkdownView::explain_at(view.viewport()->mapToGlobal(point));
  };
  EXPECT_FALSE(explains(QPoint(view.width() - 4, view.height() - 4)));
  EXPECT_FALSE(MarkdownView::explain_at(QPoint(-100, -100))) << "outside of every window";
  EXPECT_TRUE(explains(middle_of(view.words()[1])));
  EXPECT_TRUE(QToolTip::text().contains(meaning_of("bubble").toHtmlEscaped()));
  EXPECT_EQ(view.textCursor().selectedText(), QStringLiteral("bubble"));
}

TEST_F(ExplainedWords, SayTheirMeaningAtF1OneAfterTheOther) {
  EXPECT_TRUE(view.focusPolicy() & Qt::TabFocus) << "reached by keyboard";
  QKeyEvent ask(QEvent::ShortcutOverride, Qt::Key_F1, Qt::NoModifier);
  ask.ignore();
  QApplication::sendEvent(&view, &ask);
  EXPECT_TRUE(ask.isAccepted()) << "the window's F1 waits";
  for (const char* id : {"rank", "bubble", "rank"}) {
    QTest::keyClick(&view, Qt::Key_F1);
    EXPECT_TRUE(QToolTip::text().contains(meaning_of(id).toHtmlEscaped())) << id;
    EXPECT_TRUE(view.accessibleDescription().contains(meaning_of(id))) << id;
    EXPECT_EQ(view.textCursor().selectedText(), QLatin1String(id));
  }
}

TEST_F(ExplainedWords, SayTheirMeaningAtF1WhereOneWasChosen) {
  QTextCursor cursor(view.document());
  cursor.setPosition(view.words()[1].begin + 2);
  view.setTextCursor(cursor);
  QTest::keyClick(&view, Qt::Key_F1);
  EXPECT_TRUE(QToolTip::text().contains(meaning_of("bubble").toHtmlEscaped()));
}

TEST_F(ExplainedWords, AreReachedByTabAndSayTheirMeaningAtEnter) {
  QWidget around;
  auto* column = new QVBoxLayout(&around);
  auto* before = new QPushButton(QStringLiteral("before"));
  auto* behind = new QPushButton(QStringLiteral("behind"));
  auto* text = new MarkdownView;
  for (QWidget* part : std::initializer_list<QWidget*>{before, text, behind})
    column->addWidget(part);
  text->explain_words();
  text->set_markdown(QStringLiteral("A rank waits, [says a paper](https://arxiv.org): a bubble."),
                     {});
  around.show();
  around.activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&around));
  before->setFocus();
  const auto press = [](Qt::Key key) { QTest::keyClick(QApplication::focusWidget(), key); };
  const auto told = [](const char* id) {
    return QToolTip::text().contains(meaning_of(id).toHtmlEscaped());
  };
  const QString keys = text->accessibleDescription();
  EXPECT_TRUE(keys.startsWith(QStringLiteral("Tab leads"))) << keys.toStdString();
  press(Qt::Key_Tab);
  ASSERT_EQ(QApplication::focusWidget(), text);
  EXPECT_FALSE(text->textCursor().hasSelection()) << "the whole text";
  for (const char* stop : {"rank", "says a paper", "bubble"}) {
    press(Qt::Key_Tab);
    ASSERT_EQ(QApplication::focusWidget(), text);
    EXPECT_EQ(text->textCursor().selectedText(), QLatin1String(stop));
    if (*stop == 's') continue;
    press(Qt::Key_Return);
    EXPECT_TRUE(told(stop)) << stop;
  }
  press(Qt::Key_Tab);
  EXPECT_EQ(QApplication::focusWidget(), behind);
  for (const char* stop : {"", "bubble", "says a paper", "rank"}) {
    press(Qt::Key_Backtab);
    ASSERT_EQ(QApplication::focusWidget(), text);
    EXPECT_EQ(text->textCursor().selectedText(), QLatin1String(stop));
    if (*stop == '\0') {
      EXPECT_EQ(text->accessibleDescription(), keys) << "once more";
    }
  }
  press(Qt::Key_F1);
  EXPECT_TRUE(told("rank")) << "the one that Tab came to";
  press(Qt::Key_Backtab);
  EXPECT_EQ(QApplication::focusWidget(), before);
}

TEST_F(ExplainedWords, LeaveF1ToTheWindowWhereThereAreNone) {
  view.set_markdown(QStringLiteral("Nothing of the kind."), {});
  EXPECT_TRUE(dotted().isEmpty());
  EXPECT_TRUE(view.focusPolicy() & Qt::TabFocus) << "it is read by keyboard all the same";
  QKeyEvent ask(QEvent::ShortcutOverride, Qt::Key_F1, Qt::NoModifier);
  ask.ignore();
  QApplication::sendEvent(&view, &ask);
  EXPECT_FALSE(ask.isAccepted());
}

TEST_F(ExplainedWords, AreNotMarkedWhereNobodyAskedForIt) {
  MarkdownView plain;
  plain.set_markdown(QStringLiteral("A rank and a bubble."), {});
  EXPECT_TRUE(plain.words().empty());
}

// The meaning of a word that the lesson teaches could be the answer to its question.
TEST_F(LessonPlay, WordsOfTheLessonAreExplainedUnlessItsQuestionIsOpen) {
  open(QStringLiteral("naive-and-gpipe"));
  const MarkdownView* text = nullptr;
  for (const MarkdownView* view : panel_->findChildren<MarkdownView*>())
    if (view->accessibleName() == QStringLiteral("Lesson text")) text = view;
  ASSERT_NE(text, nullptr);
  const auto taught_here = [&] {
    return std::count_if(text->words().begin(), text->words().end(), [](const TextWord& word) {
      return word.word->lesson == QLatin1String("naive-and-gpipe");
    });
  };
  EXPECT_GT(taught_here(), 2);
  press_primary();
  ASSERT_EQ(step(), "how-much-waiting");
  EXPECT_EQ(taught_here(), 0);
  type_number(QStringLiteral("75"));
  press_and_see();
  ASSERT_TRUE(player().state().solved);
  EXPECT_GT(taught_here(), 0);
}

}  // namespace
}  // namespace parallelarium
