// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/markdown_view.h"

#include <QAbstractTextDocumentLayout>
#include <QDesktopServices>
#include <QDir>
#include <QEvent>
#include <QFile>
#include <QPainter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextTable>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/look/theme/focus_ring.h"
#include "app/look/theme/theme.h"

namespace parallelarium {

namespace {

constexpr int kLineHeightPercent = 110;
constexpr qreal kParagraphGap = 9;
constexpr int kRingRoom = kRingWidth + 2;  // beside the letters
const QString kBold = QStringLiteral("**");
constexpr int kCodePixels = 12, kTextPixels = 13;
constexpr int kTablePadding = 4;
constexpr int kIndent = 18;  // of a list, for text of that size: its numbers stand in it

QStringList cells_of(const QString& line) {
  QStringList cells = line.trimmed().split(QLatin1Char('|'));
  cells.removeFirst();
  cells.removeLast();
  for (QString& cell : cells) cell = cell.trimmed();
  return cells;
}

// Tables as paragraphs, one for each row: its first cell, and under it each other one behind the
// head of its column.
QString with_stacked_rows(const QString& markdown) {
  QStringList stacked, heads;
  for (const QString& line : markdown.split(QLatin1Char('\n'))) {
    if (!line.startsWith(QLatin1Char('|'))) {
      heads.clear();
      stacked << line;
      continue;
    }
    const QStringList cells = cells_of(line);
    if (heads.isEmpty()) {
      heads = cells;
      continue;
    }
    if (line.contains(QLatin1String("---"))) continue;
    QStringList row;
    for (qsizetype at = 0; at < cells.size(); ++at) {
      if (cells[at].isEmpty()) continue;
      const QString head = at < heads.size() ? heads[at] : QString();
      row << (at == 0          ? QStringLiteral("**%1**").arg(QString(cells[at]).remove(kBold))
              : head.isEmpty() ? cells[at]
                               : QStringLiteral("%1: %2").arg(head, cells[at]));
    }
    stacked << row.join(QStringLiteral("\\\n")) << QString();
  }
  return stacked.join(QLatin1Char('\n'));
}

}  // namespace

MarkdownView::MarkdownView(QWidget* parent) : QTextBrowser(parent) {
  speak_as(*this, {QAccessible::StaticText, [this] { return spoken_text(*document()); }, true});
  setFrameShape(QFrame::NoFrame);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setOpenLinks(false);
  setTabChangesFocus(true);
  setFocusPolicy(Qt::StrongFocus);  // whoever has no mouse reads it, too
  setViewportMargins(kRingRoom, kRingWidth, kRingRoom, kRingWidth);
  ring_focus(*this);
  document()->setDocumentMargin(0);
  viewport()->setAutoFillBackground(false);
  setStyleSheet(QStringLiteral("QTextBrowser { background: transparent; }"));
  connect(this, &QTextBrowser::anchorClicked, this, [](const QUrl& url) {
    if (url.scheme() == QLatin1String("https")) QDesktopServices::openUrl(url);
  });
}

void MarkdownView::set_markdown(const QString& markdown, const QString& folder) {
  markdown_ = markdown;
  folder_ = folder;
  setVisible(!markdown.isEmpty());
  lay_out();
}

int MarkdownView::last_paragraph() const {
  return int(document()->documentLayout()->blockBoundingRect(document()->lastBlock()).top());
}

void MarkdownView::lay_out() {
  const Theme& theme = theme_for(palette());
  // As the style sheet says, which is larger in front of a class.
  const int pixels = font().pixelSize() > 0 ? font().pixelSize() : kTextPixels;
  document()->setDefaultFont(theme.font(pixels));
  document()->setIndentWidth(double(kIndent) / kTextPixels * pixels);
  const QString firm = with_firm_units(markdown_);
  // In one edit, or all of it is laid out again with every paragraph.
  QTextCursor cursor(document());
  const auto write = [&](const QString& markdown) {
    cursor.beginEditBlock();
    setMarkdown(markdown);
    cursor.endEditBlock();
  };
  write(firm);
  if (!tables_fit()) write(with_stacked_rows(firm));
  // Columns are shared out by what their words need, where words are not broken.
  const bool has_tables = !document()->rootFrame()->childFrames().isEmpty();
  setWordWrapMode(has_tables ? QTextOption::WordWrap : QTextOption::WrapAtWordBoundaryOrAnywhere);
  cursor.beginEditBlock();
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    cursor.setPosition(block.position());
    QTextBlockFormat format = block.blockFormat();
    const bool code = format.hasProperty(QTextFormat::BlockCodeFence);
    format.setLineHeight(code ? 100 : kLineHeightPercent, QTextBlockFormat::ProportionalHeight);
    const bool in_code = code && block.next().isValid() &&
                         block.next().blockFormat().hasProperty(QTextFormat::BlockCodeFence);
    format.setTopMargin(0);
    format.setBottomMargin(in_code || cursor.currentTable() ? 0 : kParagraphGap);
    cursor.setBlockFormat(format);
    for (auto part = block.begin(); !part.atEnd(); ++part) {
      const QTextFragment fragment = part.fragment();
      QTextCharFormat letters = fragment.charFormat();
      if (!letters.fontFixedPitch() && !code && !letters.isAnchor()) continue;
      QTextCursor range(document());
      range.setPosition(fragment.position());
      range.setPosition(fragment.position() + fragment.length(), QTextCursor::KeepAnchor);
      QTextCharFormat change;
      if (letters.isAnchor()) {
        change.setForeground(theme.accent_line);
      } else {
        change.setFontFamilies({QStringLiteral("DejaVu Sans Mono"), QStringLiteral("monospace")});
        change.setProperty(QTextFormat::FontPixelSize, kCodePixels);
        change.clearProperty(QTextFormat::FontPointSize);
      }
      range.mergeCharFormat(change);
    }
  }
  style_tables();
  mark_words();
  cursor.endEditBlock();
  fit();
}

