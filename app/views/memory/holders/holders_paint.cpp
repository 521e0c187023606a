// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/memory/holders/holders.h"
#include "app/views/memory/holders/holders_marks.h"
#include "app/views/memory/holders/holders_story.h"
#include "app/views/memory/memory_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

namespace {

struct HoldersPaint {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

constexpr double kNameWidth = 88, kHoldersHead = 47, kHoldersFoot = 60;
constexpr double kCellGap = 6, kBarGap = 2, kRowGap = 13, kLowRowGap = 2, kBetweenRows = 8;
constexpr double kRowAir = 4;     // below the line of text that stands below a row's bars
constexpr double kNamedBar = 8;   // with its gap as high as a small name
constexpr double kFullName = 12;  // as high as a name
constexpr double kOneLineOfMessages = 1320;  // wide
constexpr double kMessageLine = 16;
constexpr double kGroupHead = 30, kLowGroupHead = 26;      // above the rows of a group
constexpr double kLowPane = 420;                           // where every line of text counts
constexpr double kMostWiderHead = 12;                      // of a column, on either side
constexpr double kLeastBar = 2, kLowBar = 6, kLowGap = 1;  // high
constexpr double kLeastRow = 18;                           // high enough for a line of text
constexpr double kTwoLines = 30;                           // of text
constexpr double kOthersWidth = 210;

// A column's buckets stand side by side, each as wide as it has parameters.
void paint_cell(QPainter& painter, const QRectF& cell, const std::vector<HeldBucket>& buckets,
                const HoldersLayout& at, int hue, const Theme& theme) {
  double all = 0, before = 0;
  for (const HeldBucket& bucket : buckets) all += static_cast<double>(bucket.elements);
  for (const HeldBucket& bucket : buckets) {
    const double after = before + static_cast<double>(bucket.elements);
    const double gap = before > 0 ? 1 : 0;
    for (int kind = 0; kind < kHeldKinds; ++kind) {
      paint_state(painter,
                  share_of(at.bar_of(cell, kind), before / all, after / all).adjusted(gap, 0, 0, 0),
                  bucket, kind, hue, theme);
    }
    before = after;
  }
}

// "loss 5.545 · gradients 2.31 → 1.98 · fingerprint 9f3c71 ✓" of a run, then shorter ones; empty:
// there is none. Every text has the fingerprint.
QStringList run_texts(const HoldersRow& row) {
  if (row.hash.isEmpty()) return {};
  const QString sign = row.own_part ? QString()
                       : row.agrees ? QStringLiteral(" \u2713")
                                    : QStringLiteral(" \u2717");
  const QString print = (row.own_part ? HoldersPaint::tr("own fingerprint %1").arg(row.hash)
                                      : HoldersPaint::tr("fingerprint %1").arg(row.hash)) +
                        sign;
  const QString loss = row.loss.isEmpty() ? QString() : HoldersPaint::tr("loss %1").arg(row.loss);
  const QString norm =
      row.part_norm ? HoldersPaint::tr("%1 (part)", "a norm of gradients").arg(row.norm) : row.norm;
  const QString norms =
      row.own_norm.isEmpty() ? norm : row.own_norm + QStringLiteral(" \u2192 ") + norm;
  const auto joined = [](QStringList parts) {
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" \u00b7 "));
  };
  return {
      joined({loss, HoldersPaint::tr("gradients %1", "2.31 -> 1.98").arg(norms), print}),
      joined({loss, HoldersPaint::tr("gradients %1", "2.31 -> 1.98").arg(norms), row.hash + sign}),
      joined({loss, QStringLiteral("\u2016g\u2016 ") + norms, row.hash + sign}),
      joined({loss, row.hash + sign}),
      joined({row.loss, row.hash + sign}),
      row.hash + sign};
}

