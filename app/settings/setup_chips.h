// SPDX-License-Identifier: GPL-3.0-or-later
// The setup in one line of chips, where there is no room for the panel.
#pragma once

#include <QFrame>
#include <QToolButton>
#include <vector>

#include "app/state/session.h"

namespace parallelarium {

// The same in one line of chips, where there is no room for the panel: "GPT tiny", "PP 4", ...
class SetupChips : public QFrame {
  Q_OBJECT

 public:
  explicit SetupChips(Session& session, QWidget* parent = nullptr);

 Q_SIGNALS:
  void opened();  // the panel is to be shown as a popup below the chips

 private:
  void refresh();
  Session& session_;
  std::vector<QToolButton*> chips_;
};

}  // namespace parallelarium
