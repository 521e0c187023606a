// SPDX-License-Identifier: GPL-3.0-or-later
// Without a lesson the right column is about the view in front, and leads to the lessons on it.
#include <QLabel>
#include <QRegularExpression>
#include <set>

#include "app/lesson/markdown_view.h"
#include "app/views/views.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class AboutViews : public WindowFixture {
 protected:
  QString about() {
    for (const MarkdownView* text : window->lesson().findChildren<MarkdownView*>())
      if (text->accessibleName() == "Lesson text") return text->toPlainText();
    return {};
  }
  QLabel* links() {
    for (QLabel* label : window->lesson().findChildren<QLabel*>(QStringLiteral("LessonLinks")))
      if (label->isVisibleTo(&window->lesson())) return label;
    return nullptr;
  }
};

TEST_F(AboutViews, EachSaysWhatIsToBeSeenInThreeSentences) {
  std::set<QString> seen;
  for (const ViewInfo& view : views()) {
    window->show_view(view.id);
    QApplication::processEvents();
    const QString text = about();
    EXPECT_TRUE(seen.insert(text).second) << view.id;
    EXPECT_EQ(text.count(QRegularExpression("[.](\\s|$)")), 3) << view.id;
    EXPECT_LE(text.split(' ').size(), 60) << view.id;
  }
}

TEST_F(AboutViews, LeadToLessonsThatShowThem) {
  for (const char* id : {"pipeline", "memory", "collectives", "experts", "mesh"}) {
    window->show_view(id);
    QApplication::processEvents();
    QLabel* list = links();
    ASSERT_NE(list, nullptr) << id;
    static const QRegularExpression link(QStringLiteral("href=\"([a-z0-9-]+)\""));
    ASSERT_TRUE(link.match(list->text()).hasMatch()) << id;
    EXPECT_LE(list->text().count(QStringLiteral("href")), 4);
    Q_EMIT list->linkActivated(link.match(list->text()).captured(1));
    ASSERT_TRUE(window->lesson().player().is_open()) << id;
    const Lesson& lesson = window->lesson().player().lesson();
    EXPECT_TRUE(std::any_of(lesson.steps.begin(), lesson.steps.end(),
                            [&](const Step& step) { return step.tab.starts_with(id); }))
        << id << ", " << lesson.id;
    window->lesson().player().close();
    QApplication::processEvents();
    EXPECT_NE(links(), nullptr);
  }
}

}  // namespace
}  // namespace parallelarium