// Beside each bar what it is and how many bytes the rank holds of it; below them what a run showed,
// or the sum.
void paint_named_sums(QPainter& painter, const HoldersRow& row, const HoldersLayout& at,
                      const QRectF& first, const Theme& theme, TextLog* texts) {
  const QString names[kHeldBars] = {HoldersPaint::tr("parameters"), HoldersPaint::tr("gradients"),
                                    HoldersPaint::tr("optimizer state"),
                                    HoldersPaint::tr("activations")};
  const int size = at.bar < kFullName ? 10 : 11;
  const QFont bold = theme.font(size, true), plain = theme.font(size);
  const double left = at.right + 12, wide = at.sums_width - 12, pitch = at.bar + at.gap;
  for (int kind = 0; kind < kHeldBars; ++kind) {
    const QRectF line(left, first.top() + kind * pitch - 2, wide, at.bar + 4);
    const std::int64_t held = kind < kHeldKinds ? row.bytes[kind] : row.activation_bytes;
    const QString bytes = bytes_text(held);
    const double taken = label_width(bold, bytes) + 6;
    put_text(painter, line, Qt::AlignVCenter, bytes, bold, theme.text, texts);
    put_elided(painter, line.adjusted(taken, 0, 0, 0), Qt::AlignVCenter, names[kind], plain,
               theme.muted, texts);
  }
  const QString ran = longest_that_fits(run_texts(row), plain, wide);
  const std::int64_t buffers = row.passing_bytes[0] + row.passing_bytes[1] + row.buffer_bytes();
  const QString together = HoldersPaint::tr("%1, %2 of it buffers")
                               .arg(bytes_text(row.all_bytes()), bytes_text(buffers));
  put_elided(painter, QRectF(left, first.bottom() + 1, wide, kRowGap - 1), Qt::AlignVCenter,
             ran.isEmpty() ? together : ran, plain, row.agrees ? theme.muted : theme.warning,
             texts);
}

// The same where bars are too low for names: two lines, or one.
void paint_low_sums(QPainter& painter, const HoldersRow& row, const HoldersLayout& at,
                    const QRectF& first, const Theme& theme, TextLog* texts) {
  const QString bytes = HoldersPaint::tr("%1 here").arg(bytes_text(row.all_bytes()));
  const QStringList all = run_texts(row);
  const QColor color = row.agrees ? theme.muted : theme.warning;
  const QRectF room(at.right + 12, first.center().y() - at.row / 2, at.sums_width - 12, at.row);
  const QFont plain = theme.font(11);
  if (at.row < kTwoLines) {
    const QFont bold = theme.font(11, true);
    const double taken = label_width(bold, bytes) + 8;
    put_text(painter, room, Qt::AlignVCenter, bytes, bold, theme.text, texts);
    put_elided(painter, room.adjusted(taken, 0, 0, 0), Qt::AlignVCenter,
               longest_that_fits(all, plain, room.width() - taken), plain, color, texts);
    return;
  }
  const QString ran = longest_that_fits(all, plain, room.width());
  const QRectF two(room.left(), room.center().y() - kTwoLines / 2, room.width(), kTwoLines / 2);
  put_text(painter, two, Qt::AlignVCenter, bytes, theme.font(12, true), theme.text, texts);
  put_elided(
      painter, two.translated(0, two.height()), Qt::AlignVCenter,
      ran.isEmpty() ? HoldersPaint::tr("%1 of it parameters").arg(bytes_text(row.bytes[0])) : ran,
      plain, color, texts);
}

void paint_row_name(QPainter& painter, const HoldersRow& row, const HoldersLayout& at,
                    const QRectF& first, const Theme& theme, TextLog* texts) {
  const double chip = std::min(18.0, at.row - 2), middle = first.center().y();
  paint_chip(painter, QPointF(2, middle - chip / 2), chip, row.rank, theme, texts, row.hue);
  const QRectF line(26, middle - kLeastRow / 2, at.left - 30, kLeastRow);
  put_elided(painter, line, Qt::AlignVCenter, row.name, theme.font(12, true), theme.text, texts);
  if (!row.group.isEmpty())
    put_text(painter, QRectF(2, first.top() - 18, at.right, 14), Qt::AlignVCenter, row.group,
             theme.font(11), theme.muted, texts);
}

void paint_row(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at, int index,
               const Theme& theme, TextLog* texts) {
  const HoldersRow& row = picture.rows[static_cast<std::size_t>(index)];
  const QRectF first = at.cell(index, 0);
  paint_row_name(painter, row, at, first, theme, texts);
  for (std::size_t column = 0; column < picture.columns.size(); ++column) {
    const QRectF cell = at.cell(index, static_cast<int>(column));
    paint_cell(painter, cell, row.cells[column], at, row.hue, theme);
    if (!row.cells[column].empty())
      paint_activations(painter, at.bar_of(cell, kHeldKinds),
                        row.activations[column].most_microbatches, picture.microbatches, theme);
  }
  if (!at.sums) return;
  if (at.named)
    paint_named_sums(painter, row, at, first, theme, texts);
  else
    paint_low_sums(painter, row, at, first, theme, texts);
}

