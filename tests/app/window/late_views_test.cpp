// SPDX-License-Identifier: GPL-3.0-or-later
// A view is made when it is first looked at, and says then what it would if it had been there from
// the start.
#include <gtest/gtest.h>

#include <QMenu>

#include "app/state/collective/collective_session.h"
#include "app/views/views.h"
#include "tests/app/window/window_fixture.h"
#include "tests/app/window/window_states.h"

namespace parallelarium {
namespace {

qsizetype views_in(const Window& window) { return window.findChildren<View*>().size(); }

// All that the view in front says, one text a line.
std::string said_by(Window& window) {
  View& view = window.view();
  view.wait();
  QApplication::processEvents();
  QStringList said{view.description(), view.moment()};
  for (const Quantity& one : view.quantities())
    said << one.key << one.title << one.predicted.text << one.observed.text << one.difference
         << one.since_pin << one.note << view.origin(one.key);
  const ViewPicture picture = view.exported({});
  QImage image(picture.size, QImage::Format_ARGB32_Premultiplied);
  QPainter painter(&image);
  TextLog texts;
  picture.paint(painter, picture.size, &texts);
  for (const auto& placed : texts) said << placed.text;
  for (const QWidget* part : view.findChildren<QWidget*>()) {
    if (!part->isVisible()) continue;
    const auto tell = [&](const QString& text) {
      said << text << part->accessibleName() << part->toolTip()
           << (part->isEnabled() ? QString() : QStringLiteral("off"));
    };
    if (const auto* label = qobject_cast<const QLabel*>(part)) tell(label->text());
    if (const auto* button = qobject_cast<const QAbstractButton*>(part)) tell(button->text());
    if (const auto* box = qobject_cast<const QComboBox*>(part)) tell(box->currentText());
  }
  return said.join(QLatin1Char('\n')).toStdString();
}

using LateViews = WindowFixture;

TEST_F(LateViews, AWindowBeginsWithOneAndMakesTheOthersAsTheyAreShown) {
  qsizetype made = 1;
  ASSERT_EQ(views_in(*window), made);
  EXPECT_EQ(&window->view_info(), &first_view());
  for (const ViewInfo& info : views()) {
    if (&info != &first_view()) ++made;
    window->show_view(QLatin1String(info.id));
    EXPECT_TRUE(window->view().isVisible()) << info.id;
    EXPECT_EQ(views_in(*window), made) << info.id;
  }
  EXPECT_EQ(made, qsizetype(views().size()));
}

TEST_F(LateViews, AMenuOfAViewHasItsCommandsOnceItIsOpened) {
  int menus = 0;
  for (std::size_t at = 0; at < views().size(); ++at) {
    if (!views()[at].menu) continue;
    ++menus;
    QMenu* own = nullptr;
    for (auto* menu : window->findChildren<QMenu*>())
      if (menu->title() == views()[at].menu()) own = menu;
    ASSERT_NE(own, nullptr) << views()[at].id;
    own->popup(QPoint(0, 0));
    QApplication::processEvents();
    EXPECT_TRUE(own->isVisible()) << views()[at].id;
    EXPECT_FALSE(own->actions().isEmpty()) << views()[at].id;
    const auto listed = own->actions().size();
    own->close();
    own->popup(QPoint(0, 0));
    EXPECT_EQ(own->actions().size(), listed) << "once";
    own->close();
  }
  EXPECT_GT(menus, 0);
}

TEST(LateViewsOfAState, SayWhatThoseThatWereThereSay) {
  for (const char* state : {"invalid", "pinned", "hidden"}) {
    Window early, late;
    for (Window* each : {&early, &late}) {
      each->set_asks(false);
      each->session().playback().set_playing(false);
      each->resize(1440, 900);
      each->show();
    }
    for (const ViewInfo& info : views()) early.show_view(QLatin1String(info.id));
    early.show_view(QLatin1String(first_view().id));
    for (Window* each : {&early, &late}) {
      put_into(*each, QLatin1String(state));
      each->session().wait_for_prediction();
      each->session().playback().set_playhead(Nanoseconds(0));
      each->session().collectives().set_playhead(Nanoseconds(0));
    }
    ASSERT_EQ(views_in(late), 1) << state;
    for (const ViewInfo& info : views()) {
      for (Window* each : {&early, &late}) each->show_view(QLatin1String(info.id));
      EXPECT_EQ(said_by(late), said_by(early)) << state << ", " << info.id;
    }
  }
}

}  // namespace
}  // namespace parallelarium
