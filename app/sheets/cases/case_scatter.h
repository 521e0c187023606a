// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted against published figures, both on logarithmic axes: on the diagonal they are equal,
// and the band about it is 10 % wide on either side. Discs were held out, rings fitted.
#pragma once

#include <QWidget>
#include <vector>

#include "app/sheets/cases/case_table.h"

class QCustomPlot;

namespace parallelarium {

class CaseScatter : public QWidget {
  Q_OBJECT

 public:
  explicit CaseScatter(QWidget* parent = nullptr);
  // Lines without a prediction have no point. Pointers stay those of the table.
  void show_lines(std::vector<const CaseLine*> lines);
  void mark(const CaseLine* line);
  // The nearest point within reach of the pointer, or null.
  const CaseLine* line_at(QPointF position) const;
  // "31 figures: mean error 2.4 %, worst 5.3 % (175B, full recompute)."
  QString description() const;

 Q_SIGNALS:
  void line_chosen(const parallelarium::CaseLine* line);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void fill();
  QCustomPlot* plot_;
  std::vector<const CaseLine*> lines_;
  const CaseLine* marked_ = nullptr;
};

}  // namespace parallelarium
