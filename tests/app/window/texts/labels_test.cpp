// SPDX-License-Identifier: GPL-3.0-or-later
// In every state and size: no text is clipped or lies over another, and every figure has its
// source.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QDialog>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QToolButton>
#include <algorithm>

#include "app/export/export_dialog.h"
#include "app/lesson/lesson_index.h"
#include "app/lesson/lesson_panel.h"
#include "app/look/figures.h"
#include "app/look/words.h"
#include "app/shell/window.h"
#include "app/state/run/engine_process.h"
#include "app/state/step/order_edit.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/transport_bar.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_states.h"

namespace parallelarium {
namespace {

struct Look {
  QSize size;
  bool dark;
};

QString text_of(const QWidget* widget) {
  if (const auto* label = qobject_cast<const QLabel*>(widget)) return label->text();
  if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) return button->text();
  return {};
}

// The nearest scroll area around `widget`: what lies in different ones cannot be in each other's
// way.
const QAbstractScrollArea* scroll_area_of(const QWidget* widget) {
  for (const QWidget* at = widget->parentWidget(); at; at = at->parentWidget())
    if (const auto* area = qobject_cast<const QAbstractScrollArea*>(at)) return area;
  return nullptr;
}

// Every text of `window` has the room it needs, inside what surrounds it and beside the others.
void expect_tidy(const QWidget& window, std::size_t least) {
  struct Placed {
    QRect rect;
    QString text;
    const QAbstractScrollArea* area;
  };
  static const QRegularExpression one_of_many(
      QStringLiteral("\\b1[ \u00a0](nodes|ranks|cores|stages|micro-batches|replicas|steps|"
                     "minutes|layers|heads|sequences)\\b"));
  std::vector<Placed> placed;
  for (const QWidget* widget : window.findChildren<QWidget*>()) {
    if (!widget->isVisibleTo(&window) || widget->window() != &window || text_of(widget).isEmpty())
      continue;
    const QString text = text_of(widget);
    const auto* label = qobject_cast<const QLabel*>(widget);
    const bool wraps = label && label->wordWrap();
    const QString where =
        QStringLiteral("'%1' in %2")
            .arg(text, QLatin1String(widget->parentWidget()->metaObject()->className()));
    // Elided labels ask for their whole text and show it as a tooltip: what they show must fit.
    const bool elided = qobject_cast<const ElidedLabel*>(widget);
    const int needed = elided ? widget->fontMetrics().horizontalAdvance(text)
                              : (wraps ? 0 : widget->sizeHint().width());
    EXPECT_GE(widget->width() + 1, needed) << where.toStdString();
    if (wraps)
      EXPECT_GE(widget->height() + 1, label->heightForWidth(label->width())) << where.toStdString();
    else
      EXPECT_GE(widget->height(), widget->fontMetrics().ascent()) << where.toStdString();
    EXPECT_FALSE(one_of_many.match(text).hasMatch()) << where.toStdString();
    const QAbstractScrollArea* area = scroll_area_of(widget);
    const QRect rect(widget->mapTo(&window, QPoint(0, 0)), widget->size());
    const int right = area ? widget->mapTo(area->viewport(), QPoint(widget->width(), 0)).x() : 0;
    const bool scrolls = area && area->horizontalScrollBarPolicy() != Qt::ScrollBarAlwaysOff;
    EXPECT_TRUE(area ? scrolls || right <= area->viewport()->width() + 1
                     : window.rect().contains(rect))
        << where.toStdString();
    for (const Placed& other : placed)
      EXPECT_FALSE(other.area == area && rect.adjusted(1, 1, -1, -1).intersects(other.rect))
          << where.toStdString() << " lies over '" << other.text.toStdString() << "'";
    placed.push_back({rect, text, area});
  }
  EXPECT_GE(placed.size(), least);
}

// The same of what the Pipeline view paints itself, at its size on screen.
void expect_tidy_paint(Window& window) {
  const TimelineView& view = window.view_of<PipelineView>().timeline();
  const Theme& theme = theme_for(window.palette());
  const QSizeF size = view.viewport()->size();
  QImage image(view.viewport()->size(), QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint_timeline(painter, view.picture(), view.layout_of_rows(), theme, size,
                 view.verticalScrollBar()->value(), &texts);
  painter.end();
  EXPECT_GT(texts.size(), 2u);
  EXPECT_EQ(overlapping(texts), "");
  for (const PaintedText& text : texts) {
    EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
    EXPECT_LE(text.rect.right(), size.width()) << text.text.toStdString();
  }
}

// Every figure of the window and its strip names its unit and where it comes from.
void expect_units_and_sources(Window& window) {
  int figures = 0;
  for (const QLabel* label : window.findChildren<QLabel*>()) {
    if (!label->property("figure").toBool() || label->text().isEmpty()) continue;
    ++figures;
    EXPECT_FALSE(label->property("source").toString().isEmpty()) << label->text().toStdString();
  }
  EXPECT_GE(figures, 2);
  for (const Quantity& quantity : step_quantities(window.session()))
    for (const Figure& figure : {quantity.predicted, quantity.observed}) {
      if (figure.text.isEmpty() || figure.text == QLatin1String("?")) continue;
      EXPECT_FALSE(figure.source.isEmpty());
      if (quantity.key == QLatin1String("losses")) continue;  // nats per byte have no sign
      EXPECT_TRUE(figure.text.contains(QChar(0x00a0))) << figure.text.toStdString();
    }
}

// The sizes and themes in which a state is looked at. Rounding differs where a logical pixel is
// four real ones; colours and the middle size do not.
std::vector<Look> looks(const QString& state) {
  const QSize full{1440, 900}, narrow{1024, 700}, compact{960, 540};
  if (qApp->devicePixelRatio() > 1) return {{full, false}, {compact, false}};
  std::vector<Look> looks{{full, false}, {narrow, false}, {compact, false}};
  // A theme changes no text. That a change of it leaves all in place is seen in a few states, since
  // it takes longer than all sizes.
  if (state == QLatin1String("start") || state == QLatin1String("ran") ||
      state == QLatin1String("editing"))
    looks.insert(looks.end(), {{narrow, true}, {full, true}});
  return looks;
}

class Labels : public testing::TestWithParam<const char*> {};

TEST_P(Labels, AreTidyAndTellUnitAndSource) {
  const QString state = QLatin1String(GetParam());
  Window window;
  window.set_asks(false);
  window.session().playback().set_playing(false);
  window.setUpdatesEnabled(false);  // what has to be seen is painted below
  window.show();
  put_into(window, state);
  if (IsSkipped()) return;
  for (const Look& look : looks(state)) {
    SCOPED_TRACE(
        fmt::format("{} x {}{}", look.size.width(), look.size.height(), look.dark ? ", dark" : ""));
    window.choose_theme(look.dark ? ThemeChoice::kDark : ThemeChoice::kLight);
    window.resize(look.size);
    window.show_view(QStringLiteral("pipeline"));
    let_layouts_settle(60);
    ASSERT_EQ(window.size(), look.size);
    expect_tidy(window, 11);
    if (!window.session().order_edit().open()) expect_tidy_paint(window);
    expect_units_and_sources(window);
    for (const ViewInfo& view : views()) {
      SCOPED_TRACE(view.id);
      window.show_view(QLatin1String(view.id));
      let_layouts_settle(20);
      ASSERT_EQ(window.size(), look.size);
      expect_tidy(window, 11);
    }
  }
  leave_state(window);
}

// The words that say what a duration is worth stand in every size: other words make room.
TEST(StripSources, SayThatDurationsAreSetInEverySizeAndCutNoFigure) {
  Window window;
  window.set_asks(false);
  window.session().playback().set_playing(false);
  window.resize(960, 540);
  window.show();
  window.lesson().player().close();
  window.session().restore(default_setup(), {made_up_run(default_setup(), 1.1)}, std::nullopt);
  window.session().wait_for_prediction();
  let_layouts_settle(60);
  ASSERT_EQ(window.size(), QSize(960, 540));
  int said = 0;
  for (const QLabel* label : window.strip().findChildren<QLabel*>())
    said += label->isVisible() && label->width() > 0 && label->text() == QStringLiteral("set");
  EXPECT_GE(said, 1);
  expect_tidy(window, 11);
  // What the word means is said where it stands, in every size, and to screen readers. How far the
  // step is played is said beside whatever Run says.
  for (const QSize& size : {QSize(960, 540), QSize(1024, 700), QSize(1440, 900)}) {
    window.resize(size);
    let_layouts_settle(60);
    int explained = 0, tips = 0;
    for (const StripCell* cell : window.strip().findChildren<StripCell*>()) {
      const bool is_set = cell->key() == QStringLiteral("step.seconds");
      EXPECT_EQ(cell->toolTip().contains(meaning_of("set")), is_set) << cell->key().toStdString();
      EXPECT_EQ(cell->accessibleDescription().contains(meaning_of("set")), is_set);
      explained += is_set;
      for (const QLabel* label : cell->findChildren<QLabel*>())
        if (label->isVisible() && label->property("figure").toBool()) {
          EXPECT_GE(label->width(), label->sizeHint().width()) << label->text().toStdString();
        }
      for (const auto* label : cell->findChildren<ElidedLabel*>())
        tips += label->full_text() == source_text(Source::kPaced) &&
                label->toolTip().contains(meaning_of(name_of(Source::kPaced)));
    }
    EXPECT_EQ(explained, 1);
    EXPECT_GE(tips, 1);
    const Topic& topic = window.view().topic();
    const auto labels = window.top_bar().transport().findChildren<QLabel*>();
    const bool moment = std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
      return label->isVisible() && label->text() == topic.time_text(window.session());
    });
    EXPECT_TRUE(moment || size.width() < 1024) << size.width();
  }
}

