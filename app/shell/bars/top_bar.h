// SPDX-License-Identifier: GPL-3.0-or-later
// The top: rooms, document name, transport, Pin, Prove it, Export and Run.
#pragma once

#include <QFrame>
#include <optional>

#include "app/settings/controls.h"
#include "app/state/session.h"
#include "app/views/views.h"

class QAction;
class QPushButton;

namespace parallelarium {

class TransportBar;

class TopBar : public QFrame {
  Q_OBJECT

 public:
  struct Actions {
    QAction *pin, *prove, *run, *cancel, *small_copy;
    QMenu* export_menu;
  };
  TopBar(Session& session, const Actions& actions, QWidget* parent = nullptr);
  TransportBar& transport() { return *transport_; }
  void set_document_name(const QString& name);
  void set_compact(bool compact);  // leaves out the product's name
  void set_room(Room room);        // in Plan nothing plays
  // Pin, Prove it and Run act on this plan. Without one they act on the setup. `refusal`: why they
  // cannot, or empty.
  void set_plan(const std::optional<Setup>& plan, const QString& refusal);
  void set_planner(bool on);  // whether Plan can be chosen
  void set_bare(bool bare);   // leaves out what plays, runs and exports
  QPushButton& run_button() { return *run_; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 Q_SIGNALS:
  void room_chosen(Room room);

 private:
  void refresh();
  void show_run();
  void show_parts();
  int width_of_run();
  QString run_text() const;
  bool copies() const;       // Run runs a small copy
  QString refusal() const;   // of Run
  QStringList tips() const;  // of Run while nothing runs
  Session& session_;
  Actions actions_;
  QString document_;
  std::optional<Setup> plan_;
  QString plan_refusal_;
  bool bare_ = false, plans_ = false;
  bool short_ = false;  // Run does not say on what: there is no room
  QLabel* product_;
  Segments* rooms_;
  ElidedLabel* name_;
  TransportBar* transport_;
  QPushButton *pin_, *prove_, *export_, *run_;
};

}  // namespace parallelarium
