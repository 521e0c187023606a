// SPDX-License-Identifier: GPL-3.0-or-later
// Markdown as tall as it needs to be: it never scrolls by itself, since the pane around it does.
// Pictures come from one folder and are drawn at the screen's resolution.
#pragma once

#include <QTextBrowser>
#include <QWheelEvent>

namespace parallelarium {

class MarkdownView : public QTextBrowser {
  Q_OBJECT

 public:
  explicit MarkdownView(QWidget* parent = nullptr);
  // `folder` is where relative pictures lie. An empty text hides the view.
  void set_markdown(const QString& markdown, const QString& folder);
  // Where the last paragraph begins, from the top of the view: of a question, what is asked.
  int last_paragraph() const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  QVariant loadResource(int type, const QUrl& name) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override { event->ignore(); }

 private:
  void lay_out();
  void fit();
  QString markdown_, folder_;
};

}  // namespace parallelarium