// Whether the longest word of each column has room.
bool MarkdownView::tables_fit() const {
  QFont font = document()->defaultFont();
  font.setBold(true);  // as heads are
  const QFontMetricsF metrics(font);
  static const QRegularExpression space(QStringLiteral("[ \\n\\x{2028}]+"));
  for (const QTextFrame* frame : document()->rootFrame()->childFrames()) {
    const auto* table = qobject_cast<const QTextTable*>(frame);
    if (!table) continue;
    double width = 0;
    for (int column = 0; column < table->columns(); ++column) {
      double longest = 0;
      for (int row = 0; row < table->rows(); ++row) {
        const QTextTableCell cell = table->cellAt(row, column);
        for (auto block = cell.begin(); block != cell.end(); ++block)
          for (const QString& word : block.currentBlock().text().split(space))
            longest = std::max(longest, metrics.horizontalAdvance(word));
      }
      width += longest + 2 * kTablePadding + 2;
    }
    if (width > viewport()->width()) return false;
  }
  return true;
}

void MarkdownView::style_tables() {
  const Theme& theme = theme_for(palette());
  for (QTextFrame* frame : document()->rootFrame()->childFrames())
    if (auto* table = qobject_cast<QTextTable*>(frame)) {
      QTextTableFormat format = table->format();
      format.setBorderCollapse(true);
      format.setBorder(0);
      format.setCellPadding(kTablePadding);
      format.setTopMargin(kParagraphGap);
      format.setBottomMargin(kParagraphGap);
      table->setFormat(format);
      for (int row = 0; row < table->rows(); ++row)
        for (int column = 0; column < table->columns(); ++column) {
          QTextTableCell cell = table->cellAt(row, column);
          QTextTableCellFormat line = cell.format().toTableCellFormat();
          line.setBottomBorder(1);
          line.setBottomBorderStyle(QTextFrameFormat::BorderStyle_Solid);
          line.setBottomBorderBrush(theme.hairline);
          cell.setFormat(line);
        }
    }
}

void MarkdownView::fit() {
  document()->setTextWidth(viewport()->width());
  const int height = static_cast<int>(std::ceil(document()->size().height())) + 2 * kRingWidth;
  if (height != this->height()) setFixedHeight(height);
}

QSize MarkdownView::sizeHint() const { return {200, height()}; }
QSize MarkdownView::minimumSizeHint() const { return {80, height()}; }

QVariant MarkdownView::loadResource(int type, const QUrl& name) {
  if (type != QTextDocument::ImageResource || !name.isRelative()) return {};
  // file_inside() of the checker refuses other paths; here they are simply not drawn.
  const QDir folder(folder_);
  const QString path = QDir::cleanPath(folder.filePath(name.path()));
  if (!path.startsWith(folder.canonicalPath() + QLatin1Char('/'))) return {};
  const int width = std::max(80, viewport()->width());
  const qreal ratio = devicePixelRatioF();
  QSvgRenderer svg(path);
  if (!svg.isValid()) {
    QImage picture(path);
    if (picture.isNull()) return {};
    picture = picture.scaledToWidth(static_cast<int>(width * ratio), Qt::SmoothTransformation);
    picture.setDevicePixelRatio(ratio);
    return picture;
  }
  QSizeF size = svg.defaultSize();
  size.scale(width, 4000, Qt::KeepAspectRatio);
  QImage picture((size * ratio).toSize(), QImage::Format_ARGB32_Premultiplied);
  picture.setDevicePixelRatio(ratio);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  svg.render(&painter, QRectF(QPointF(0, 0), size));
  return picture;
}

void MarkdownView::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  if (event->size().width() == event->oldSize().width()) return;
  if (markdown_.contains(QLatin1String("![")) || markdown_.contains(QLatin1String("\n|")))
    lay_out();  // pictures are as wide as the pane, and rows of tables stack where it is narrow
  else
    fit();
}

void MarkdownView::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  const bool looks_new =
      event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange;
  if (looks_new && !markdown_.isEmpty()) lay_out();
}

QString plain_text(const QString& markdown) {
  QTextDocument document;
  document.setMarkdown(markdown);
  return with_firm_units(spoken_text(document));
}

}  // namespace parallelarium