// Every dialog, over the smallest window.
TEST(Dialogs, HaveNoTextClippedOrOverAnother) {
  Window window;
  window.set_asks(false);
  window.session().playback().set_playing(false);
  window.resize(960, 540);
  window.show();
  for (const char* name : {"All settings …", "Shortcuts", "Doctor", "Words", "Published runs …"})
    for (QAction* action : window.all_actions())
      if (QString(action->text()).remove(QLatin1Char('&')) == QString::fromUtf8(name))
        action->trigger();
  LessonIndex index(window.lesson().player(), &window);
  ExportDialog picture(false, true, ExportKind::kPng, window.view(), {}, &window);
  index.show();
  picture.show();
  // The Doctor asks the engine first.
  EXPECT_TRUE(wait_until(
      [&] {
        const auto dialogs = window.findChildren<QDialog*>();
        return std::all_of(dialogs.begin(), dialogs.end(), [](const QDialog* dialog) {
          return dialog->windowTitle() != QLatin1String("Doctor") ||
                 dialog->findChildren<QLabel*>().size() > 4;
        });
      },
      20'000));
  let_layouts_settle(60);
  const auto dialogs = window.findChildren<QDialog*>();
  EXPECT_EQ(dialogs.size(), 7);
  for (const QDialog* dialog : dialogs) {
    SCOPED_TRACE(dialog->windowTitle().toStdString());
    expect_tidy(*dialog, 2);
    EXPECT_LE(dialog->height(), 540 - 48) << "leaves no room for a title bar on a small screen";
    for (const auto* box : dialog->findChildren<QComboBox*>())
      EXPECT_GE(box->width(), box->minimumSizeHint().width())
          << box->accessibleName().toStdString();
  }
}

// The strip names the source of a figure in full, where the window is wide enough for its panes.
TEST(StripSources, AreNotCutOff) {
  Window window;
  window.set_asks(false);
  window.show();
  for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
    window.resize(size);
    let_layouts_settle(60);
    for (const auto* label : window.strip().findChildren<ElidedLabel*>()) {
      const bool shown = label->isVisible() && label->width() > 0;
      EXPECT_TRUE(!shown || label->text() == label->full_text())
          << label->full_text().toStdString() << " at " << size.width();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(States, Labels, testing::ValuesIn(kWindowStates),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace parallelarium
