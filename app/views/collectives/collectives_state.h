// SPDX-License-Identifier: GPL-3.0-or-later
// What the Collectives view keeps; for collectives_view.cpp and collective_controls.cpp only.
#pragma once

#include <QAction>
#include <QComboBox>
#include <QScrollArea>
#include <QTableWidget>
#include <QThreadPool>
#include <QToolButton>

#include "app/settings/controls.h"
#include "app/state/collective/collective_session.h"
#include "app/views/collectives/collectives_view.h"

namespace parallelarium {

// One figure of the links: where it is set, and where it is used.
struct LinkControl {
  const char* key = "";  // after "collective."
  std::optional<double> LinkFigures::*figure = nullptr;
  double Network::*used = nullptr;
  bool is_latency = true, between_nodes = false;
  QLabel* label = nullptr;
  StepBox* box = nullptr;
  QString text(const Network& network) const;
};

struct CollectivesView::State {
  explicit State(Session& s) : session(s), collectives(s.collectives()) {}
  Session& session;
  CollectiveSession& collectives;

  QComboBox *kind = nullptr, *algorithm = nullptr, *type = nullptr, *reduction = nullptr,
            *topology = nullptr;
  StepBox *ranks = nullptr, *bytes = nullptr, *root = nullptr;
  QLabel *ranks_label = nullptr, *bytes_label = nullptr, *root_label = nullptr;
  std::vector<LinkControl> links;
  QLabel* links_word = nullptr;  // where their figures come from
  QWidget* look = nullptr;  // holds the two below: in the head, or where the window has room for it
  Segments *content = nullptr, *shape = nullptr;
  QToolButton* sweep = nullptr;
  QWidget* head = nullptr;
  QScrollArea* scroll = nullptr;
  QWidget* canvas = nullptr;
  QTableWidget* table = nullptr;
  QAction *show_table = nullptr, *show_values = nullptr, *show_rounding = nullptr,
          *show_parts = nullptr, *measure = nullptr;

  // Kept between frames, for as long as what they are of is shown.
  std::shared_ptr<const CollectiveMotion> predicted, observed, parts;
  std::shared_ptr<const CollectivePlan> predicted_of, observed_of, parts_of;
  std::shared_ptr<PlotCache> plot_cache = std::make_shared<PlotCache>();
  std::shared_ptr<const BandwidthLines> lines;
  bool computing = false;
  QThreadPool worker;  // last: its destructor waits
};

}  // namespace parallelarium
