// SPDX-License-Identifier: GPL-3.0-or-later
// A radio button drawn as a card whose words wrap; and the dots that show where a lesson stands.
#pragma once

#include <QRadioButton>

namespace parallelarium {

class OptionCard : public QRadioButton {
  Q_OBJECT

 public:
  OptionCard(const QString& id, const QString& words, QWidget* parent = nullptr);
  const QString& id() const { return id_; }
  const QString& words() const { return words_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool hitButton(const QPoint& position) const override { return rect().contains(position); }

 private:
  QString id_, words_;
};

// One short bar per step: done, current, to come.
class StepDots : public QWidget {
  Q_OBJECT

 public:
  explicit StepDots(QWidget* parent = nullptr);
  void set_steps(int steps, int current);
  QSize sizeHint() const override { return {120, 4}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int steps_ = 0, current_ = 0;
};

}  // namespace parallelarium
