// SPDX-License-Identifier: GPL-3.0-or-later
// The strip at the bottom: five quantities, predicted beside observed, each with its source word.
#pragma once

#include <QFrame>
#include <QLabel>
#include <functional>
#include <optional>
#include <vector>

#include "app/settings/controls.h"
#include "app/state/session.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {

// How much room there is: 88 px high; the same with smaller figures; 54 px, without the last line.
enum class StripSize { kFull, kNarrow, kCompact };

inline constexpr int kStripCells = 5;

class StripCell : public QFrame {
  Q_OBJECT

 public:
  explicit StripCell(QWidget* parent = nullptr);
  void show_quantity(const Quantity& quantity, StripSize size);
  const QString& key() const { return key_; }

 Q_SIGNALS:
  void activated(const QString& key);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();
  void fit_title(int wide);
  QString key_, why_none_;
  QStringList notes_;  // guess, pin and what else is to be said
  std::optional<Quantity> shown_;
  StripSize size_ = StripSize::kFull;
  ElidedLabel* title_;
  QLabel *predicted_, *observed_, *difference_;
  ElidedLabel *predicted_source_, *observed_source_, *difference_source_, *footnote_;
};

class Strip : public QFrame {
  Q_OBJECT

 public:
  explicit Strip(Session& session, QWidget* parent = nullptr);
  void set_size(StripSize size);
  // What is shown, kStripCells of them; each view has its own.
  void set_quantities(std::function<std::vector<Quantity>()> quantities);
  void refresh();

 Q_SIGNALS:
  // A cell was clicked: the selection panel shows its formulas.
  void quantity_chosen(const QString& key);

 private:
  Session& session_;
  std::function<std::vector<Quantity>()> quantities_;
  StripSize size_ = StripSize::kFull;
  std::vector<StripCell*> cells_;
  std::size_t live_steps_ = 0;  // EngineJobs::live_losses(), as shown
};

}  // namespace parallelarium