// Around the cells of rows that follow one another, with how much is done below them.
void paint_moving_rows(QPainter& painter, const QRectF& cells, double done, const QColor& color) {
  const QRectF frame = cells.adjusted(-3, -4, 3, 4);
  painter.setPen(QPen(color, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(frame, 4, 4);
  const QRectF line(frame.left(), frame.bottom() + 3, frame.width(), 4);
  painter.fillRect(QRectF(line.left(), line.top(), line.width() * done, line.height()), color);
  painter.setPen(QPen(color, 1));
  painter.drawRect(line);
}

void paint_moving(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                  double width, const Theme& theme, TextLog* texts) {
  for (const HoldersPicture::Moving& moving : picture.moving)
    for (std::size_t each = 0; each < moving.rows.size();) {
      std::size_t end = each + 1;
      while (end < moving.rows.size() && moving.rows[end] == moving.rows[end - 1] + 1) ++end;
      paint_moving_rows(painter,
                        at.cell(moving.rows[each], moving.column)
                            .united(at.cell(moving.rows[end - 1], moving.column)),
                        moving.done, theme.solid(OpColor::kCommunication));
      each = end;
    }
  // Chunks on their way stand above the frames of all collectives.
  for (const HoldersPicture::Moving& moving : picture.moving)
    for (const HoldersPicture::Chunk& chunk : moving.chunks) {
      const QRectF from = at.bar_of(at.cell(chunk.from, moving.column), moving.kind);
      const QRectF to = at.bar_of(at.cell(chunk.to, moving.column), moving.kind);
      const double x = from.left() + from.width() * (chunk.begin + chunk.end) / 2;
      const double y = from.center().y() + (to.center().y() - from.center().y()) * chunk.share;
      const double wide = std::clamp(from.width() * (chunk.end - chunk.begin) * 0.7, 3.0, 14.0);
      paint_chunk(painter, QPointF(x, y), wide, theme);
    }
  if (picture.rows.empty()) return;
  const double y = at.cell(static_cast<int>(picture.rows.size()) - 1, 0).bottom() + 16;
  const double wide = std::max(60.0, width - 26);
  put_elided(painter, QRectF(26, y, wide, 18), Qt::AlignVCenter, picture.moment,
             theme.font(12, !picture.moving.empty()),
             picture.moving.empty() ? theme.muted : theme.text, texts);
  const auto line = [&](int number, const QString& words) {
    put_elided(painter, QRectF(26, y + 18 + number * kMessageLine, wide, 18), Qt::AlignVCenter,
               words, theme.font(11), theme.muted, texts);
  };
  if (at.message_lines == 1)
    line(0, picture.messages.join(QStringLiteral(" \u00b7 ")));
  else
    for (int each = 0; each < picture.messages.size(); ++each) line(each, picture.messages[each]);
}

bool is_gathered(const HeldBucket& bucket) {
  return bucket.parameters.as == HeldAs::kCopy && bucket.parameters.passing_bytes > 0;
}

bool moves(const HoldersPicture& picture, int column) {
  return std::any_of(picture.moving.begin(), picture.moving.end(),
                     [&](const HoldersPicture::Moving& moving) { return moving.column == column; });
}

// Below the tables, and as many columns beside them as the words need: why the tables have
// gradients before the backward reaches the embedding. Returns that many columns.
int paint_head_adds(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                    const Theme& theme, TextLog* texts) {
  const bool adds = std::any_of(picture.rows.begin(), picture.rows.end(),
                                [](const HoldersRow& row) { return row.head_adds; });
  if (!adds) return 0;
  const QString words = HoldersPaint::tr("tied: the head adds gradients");
  const QFont font = theme.font(10);
  const double wide = label_width(font, words) + 4 + kCellGap;
  const int all = static_cast<int>(picture.columns.size());
  const int columns = std::min(all, static_cast<int>(wide / (at.column + kCellGap)) + 1);
  for (int column = 0; column < columns; ++column)
    if (moves(picture, column)) return 0;  // how much is done stands there
  const int last = static_cast<int>(picture.rows.size()) - 1;
  const QRectF under = at.cell(last, 0).united(at.cell(last, columns - 1));
  put_elided(painter, QRectF(under.left(), under.bottom() + 1, under.width(), kRowGap - 1),
             Qt::AlignVCenter, words, font, theme.muted, texts);
  return columns;
}

// Below columns: of what parameters are gathered for a time, that they are no lasting copies.
void paint_below_columns(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                         const Theme& theme, TextLog* texts) {
  if (picture.rows.empty()) return;
  const int last = static_cast<int>(picture.rows.size()) - 1;
  const int columns = static_cast<int>(picture.columns.size());
  // A stage's columns are empty in the rows of the others.
  const int noted = paint_head_adds(painter, picture, at, theme, texts);
  const auto gathered = [&](int column) {
    return column >= noted && !moves(picture, column) &&
           std::any_of(picture.rows.begin(), picture.rows.end(), [&](const HoldersRow& row) {
             const auto& cell = row.cells[static_cast<std::size_t>(column)];
             return std::any_of(cell.begin(), cell.end(), is_gathered);
           });
  };
  const QFont font = theme.font(10);
  for (int begin = 0, end = 0; begin < columns; begin = std::max(end, begin + 1)) {
    for (end = begin; end < columns && gathered(end);) ++end;
    if (end == begin) continue;
    const QRectF under = at.cell(last, begin).united(at.cell(last, end - 1));
    const QString whole = HoldersPaint::tr("gathered, freed after use");
    const QString words =
        label_width(font, whole) < under.width() ? whole : HoldersPaint::tr("gathered");
    const double wider = std::max(3.0, (label_width(font, words) + 4 - under.width()) / 2);
    const bool beside = moves(picture, begin - 1) || moves(picture, end);
    if (beside && wider > kCellGap - 3) continue;  // how much is done stands there
    put_elided(
        painter,
        QRectF(under.left() - wider, under.bottom() + 1, under.width() + 2 * wider, kRowGap - 1),
        Qt::AlignCenter, words, font, mixed(theme.solid(OpColor::kCommunication), theme.text, 0.35),
        texts);
  }
}

}  // namespace

QRectF HoldersLayout::cell(int row_index, int column_index) const {
  return QRectF(left + column_index * (column + kCellGap),
                tops[static_cast<std::size_t>(row_index)], column, kHeldBars * (bar + gap) - gap);
}

QRectF HoldersLayout::bar_of(const QRectF& cell, int bar_index) const {
  return {cell.left(), cell.top() + bar_index * (bar + gap), cell.width(), bar};
}

int holders_rows(double height, const Setup& setup) {
  const double story = has_story(setup) ? kStoryHeight : 0;
  const double room = height - kHoldersHead - story - 2 * kLegendLine - kHoldersFoot;
  return std::clamp(static_cast<int>(room / kLeastRow), 1, kMostHolders);
}

HoldersLayout holders_layout(const HoldersPicture& picture, QSizeF size) {
  HoldersLayout at;
  const auto columns = static_cast<double>(std::max<std::size_t>(1, picture.columns.size()));
  const auto rows = static_cast<double>(std::max<std::size_t>(1, picture.rows.size()));
  at.left = kNameWidth;
  at.sums = size.width() >= 620;
  if (picture.from_run) at.sums_width = std::clamp(size.width() * 0.4, 240.0, 340.0);
  const double room = size.width() - at.left - (at.sums ? at.sums_width : 8);
  at.column = std::max(6.0, std::min(110.0, room / columns - kCellGap));
  at.right = at.left + columns * (at.column + kCellGap);
  const auto heads = std::count_if(picture.rows.begin(), picture.rows.end(),
                                   [](const HoldersRow& row) { return !row.group.isEmpty(); });
  const double group_head = size.height() < kLowPane ? kLowGroupHead : kGroupHead;
  double under = kRowGap + kRowAir;  // room below the bars of a row
  at.message_lines = size.width() < kOneLineOfMessages
                         ? std::max(2, static_cast<int>(picture.messages.size()))
                         : 1;
  const double foot = kHoldersFoot + (at.message_lines - 1) * kMessageLine;
  place_story(picture, size.width(), at);
  const auto place_rows = [&] {
    at.top = kHoldersHead + at.story_height +
             kLegendLine * legend_lines(holders_legend(picture, at), size.width());
    const double high =
        (size.height() - at.top - foot - group_head * static_cast<double>(heads)) / rows;
    const double each = (std::max(high, kLeastRow) - under) / kHeldBars;
    at.gap = each < kLowBar ? kLowGap : kBarGap;
    at.bar = std::clamp(each - at.gap, kLeastBar, 14.0);
    at.row = std::clamp(high, kLeastRow, kHeldBars * (at.bar + at.gap) + kRowGap + kBetweenRows);
  };
  place_rows();
  at.named = at.sums && at.bar >= kNamedBar;
  if (!at.named) under = kLowRowGap;  // no line of text
  place_rows();                       // named bars need no colours in the legend
  double y = at.top;
  for (const HoldersRow& row : picture.rows) {
    if (!row.group.isEmpty()) y += group_head;
    at.tops.push_back(y);
    y += at.row;
  }
  if (static_cast<int>(picture.rows.size()) < picture.all_rows)
    at.other_rows = QRectF(std::max(0.0, size.width() - kOthersWidth), 0, kOthersWidth, 20);
  return at;
}

void paint_holders(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                   QSizeF size, std::pair<int, int> chosen, const Theme& theme, TextLog* texts) {
  painter.setRenderHint(QPainter::Antialiasing);
  if (picture.instead) {
    put_elided(painter, QRectF(0, 0, size.width(), 20), Qt::AlignVCenter, picture.title,
               theme.font(13, true), theme.text, texts);
    put_elided(painter, QRectF(0, size.height() / 2 - 34, size.width(), 22), Qt::AlignCenter,
               picture.instead->sentence, theme.font(13), theme.muted, texts);
    return;
  }
  put_elided(
      painter, QRectF(0, 0, size.width() - at.other_rows.width(), 20), Qt::AlignVCenter,
      picture.title + QStringLiteral(" \u00b7 ") +
          (picture.from_run ? HoldersPaint::tr("in the run") : HoldersPaint::tr("predicted")),
      theme.font(13, true), theme.text, texts);
  put_elided(painter, at.other_rows, Qt::AlignRight | Qt::AlignVCenter,
             at.other_rows.isEmpty() ? QString() : other_rows_words(picture), theme.font(12),
             theme.mark, texts);
  paint_story(painter, picture, at, size.width(), theme, texts);
  paint_legend_words(painter, holders_legend(picture, at), QPointF(0, 22 + at.story_height),
                     size.width(), theme, texts);
  put_text(painter, QRectF(0, at.top - 22, kNameWidth - 8, 16), Qt::AlignVCenter,
           HoldersPaint::tr("LAYER"), theme.caps(), theme.muted, texts);
  if (at.named)
    put_elided(painter, QRectF(at.right + 12, at.top - 22, at.sums_width - 12, 16),
               Qt::AlignVCenter, HoldersPaint::tr("BYTES ON THE RANK"), theme.caps(), theme.muted,
               texts);
  for (std::size_t column = 0; column < picture.columns.size(); ++column) {
    const QRectF cell = at.cell(0, static_cast<int>(column));
    // A name may be wider than its cells, since most others are numbers.
    const QString& name = picture.columns[column].name;
    const QFont font = theme.font(11, true);
    const double wider =
        std::clamp((label_width(font, name) + 2 - cell.width()) / 2, 3.0, kMostWiderHead);
    put_elided(painter, QRectF(cell.left() - wider, at.top - 22, cell.width() + 2 * wider, 16),
               Qt::AlignCenter, name, font, theme.text, texts);
  }
  for (int row = 0; row < static_cast<int>(picture.rows.size()); ++row)
    paint_row(painter, picture, at, row, theme, texts);
  paint_below_columns(painter, picture, at, theme, texts);
  paint_moving(painter, picture, at, size.width(), theme, texts);
  if (chosen.first >= 0 && chosen.first < static_cast<int>(picture.rows.size()) &&
      chosen.second >= 0 && chosen.second < static_cast<int>(picture.columns.size())) {
    painter.setPen(QPen(theme.text, 1.5, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(at.cell(chosen.first, chosen.second).adjusted(-2, -2, 2, 2));
  }
}

}  // namespace parallelarium
