// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in the place of the setup panel while the Collectives view is in front, where none of
// the training setup is used: the setup in one line, and the collectives of its step, each of which
// the view can show.
#pragma once

#include <QScrollArea>

#include "app/state/session.h"

class QToolButton;
class QVBoxLayout;

namespace parallelarium {

class SetupFold : public QScrollArea {
  Q_OBJECT

 public:
  explicit SetupFold(Session& session, QWidget* parent = nullptr);

 Q_SIGNALS:
  void setup_wanted();  // the panel itself, all the same

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void add_label(const QString& text, const char* role);
  Session& session_;
  QVBoxLayout* column_;
  std::shared_ptr<const Prediction> shown_;
};

}  // namespace parallelarium
