// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/mesh/rank_list.h"

#include <QCoreApplication>
#include <QGuiApplication>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

struct RankListWords {
  Q_DECLARE_TR_FUNCTIONS(mesh)
};

constexpr double kSection = 30, kLine = 22, kBelow = 16, kRankListBar = 3, kAir = 4, kGap = 12;

std::int64_t most_of(const std::vector<RankLine>& lines) {
  std::int64_t most = 0;
  for (const RankLine& line : lines) most = std::max(most, line.bytes);
  return most;
}

// Whether word and value share a row.
bool one_row(const RankLine& line, double width, const Theme& theme) {
  return QFontMetricsF(theme.font(12)).horizontalAdvance(line.word) + kGap +
             QFontMetricsF(theme.font(12, true)).horizontalAdvance(line.value) <=
         width;
}

double height_of(const RankLine& line, double width, const Theme& theme) {
  return (line.section.isEmpty() ? 0 : kSection) + kLine +
         (one_row(line, width, theme) ? 0 : kBelow) + (line.detail.isEmpty() ? 0 : kBelow) +
         (line.bytes > 0 ? kRankListBar + 2 : 0) + kAir;
}

void paint_line(QPainter& painter, const QRectF& rect, const RankLine& line, std::int64_t most,
                const Theme& theme, TextLog* texts) {
  const QFont plain = theme.font(12), bold = theme.font(12, true), small = theme.font(11);
  double y = rect.top();
  const auto row = [&](double height) {
    const QRectF place(rect.left(), y, rect.width(), height);
    y += height;
    return place;
  };
  if (!line.section.isEmpty()) {
    QFont caps = theme.caps();
    caps.setCapitalization(QFont::MixedCase);
    put_elided(painter, row(kSection).adjusted(0, 10, 0, 0), Qt::AlignVCenter, line.section, caps,
               theme.muted, texts);
  }
  const bool together = one_row(line, rect.width(), theme);
  const QRectF first = row(kLine);
  const double taken =
      together ? QFontMetricsF(bold).horizontalAdvance(line.value) + kGap - 1 : 0.0;
  put_elided(painter, first.adjusted(0, 0, -taken, 0), Qt::AlignVCenter, line.word, plain,
             theme.text, texts);
  put_elided(painter, together ? first : row(kBelow),
             Qt::AlignVCenter | (together ? Qt::AlignRight : Qt::AlignLeft), line.value, bold,
             theme.text, texts);
  if (!line.detail.isEmpty())
    put_elided(painter, row(kBelow), Qt::AlignVCenter, line.detail, small, theme.muted, texts);
  if (line.bytes > 0 && most > 0) {
    const double wide = std::max(2.0, rect.width() * double(line.bytes) / double(most));
    painter.fillRect(QRectF(rect.left(), y, wide, kRankListBar),
                     theme.solid(OpColor::kCommunication));
  }
  painter.fillRect(QRectF(rect.left(), rect.bottom() - 1, rect.width(), 1), theme.grid);
}

class RankLineDelegate : public QStyledItemDelegate {
 public:
  explicit RankLineDelegate(RankList* list) : QStyledItemDelegate(list), list_(*list) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    const RankLine& line = list_.lines()[std::size_t(index.row())];
    const int width = list_.viewport()->width();
    return {width, int(height_of(line, width, theme_for(QGuiApplication::palette())))};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    painter->save();
    if (list_.dimmed()) painter->setOpacity(kDimmed);
    paint_line(*painter, option.rect, list_.lines()[std::size_t(index.row())], list_.most(),
               theme_for(QGuiApplication::palette()), nullptr);
    painter->restore();
  }

 private:
  const RankList& list_;
};

}  // namespace

QString RankLine::text() const {
  const QString line = QStringLiteral("%1: %2").arg(word, value);
  return detail.isEmpty() ? line : line + QStringLiteral(", ") + detail;
}

