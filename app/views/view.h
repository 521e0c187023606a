// SPDX-License-Identifier: GPL-3.0-or-later
// What a view is: an entry that says what is known of it without a window, and the widget in its
// tab. The entries stand in views.h; window, menus, exports, lessons and the command line read that
// list and know no view by name.
#pragma once

#include <QList>
#include <QPainter>
#include <QSize>
#include <QString>
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "app/selection/selection_panel.h"
#include "app/state/session.h"
#include "app/views/shared/quantities/quantities.h"
#include "app/views/timeline/picture/timeline_paint.h"

class QAction;
class QLayout;

namespace parallelarium {

class Topic;
class View;

// The rooms of the window, in their order there.
enum class Room : std::uint8_t { kLearn, kExplore, kPlan };

struct PictureStyle {
  bool dark = false;
  bool whole_step = true;  // else the visible range, where `shows_range`
  QString part = {};       // of the view, as in resources/views.json; empty: its picture
};

// A picture that explains itself, for export.
struct ViewPicture {
  QSize size;  // at which nothing is cramped, in logical pixels
  std::function<void(QPainter& painter, QSizeF size, TextLog* texts)> paint;
};

// The figures that a view shows, for export in place of the topic's table.
struct ViewTable {
  QString title;                              // in the export dialog: "Sweep: points (CSV)"
  std::function<Result<std::string>()> text;  // error: a lesson hides it
  bool of_all_plans = false;                  // it lists them all, not only the one in the view
};

// A Setup that is chosen in a view, such as a point of a sweep.
struct ChosenSetup {
  Setup setup;
  QString whose;  // "Of the point of the sweep …", a sentence
};

struct ViewInfo {
  const char* id;         // as in resources/views.json
  Room room;              // the one whose tab it is; lessons show any
  QString (*title)();     // of its tab: "Memory"
  QString (*command)();   // of its menu entry: "Memor&y view"
  QString (*menu)();      // of the submenu with its own commands: "In &memory"
  QString (*question)();  // that it answers: "Who computes what, when"
  QString (*about)();     // what is to be seen, in three sentences of Markdown
  QString (*selects)();   // what to click, while nothing is selected
  const char* formula;    // the quantity whose formula stands at the right at first
  const char* file;       // name of an exported file, without its ending
  bool shows_range;       // its picture can be of the visible time alone
  // Why there is nothing to see now; empty: it applies.
  QString (*why_not)(const Session& session);
  Topic& (*topic)(Session& session);
  // What is exported where there is no widget, of the view's own choice of rank, layer and so on.
  ViewPicture (*picture)(const Session& session, const PictureStyle& style);
  View* (*make)(Session& session, QWidget* parent);
  // Asks the engine what the view answers, as its button does: until then there is nothing to
  // export. Null: the view is about what is set, which a run measures.
  void (*ask)(Session& session) = nullptr;
  // The plan of the search that it is about now; none, or null: it is about what is set.
  std::optional<Setup> (*plan)(const Session& session) = nullptr;
  // Its own table where there is no widget; null: the topic's.
  std::optional<ViewTable> (*table)(const Session& session) = nullptr;
};

// Commands of a view that stand together.
struct ViewActions {
  QList<QAction*> actions;
  QString submenu = {};  // inside the view's menu; empty: in the menu itself
  QString heading = {};  // on the sheet of shortcuts; empty: with those of the other views
  bool on_sheet = true;  // false: the sheet lists these keys by itself
};

// The widget of a view. While it is shown, its topic is in front.
class View : public QWidget {
  Q_OBJECT

 public:
  explicit View(Session& session, QWidget* parent);

  // The subject of the view, by default the training step.
  virtual Topic& topic() const;
  // Five, for the strip.
  virtual std::vector<Quantity> quantities() const = 0;
  // Where the figure of a quantity comes from that no closed formula gives.
  virtual QString origin(const QString& quantity) const;
  // The text of the current frame.
  virtual QString description() const = 0;
  // The part of it that a screen reader hears when time or settings move on.
  virtual QString moment() const { return description(); }
  // What is exported: what it shows now.
  virtual ViewPicture exported(const PictureStyle& style) const = 0;
  // The table that is exported of it; none: the topic's.
  virtual std::optional<ViewTable> table() const { return std::nullopt; }
  // What launch lines are of, before the plan that ViewInfo names; none: nothing is chosen.
  virtual std::optional<ChosenSetup> chosen() const { return std::nullopt; }
  virtual std::vector<ViewActions> commands() const { return {}; }
  QList<QAction*> all_commands() const;
  // Names keys anew, after a change of the preferences.
  virtual void refresh_keys() {}
  // Brings that part of resources/views.json to the front; empty: the one that a view opens with,
  // where another can hide what a lesson speaks of.
  virtual void show_part(const QString&) {}
  // Takes a file that was dropped on the window or opened. False: it is none for this view.
  virtual bool take_file(const QString&) { return false; }
  // The keyboard goes to a search field. False: the view has none.
  virtual bool open_search() { return false; }
  // Whether keys are typed into the rows of an order that stands open in it.
  virtual bool takes_orders() const { return false; }
  // How the view looks is chosen in controls that stand beside the tabs where these leave room: in
  // a layout of the window's or, for null, in the view itself. No width: there are none.
  virtual int look_controls_width() const { return 0; }
  virtual void put_look_controls(QLayout*) {}
  // Emits retold() of what is chosen in it, or of nothing.
  virtual void retell() {}
  // Returns when what threads compute is there (for tests and pictures).
  virtual void wait() {}

 Q_SIGNALS:
  // Something was chosen in it: what it is.
  void described(const SelectionText& text);
  // What was chosen reads otherwise by now, or is gone. Who listens hears that as the moment.
  void retold(const SelectionText& text);
  void quantities_changed();

 protected:
  // To be called whenever what is shown may have changed: a screen reader hears the moment then, if
  // it is another one, as the description of the picture that takes the keys. What is chosen in
  // the picture is heard in its place, as `described` tells of it.
  void tell_shown();
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget& picture_of_keys();
  Session& shown_in_;
  QString told_moment_;
};

}  // namespace parallelarium
