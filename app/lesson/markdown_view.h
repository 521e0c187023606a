// SPDX-License-Identifier: GPL-3.0-or-later
// Markdown as tall as it needs to be: it never scrolls by itself, since the pane around it does.
// Pictures come from one folder and are drawn at the screen's resolution. Words of the glossary can
// be explained: the first place of each is underlined with dots, hover says its meaning, and Tab
// leads from one to the next, where Enter and F1 say it.
#pragma once

#include <QTextBrowser>
#include <QWheelEvent>
#include <optional>

#include "app/lesson/text_words.h"

namespace parallelarium {

// Markdown without its marks, for a card, a label or a screen reader.
QString plain_text(const QString& markdown);

class MarkdownView : public QTextBrowser {
  Q_OBJECT

 public:
  explicit MarkdownView(QWidget* parent = nullptr);
  // `folder` is where relative pictures lie. An empty text hides the view.
  void set_markdown(const QString& markdown, const QString& folder);
  // Explains words, except those that the lesson `untold` teaches.
  void explain_words(const QString& untold = {});
  const std::vector<TextWord>& words() const { return words_; }
  // Explains the word at this place of the screen. False: no text that explains words has one
  // there.
  static bool explain_at(const QPoint& global);
  // Where the last paragraph begins, from the top of the view: of a question, what is asked.
  int last_paragraph() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  QVariant loadResource(int type, const QUrl& name) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override { event->ignore(); }

 private:
  void lay_out();
  bool tables_fit() const;
  void style_tables();
  void mark_words();
  void tell_keys();  // that lead from word to word
  void fit();
  // The word at a point of the viewport.
  const TextWord* word_at(const QPoint& point) const;
  // Of the words: the chosen one, after one that was told the next, else the first.
  std::size_t next_word() const;
  std::optional<std::size_t> chosen_word() const;            // that is selected as a whole
  std::optional<std::size_t> word_beside(bool after) const;  // what is selected
  std::optional<int> link_beside(bool after) const;          // where it begins
  void choose(std::size_t word, const QString& said);
  void tell(std::size_t word);

  QString markdown_, folder_;
  bool explains_ = false;
  QString untold_;
  std::vector<TextWord> words_;
  std::optional<std::size_t> told_;  // the word that F1 told of last
};

}  // namespace parallelarium
