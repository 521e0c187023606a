// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/markdown_view.h"

#include <QAbstractTextDocumentLayout>
#include <QDesktopServices>
#include <QDir>
#include <QEvent>
#include <QFile>
#include <QPainter>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextTable>
#include <QWheelEvent>
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
constexpr int kCodePixels = 12, kTextPixels = 13;
constexpr int kIndent = 18;  // of a list, for text of that size: its numbers stand in it

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
  setMarkdown(with_firm_units(markdown_));
  QTextCursor cursor(document());
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

void MarkdownView::style_tables() {
  const Theme& theme = theme_for(palette());
  for (QTextFrame* frame : document()->rootFrame()->childFrames())
    if (auto* table = qobject_cast<QTextTable*>(frame)) {
      QTextTableFormat format = table->format();
      format.setBorderCollapse(true);
      format.setBorder(0);
      format.setCellPadding(4);
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
  if (markdown_.contains(QLatin1String("![")))
    lay_out();  // pictures are as wide as the pane
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
