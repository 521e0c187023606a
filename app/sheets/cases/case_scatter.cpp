// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/cases/case_scatter.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/look/theme/theme.h"
#include "app/views/shared/paint/qcustomplot_header.h"

namespace parallelarium {

namespace {

constexpr double kBand = 0.1;  // half of its width
constexpr double kReach = 10;  // pixels from a point to the pointer that means it
constexpr double kRoom = 1.5;  // of the axes beyond the outermost points, as a factor
constexpr double kDisc = 5, kRing = 6, kMarked = 11;

struct Extent {
  double least = 0, most = 0;
};

Extent extent_of(const std::vector<const CaseLine*>& lines) {
  Extent extent{1e300, 0};
  for (const CaseLine* line : lines)
    for (const double value : {line->published().published, *line->predicted}) {
      extent.least = std::min(extent.least, value);
      extent.most = std::max(extent.most, value);
    }
  if (lines.empty()) return {1, 10};
  return {extent.least / kRoom, extent.most * kRoom};
}

// Digits that a person reads: 0.5, 20, 3,000.
class PlainTicker : public QCPAxisTickerLog {
 protected:
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return number_text(tick);
  }
};

QString unit_of(const std::vector<const CaseLine*>& lines) {
  if (lines.empty()) return {};
  const char* unit = metric_of(lines.front()->published()).unit;
  for (const CaseLine* line : lines)
    if (metric_of(line->published()).unit != std::string_view(unit)) return {};
  return QLatin1String(unit);
}

}  // namespace

CaseScatter::CaseScatter(QWidget* parent) : QWidget(parent), plot_(new QCustomPlot(this)) {
  setMinimumSize(280, 200);
  speak_as(*this, {QAccessible::Graphic});
  setAccessibleName(tr("Predicted against published"));
  plot_->setFocusPolicy(Qt::NoFocus);
  plot_->setAttribute(Qt::WA_TransparentForMouseEvents);
  fill();
}

void CaseScatter::show_lines(std::vector<const CaseLine*> lines) {
  lines.erase(std::remove_if(
                  lines.begin(), lines.end(),
                  [](const CaseLine* line) { return !line->predicted || *line->predicted <= 0; }),
              lines.end());
  lines_ = std::move(lines);
  fill();
}

void CaseScatter::mark(const CaseLine* line) {
  marked_ = line;
  fill();
}

void CaseScatter::fill() {
  const Theme& theme = theme_for(palette());
  plot_->clearGraphs();
  plot_->setBackground(theme.surface);
  const QString unit = unit_of(lines_);
  const QString in = unit.isEmpty() ? QString() : QStringLiteral(", ") + unit;
  plot_->xAxis->setLabel(tr("published") + in);
  plot_->yAxis->setLabel(tr("predicted") + in);
  const Extent extent = extent_of(lines_);
  for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
    const auto ticker = QSharedPointer<PlainTicker>::create();
    ticker->setSubTickCount(0);
    ticker->setTickCount(axis == plot_->xAxis ? 2 : 5);  // labels below stand side by side
    axis->setTicker(ticker);
    axis->setRange(extent.least, extent.most);
    axis->setBasePen(Qt::NoPen);
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelFont(theme.font(11));
    axis->setTickLabelColor(theme.muted);
    axis->setLabelFont(theme.font(11));
    axis->setLabelColor(theme.muted);
    axis->grid()->setPen(QPen(theme.grid, 0));
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
  const auto line_of = [&](double factor, const QPen& pen) {
    QCPGraph* graph = plot_->addGraph();
    graph->setPen(pen);
    graph->setData({extent.least, extent.most}, {factor * extent.least, factor * extent.most},
                   true);
  };
  line_of(1, QPen(theme.muted, 1));
  for (const double factor : {1 - kBand, 1 + kBand})
    line_of(factor, QPen(theme.hairline, 1, Qt::DashLine));
  const auto points_of = [&](const QCPScatterStyle& style, const auto& is_of) {
    QCPGraph* graph = plot_->addGraph();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(style);
    for (const CaseLine* line : lines_)
      if (is_of(*line)) graph->addData(line->published().published, *line->predicted);
  };
  points_of({QCPScatterStyle::ssCircle, QPen(theme.accent_line, 1), QBrush(theme.surface), kRing},
            [](const CaseLine& line) { return line.row->fitted; });
  points_of({QCPScatterStyle::ssDisc, QPen(theme.accent_line, 1), QBrush(theme.accent_line), kDisc},
            [](const CaseLine& line) { return !line.row->fitted; });
  points_of({QCPScatterStyle::ssCircle, QPen(theme.mark, 1), Qt::NoBrush, kMarked},
            [this](const CaseLine& line) { return &line == marked_; });
  setAccessibleDescription(description());
  plot_->replot(QCustomPlot::rpQueuedReplot);
}

const CaseLine* CaseScatter::line_at(QPointF position) const {
  const CaseLine* nearest = nullptr;
  double least = kReach;
  for (const CaseLine* line : lines_) {
    const QPointF point(plot_->xAxis->coordToPixel(line->published().published),
                        plot_->yAxis->coordToPixel(*line->predicted));
    const double away = std::hypot(point.x() - position.x(), point.y() - position.y());
    if (away < least) {
      least = away;
      nearest = line;
    }
  }
  return nearest;
}

QString CaseScatter::description() const {
  if (lines_.empty()) return tr("Nothing of this is predicted.");
  double sum = 0;
  const CaseLine* worst = lines_.front();
  for (const CaseLine* line : lines_) {
    sum += std::abs(*line->error());
    if (std::abs(*line->error()) > std::abs(*worst->error())) worst = line;
  }
  const QString name = QString::fromStdString(worst->row->name);
  if (lines_.size() == 1)
    return tr("One figure: error %1 (%2).").arg(error_text(*worst->error()), name);
  return tr("%1 figures: mean error %2, worst %3 (%4).")
      .arg(lines_.size())
      .arg(share_text(sum / double(lines_.size())), error_text(*worst->error()), name);
}

void CaseScatter::paintEvent(QPaintEvent*) {
  QPainter(this).fillRect(rect(), theme_for(palette()).surface);
}

void CaseScatter::resizeEvent(QResizeEvent*) { plot_->setGeometry(rect()); }

void CaseScatter::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) fill();
  QWidget::changeEvent(event);
}

void CaseScatter::mousePressEvent(QMouseEvent* event) {
  if (const CaseLine* line = line_at(event->position())) Q_EMIT line_chosen(line);
}

bool CaseScatter::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const CaseLine* line = line_at(help->pos());
  QToolTip::showText(
      help->globalPos(),
      line ? QStringLiteral("%1\n%2, %3: %4")
                 .arg(QString::fromStdString(line->row->name),
                      QString::fromStdString(line->of->source),
                      metric_text(line->published().metric), error_text(*line->error()))
           : QString(),
      this);
  return true;
}

}  // namespace parallelarium