std::vector<RankLine> rank_lines(const RankFacts& facts, bool hides_memory, bool hides_traffic) {
  const auto source = [](std::int64_t predicted, std::optional<std::int64_t> counted) {
    if (!counted) return RankListWords::tr("predicted");
    return *counted == predicted
               ? RankListWords::tr("predicted, and counted to the byte")
               : RankListWords::tr("predicted, %1 counted").arg(bytes_text(*counted));
  };
  std::vector<RankLine> lines;
  const auto add = [&](const QString& word, const QString& value, const QString& detail = {}) {
    lines.push_back({{}, word, value, detail, 0});
  };
  add(RankListWords::tr("layers"), layers_text(facts.layers));
  if (hides_memory)
    add(RankListWords::tr("most memory"), kHidden);
  else
    add(RankListWords::tr("most memory"), bytes_text(facts.peak_bytes),
        source(facts.peak_bytes, facts.counted_bytes));
  if (hides_traffic)
    add(RankListWords::tr("sends in a step"), kHidden);
  else
    add(RankListWords::tr("sends in a step"), bytes_text(facts.sent),
        source(facts.sent, facts.counted_sent));
  for (const auto& [axis, ranks] : facts.groups) {
    add(RankListWords::tr("%1 group").arg(axis_text(axis)), ranks_text(ranks));
    if (axis == facts.groups.front().first) lines.back().section = RankListWords::tr("ITS GROUPS");
  }
  for (const RankLink& link : facts.links) {
    const QString times =
        link.calls == 1 ? RankListWords::tr("once") : RankListWords::tr("%1 times").arg(link.calls);
    add(link.peer >= 0 ? RankListWords::tr("to rank %1").arg(link.peer)
                       : RankListWords::tr("in its %1 group").arg(axis_text(link.axis)),
        hides_traffic ? kHidden : bytes_text(link.sent),
        hides_traffic ? link.what : QStringLiteral("%1, %2").arg(link.what, times));
    lines.back().bytes = hides_traffic ? 0 : link.sent;
    if (&link == &facts.links.front())
      lines.back().section = RankListWords::tr("WHAT IT SENDS IN A STEP");
  }
  return lines;
}

void paint_rank_facts(QPainter& painter, const QRectF& rect, const RankFacts& facts,
                      const Mesh& mesh, bool hides_memory, bool hides_traffic, const Theme& theme,
                      TextLog* texts) {
  put_elided(painter, QRectF(rect.left(), rect.top(), rect.width(), 20), Qt::AlignVCenter,
             rank_headline(facts, mesh), theme.font(12, true), theme.text, texts);
  const std::vector<RankLine> lines = rank_lines(facts, hides_memory, hides_traffic);
  double y = rect.top() + 24;
  for (const RankLine& line : lines) {
    const double height = height_of(line, rect.width(), theme);
    if (y + height > rect.bottom()) return;
    paint_line(painter, QRectF(rect.left(), y, rect.width(), height), line, most_of(lines), theme,
               texts);
    y += height;
  }
}

RankList::RankList(QWidget* parent) : QListWidget(parent) {
  setItemDelegate(new RankLineDelegate(this));
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setSelectionMode(QAbstractItemView::NoSelection);
  setResizeMode(QListView::Adjust);
  setStyleSheet(QStringLiteral("QListWidget { background: transparent; }"));
}

void RankList::set_dimmed(bool dimmed) {
  if (dimmed_ == dimmed) return;
  dimmed_ = dimmed;
  viewport()->update();
}

void RankList::set_lines(std::vector<RankLine> lines) {
  lines_ = std::move(lines);
  most_ = most_of(lines_);
  while (count() > int(lines_.size())) delete takeItem(count() - 1);
  while (count() < int(lines_.size())) addItem(QString());
  for (int row = 0; row < count(); ++row) {
    const QString text = lines_[std::size_t(row)].text();
    item(row)->setText(text);
    item(row)->setToolTip(text);
    item(row)->setFlags(Qt::ItemIsEnabled);
  }
  doItemsLayout();
}

}  // namespace parallelarium
