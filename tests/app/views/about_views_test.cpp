// SPDX-License-Identifier: GPL-3.0-or-later
// Without a lesson the right column is about the view in front, and leads to the lessons on it.
#include <QLabel>
#include <QRegularExpression>
#include <set>

#include "app/lesson/markdown_view.h"
#include "app/look/theme/theme.h"
#include "app/selection/selection_panel.h"
#include "app/settings/controls.h"
#include "app/shell/bars/strip.h"
#include "app/views/views.h"
#include "tests/app/wait.h"
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

TEST_F(AboutViews, EveryFormulaStandsUnderAQuantityUnlessALessonAsksForIt) {
  window->show_view("memory");
  Session& session = window->session();
  session.wait_for_prediction();
  const auto panel_text = [&](const char* quantity) {
    auto* panel = window->findChild<SelectionPanel*>();
    panel->show_formulas(QLatin1String(quantity), {});
    QString all;
    for (const QLabel* label : panel->findChildren<QLabel*>())
      if (!label->isHidden()) all += label->text() + QLatin1Char('\n');
    return all;
  };
  const auto all_stand = [&] {
    QString all;
    for (const char* quantity : {"bubble.of_total", "memory.peak_bytes", "traffic", "step.seconds"})
      all += panel_text(quantity);
    int plain = 0;
    for (const Formula& formula : session.subject().prediction()->formulas) {
      plain += formula.unit == "1";
      EXPECT_TRUE(all.contains(QString::fromStdString(formula.expression.text).toHtmlEscaped()))
          << formula.name.text;
    }
    EXPECT_GE(plain, 4) << "two bubbles, what is held, parameters";
  };
  all_stand();
  const parallelarium::Setup dense = session.setup();
  parallelarium::Setup experts = dense;
  ASSERT_TRUE(set_fields(experts, {{"model", "moe-tiny"}, {"capacity", "1.25"}}));
  session.history().change(experts, QStringLiteral("experts"));
  session.wait_for_prediction();
  all_stand();
  session.history().change(dense, QStringLiteral("dense"));
  session.wait_for_prediction();
  ASSERT_TRUE(panel_text("memory.peak_bytes").contains(QStringLiteral("min(p, m)")));
  session.locks().set_hidden({QStringLiteral("held.peak")});
  EXPECT_FALSE(panel_text("memory.peak_bytes").contains(QStringLiteral("min(p, m)")));
  EXPECT_TRUE(panel_text("memory.peak_bytes").contains(QStringLiteral("P (par")));
  session.locks().set_hidden({});
  // Where there is none, nothing is called a formula.
  EXPECT_TRUE(panel_text("memory.peak_bytes").contains(QStringLiteral("FORMULA")));
  EXPECT_FALSE(panel_text("plan.seconds").contains(QStringLiteral("FORMULA")));
}

// Why no cell of the strip has a figure is said once, and in full.
TEST_F(AboutViews, TheStripSaysOnceThatTheSettingsAreNotValid) {
  Session& session = window->session();
  parallelarium::Setup wrong = session.setup();
  wrong.mesh.tp = 8;
  ASSERT_FALSE(validate(wrong).empty());
  for (const char* view : {"mesh", "pipeline", "memory"}) {
    window->show_view(view);
    session.history().change(wrong, QStringLiteral("TP 8"));
    QApplication::processEvents();
    int said = 0;
    for (const ElidedLabel* label : window->strip().findChildren<ElidedLabel*>())
      said += label->full_text() == QStringLiteral("settings are not valid");
    EXPECT_EQ(said, 1) << view;
    session.history().stack().undo();
  }
}

// While an order is edited its formula goes and comes again, letter by letter.
TEST_F(AboutViews, AFormulaThatComesBackLooksAsBeforeAndNoneIsKeptWhereALessonHidesIt) {
  window->show_view("pipeline");
  window->session().wait_for_prediction();
  auto* panel = window->findChild<SelectionPanel*>();
  const auto shows = [&](const char* quantity) {
    panel->show_formulas(QLatin1String(quantity), {});
    QApplication::processEvents();
    return panel->widget()->grab().toImage();
  };
  const auto labels = [&](const char* text) {
    QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    int found = 0;
    for (const QLabel* label : panel->findChildren<QLabel*>())
      found += label->text().contains(QLatin1String(text));
    return found;
  };
  const QImage bubble = shows("bubble.of_total");
  const int formulas = labels("bubble of whole step");
  ASSERT_GT(formulas, 0);
  const QImage memory = shows("memory.peak_bytes");
  EXPECT_NE(memory, bubble);
  EXPECT_EQ(shows("bubble.of_total"), bubble);
  EXPECT_EQ(shows("memory.peak_bytes"), memory);
  EXPECT_EQ(labels("bubble of whole step"), formulas) << "none is made twice";
  window->session().locks().set_hidden({QStringLiteral("formulas")});
  EXPECT_EQ(labels("bubble of whole step"), 0);
  window->session().locks().set_hidden({});
}

TEST_F(AboutViews, LinksToLessonsHaveTheColourOfTheTheme) {
  window->show_view("pipeline");
  const auto shows = [&](const Theme& theme) {
    QLabel* list = links();
    if (!list) return false;
    const QImage picture = list->grab().toImage();
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x)
        if (picture.pixelColor(x, y).rgb() == theme.accent_line.rgb()) return true;
    return false;
  };
  for (const bool dark : {true, false}) {
    apply_theme(*qApp, dark);
    const Theme &now = dark ? dark_theme() : light_theme(),
                &before = dark ? light_theme() : dark_theme();
    EXPECT_TRUE(wait_until([&] { return shows(now) && !shows(before); }, 10'000)) << dark;
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
