// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a text's view that explains its words.
#include <QAbstractTextDocumentLayout>
#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollArea>
#include <QTextBlock>
#include <QTextCursor>
#include <QToolTip>

#include "app/lesson/markdown_view.h"
#include "app/look/theme/theme.h"

namespace parallelarium {

namespace {

constexpr int kAroundWord = 24;  // kept in view around a word that is told

// Rich text, since Qt breaks no lines of a plain tooltip.
QString tip_of(const Term& word) {
  return QStringLiteral("<p><b>%1</b><br>%2</p>")
      .arg(word.word.toHtmlEscaped(), word.meaning.toHtmlEscaped());
}

bool asks_for_help(const QEvent& event) {
  if (event.type() != QEvent::ShortcutOverride && event.type() != QEvent::KeyPress) return false;
  const auto& key = static_cast<const QKeyEvent&>(event);
  return key.key() == Qt::Key_F1 && key.modifiers() == Qt::NoModifier;
}

}  // namespace

void MarkdownView::explain_words(const QString& untold) {
  if (explains_ && untold == untold_) return;
  explains_ = true;
  untold_ = untold;
  if (!markdown_.isEmpty()) lay_out();
}

void MarkdownView::mark_words() {
  told_.reset();
  words_.clear();
  if (const Result<const Glossary*> all = glossary(); explains_ && all)
    words_ = words_in(*document(), **all, untold_);
  for (const TextWord& place : words_) {
    QTextCursor range(document());
    range.setPosition(place.begin);
    range.setPosition(place.end, QTextCursor::KeepAnchor);
    QTextCharFormat dots;
    dots.setUnderlineStyle(QTextCharFormat::DotLine);
    dots.setUnderlineColor(theme_for(palette()).muted);
    range.mergeCharFormat(dots);
  }
  tell_keys();
}

void MarkdownView::tell_keys() {
  setAccessibleDescription(
      words_.empty()
          ? QString()
          : tr("Tab leads from one underlined word to the next; Enter or F1 says what it means."));
}

const TextWord* MarkdownView::word_at(const QPoint& point) const {
  const int at = document()->documentLayout()->hitTest(point, Qt::ExactHit);
  for (const TextWord& place : words_)
    if (at >= place.begin && at <= place.end) return &place;
  return nullptr;
}

std::size_t MarkdownView::next_word() const {
  const QTextCursor chosen = textCursor();
  for (std::size_t at = 0; at < words_.size(); ++at) {
    if (chosen.selectionEnd() < words_[at].begin || chosen.selectionStart() > words_[at].end)
      continue;
    return told_ == at ? (at + 1) % words_.size() : at;
  }
  return 0;
}

std::optional<std::size_t> MarkdownView::chosen_word() const {
  const QTextCursor chosen = textCursor();
  for (std::size_t at = 0; at < words_.size(); ++at)
    if (chosen.selectionStart() == words_[at].begin && chosen.selectionEnd() == words_[at].end)
      return at;
  return std::nullopt;
}

std::optional<std::size_t> MarkdownView::word_beside(bool after) const {
  const QTextCursor chosen = textCursor();
  std::optional<std::size_t> before;
  for (std::size_t at = 0; at < words_.size(); ++at) {
    if (after && words_[at].begin >= chosen.selectionEnd()) return at;
    if (words_[at].end <= chosen.selectionStart()) before = at;
  }
  return after ? std::nullopt : before;
}

std::optional<int> MarkdownView::link_beside(bool after) const {
  const QTextCursor chosen = textCursor();
  std::optional<int> before;
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next())
    for (auto part = block.begin(); !part.atEnd(); ++part) {
      const QTextFragment letters = part.fragment();
      if (!letters.charFormat().isAnchor()) continue;
      if (after && letters.position() >= chosen.selectionEnd()) return letters.position();
      if (letters.position() + letters.length() <= chosen.selectionStart())
        before = letters.position();
    }
  return after ? std::nullopt : before;
}

