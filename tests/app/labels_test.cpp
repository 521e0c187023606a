// SPDX-License-Identifier: GPL-3.0-or-later
// In every state and size: no text is clipped or lies over another, and every figure has its
// source.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>

#include "app/lesson/lesson_panel.h"
#include "app/views/pipeline_view.h"
#include "app/window.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

struct Case {
  const char* name;
  QSize size;
  bool dark;
  const char* state;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

QString text_of(const QWidget* widget) {
  if (const auto* label = qobject_cast<const QLabel*>(widget)) return label->text();
  if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) return button->text();
  return {};
}

bool inside_scroll_area(const QWidget* widget) {
  for (const QWidget* at = widget->parentWidget(); at; at = at->parentWidget())
    if (qobject_cast<const QAbstractScrollArea*>(at)) return true;
  return false;
}

void put_into(Window& window, const QString& state) {
  Session& session = window.session();
  if (state.isEmpty()) return;  // as the program starts: with the first lesson
  window.lesson().player().close();
  session.restore(default_setup(), {}, std::nullopt);
  const auto set = [&](const char* field, const char* value) {
    Setup setup = session.setup();
    ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    session.change_setup(setup, QString::fromLatin1(field));
    session.wait_for_prediction();
  };
  if (state == QLatin1String("invalid")) set("tp", "3");
  if (state == QLatin1String("elsewhere")) {
    set("machine", "dgx-h100");
    set("model", "gpt3-175b");
  }
  if (state == QLatin1String("single")) set("pp", "1");
  if (state == QLatin1String("pinned")) {
    session.pin();
    set("microbatches", "16");
    session.set_guesses({{QStringLiteral("bubble.of_total"), 0.16, QStringLiteral("16 %")}});
  }
  if (state == QLatin1String("hidden"))
    session.set_hidden({QStringLiteral("bubble"), QStringLiteral("lane.predicted")});
  if (state == QLatin1String("refused")) set("tp", "2");
}

class Labels : public testing::TestWithParam<Case> {};

TEST_P(Labels, AreNeitherClippedNorOverEachOther) {
  Window window;
  window.set_asks(false);
  window.session().set_playing(false);
  window.choose_theme(GetParam().dark ? ThemeChoice::kDark : ThemeChoice::kLight);
  window.resize(GetParam().size);
  window.show();
  put_into(window, QLatin1String(GetParam().state));
  wait_until([] { return false; }, 60);
  ASSERT_EQ(window.size(), GetParam().size);

  std::vector<std::pair<QRect, QString>> placed;
  for (const QWidget* widget : window.findChildren<QWidget*>()) {
    if (!widget->isVisible() || text_of(widget).isEmpty()) continue;
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
    if (inside_scroll_area(widget)) continue;
    const QRect rect(widget->mapTo(&window, QPoint(0, 0)), widget->size());
    EXPECT_TRUE(window.rect().contains(rect)) << where.toStdString();
    for (const auto& [other, other_text] : placed)
      EXPECT_FALSE(rect.adjusted(1, 1, -1, -1).intersects(other))
          << where.toStdString() << " lies over '" << other_text.toStdString() << "'";
    placed.emplace_back(rect, text);
  }
  EXPECT_GT(placed.size(), 10u);
}

TEST_P(Labels, FiguresHaveAUnitAndASourceWord) {
  Window window;
  window.set_asks(false);
  window.resize(GetParam().size);
  window.show();
  put_into(window, QLatin1String(GetParam().state));
  int figures = 0;
  for (const QLabel* label : window.findChildren<QLabel*>()) {
    if (!label->property("figure").toBool() || label->text().isEmpty()) continue;
    ++figures;
    EXPECT_FALSE(label->property("source").toString().isEmpty()) << label->text().toStdString();
  }
  EXPECT_GE(figures, 2);
  for (const Quantity& quantity : pipeline_quantities(window.session()))
    for (const Figure& figure : {quantity.predicted, quantity.observed}) {
      if (figure.text.isEmpty() || figure.text == QLatin1String("?")) continue;
      EXPECT_FALSE(figure.source.isEmpty());
      if (quantity.key == QLatin1String("losses")) continue;  // nats per byte have no sign
      EXPECT_TRUE(figure.text.contains(QChar(0x00a0))) << figure.text.toStdString();
    }
}

const QSize kFull{1440, 900}, kNarrow{1024, 700}, kCompact{960, 540};
INSTANTIATE_TEST_SUITE_P(
    States, Labels,
    testing::Values(Case{"full", kFull, false, ""}, Case{"full_dark", kFull, true, ""},
                    Case{"narrow", kNarrow, false, ""}, Case{"narrow_dark", kNarrow, true, ""},
                    Case{"compact", kCompact, false, ""}, Case{"compact_dark", kCompact, true, ""},
                    Case{"invalid", kFull, false, "invalid"},
                    Case{"invalid_compact", kCompact, false, "invalid"},
                    Case{"elsewhere", kFull, false, "elsewhere"},
                    Case{"elsewhere_narrow", kNarrow, false, "elsewhere"},
                    Case{"elsewhere_compact", kCompact, false, "elsewhere"},
                    Case{"single", kFull, false, "single"}, Case{"pinned", kFull, false, "pinned"},
                    Case{"pinned_narrow", kNarrow, false, "pinned"},
                    Case{"hidden", kFull, false, "hidden"},
                    Case{"hidden_compact", kCompact, false, "hidden"},
                    Case{"refused", kFull, false, "refused"},
                    Case{"refused_compact", kCompact, false, "refused"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace parallelarium
