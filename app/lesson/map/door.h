// SPDX-License-Identifier: GPL-3.0-or-later
// A large button with a title and a sentence: one of the ways to begin.
#pragma once

#include <QAbstractButton>

namespace parallelarium {

class Door : public QAbstractButton {
  Q_OBJECT

 public:
  // `filled`: the way that most should take.
  Door(const QString& title, const QString& about, bool filled, QWidget* parent = nullptr);
  void set_about(const QString& about);
  QSize sizeHint() const override { return {220, heightForWidth(std::max(160, width()))}; }
  QSize minimumSizeHint() const override { return {140, heightForWidth(std::max(140, width()))}; }
  int heightForWidth(int width) const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QString title_, about_;
  bool filled_;
};

}  // namespace parallelarium