// Selected, so that one sees which it is, and the next one follows.
void MarkdownView::choose(std::size_t word, const QString& said) {
  const TextWord& place = words_[word];
  QTextCursor range(document());
  range.setPosition(place.begin);
  range.setPosition(place.end, QTextCursor::KeepAnchor);
  setTextCursor(range);
  setAccessibleDescription(said);
  const QPoint below = cursorRect(range).bottomLeft();
  for (QWidget* around = parentWidget(); around; around = around->parentWidget())
    if (auto* area = qobject_cast<QScrollArea*>(around)) {
      const QPoint inside = viewport()->mapTo(area->widget(), below);
      area->ensureVisible(inside.x(), inside.y(), 0, kAroundWord);
      break;
    }
}

void MarkdownView::tell(std::size_t word) {
  const TextWord& place = words_[word];
  told_ = word;
  choose(word, place.word->word + QStringLiteral(": ") + place.word->meaning);
  QToolTip::showText(viewport()->mapToGlobal(cursorRect().bottomLeft()), tip_of(*place.word), this);
}

bool MarkdownView::explain_at(const QPoint& global) {
  QWidget* under = QApplication::widgetAt(global);
  auto* text = under ? qobject_cast<MarkdownView*>(under->parentWidget()) : nullptr;
  const TextWord* place = text ? text->word_at(under->mapFromGlobal(global)) : nullptr;
  if (!place) return false;
  text->setFocus(Qt::OtherFocusReason);  // Enter and Tab go on from here
  text->tell(static_cast<std::size_t>(place - text->words_.data()));
  return true;
}

// F1 is the window's key for its shortcuts; with the focus in a text that explains, it is the
// text's.
bool MarkdownView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && asks_for_help(*event) && !words_.empty()) {
    event->accept();
    return true;
  }
  return QTextBrowser::event(event);
}

void MarkdownView::keyPressEvent(QKeyEvent* event) {
  if (asks_for_help(*event) && !words_.empty()) return tell(next_word());
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (const auto chosen = chosen_word(); enter && chosen) return tell(*chosen);
  // The pane around it turns the pages.
  if (event->key() == Qt::Key_PageDown || event->key() == Qt::Key_PageUp) return event->ignore();
  QTextBrowser::keyPressEvent(event);
}

// A click says what a word means; a drag selects, and a link leads on.
void MarkdownView::mouseReleaseEvent(QMouseEvent* event) {
  const QPoint at = event->position().toPoint();
  const bool left = event->button() == Qt::LeftButton, link = !anchorAt(at).isEmpty();
  QTextBrowser::mouseReleaseEvent(event);  // a click inside of what is selected ends that
  const TextWord* place = left && !link && !textCursor().hasSelection() ? word_at(at) : nullptr;
  if (place) tell(static_cast<std::size_t>(place - words_.data()));
}

// Tab begins with the first word, Shift+Tab with the last.
void MarkdownView::focusInEvent(QFocusEvent* event) {
  if (!words_.empty()) tell_keys();  // before the focus is heard
  QTextBrowser::focusInEvent(event);
  if (event->reason() != Qt::TabFocusReason && event->reason() != Qt::BacktabFocusReason) return;
  moveCursor(event->reason() == Qt::TabFocusReason ? QTextCursor::Start : QTextCursor::End);
}

// From word to word and link to link, and from the last to what stands behind the text.
bool MarkdownView::focusNextPrevChild(bool next) {
  const auto word = word_beside(next);
  const auto link = link_beside(next);
  if (!word || (link && (*link < words_[*word].begin) == next))
    return QTextBrowser::focusNextPrevChild(next);
  QToolTip::hideText();
  told_.reset();
  choose(*word, words_[*word].word->word);
  return true;
}

bool MarkdownView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip || words_.empty()) return QTextBrowser::viewportEvent(event);
  const auto* help = static_cast<const QHelpEvent*>(event);
  const TextWord* place = word_at(help->pos());
  if (!place) {
    QToolTip::hideText();
    event->ignore();
    return true;
  }
  QToolTip::showText(help->globalPos(), tip_of(*place->word), viewport(),
                     QRect(help->pos(), QSize(1, 1)).adjusted(-8, -8, 8, 8));
  return true;
}

}  // namespace parallelarium
