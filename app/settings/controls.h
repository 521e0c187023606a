// SPDX-License-Identifier: GPL-3.0-or-later
// The three controls of the setup panel that Qt does not have: a box that steps through valid
// values, a row of exclusive segments, and a section head with a reset button.
#pragma once

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QToolButton>
#include <QWheelEvent>
#include <functional>
#include <vector>

namespace parallelarium {

// Sets a dynamic property and lets the style sheet see it.
void set_style_property(QWidget* widget, const char* name, const QVariant& value);

// Gives a label the look of section heads.
void make_caps(QLabel* label);

// A quiet label for `control`, in the same parent.
QLabel* make_label(const QString& text, QWidget* control);

// A line of text with − and +. Typing commits on Enter or when the focus leaves; the arrow keys and
// buttons ask `step` for the next valid value.
class StepBox : public QAbstractSpinBox {
  Q_OBJECT

 public:
  // Gives the next valid text in a direction (+1 or -1), or an empty string if there is none.
  using Step = std::function<QString(int direction)>;

  explicit StepBox(const QString& accessible_name, Step step, QWidget* parent = nullptr);
  void set_text(const QString& text);  // what is set; ignored while the user types
  void show_as(const QString& value, const QString& word);  // a value that people read as a word
  void set_changed(bool changed);                           // marks a value that is not the default
  void set_invalid(bool invalid);
  void stepBy(int steps) override;
  QValidator::State validate(QString& input, int& position) const override;
  QSize sizeHint() const override;

 Q_SIGNALS:
  void committed(const QString& text);
  void entered();  // Enter was pressed, after what was typed is committed

 protected:
  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  StepEnabled stepEnabled() const override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void commit();
  Step step_;
  QString set_, value_, word_;
};

// Exclusive choices side by side: "none | select. | full". Arrow keys move the choice.
class Segments : public QFrame {
  Q_OBJECT

 public:
  struct Choice {
    QString value, text, tool_tip;
  };
  Segments(const QString& accessible_name, const std::vector<Choice>& choices,
           QWidget* parent = nullptr);
  void set_value(const QString& value);
  QString value() const;
  void set_changed(bool changed);
  // Whether that one can be chosen.
  void set_choice_enabled(const QString& value, bool enabled);
  // Whether that one is there; keys pass over those that are not.
  void set_choice_shown(const QString& value, bool shown);

 Q_SIGNALS:
  void chosen(const QString& value);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void round_ends();
  std::vector<Choice> choices_;
  std::vector<QToolButton*> buttons_;
};

// "PARALLELISM" and, when something below it was changed, "reset".
class SectionHead : public QWidget {
  Q_OBJECT

 public:
  explicit SectionHead(const QString& title, QWidget* parent = nullptr);
  void set_changed(bool changed);

 Q_SIGNALS:
  void reset_requested();

 private:
  QToolButton* reset_;
};

// A list of choices in what may scroll: a wheel over it scrolls that and never changes the choice.
// Its open list is as wide as its longest choice. At a choice that it keeps, as an order that was
// typed, keys open the list and change nothing.
class ChoiceBox : public QComboBox {
  Q_OBJECT

 public:
  using QComboBox::QComboBox;
  void showPopup() override;
  void set_keeps(int index) { keeps_ = index; }  // that choice; -1: none

 protected:
  void wheelEvent(QWheelEvent* event) override { event->ignore(); }
  void keyPressEvent(QKeyEvent* event) override;

 private:
  int keeps_ = -1;
};

// A label that never asks for more width than it has: it ends in "…" and shows the whole text as
// its tooltip, before a tip of its own.
class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);
  void set_full_text(const QString& text);
  void set_tip(const QString& tip);
  QString full_text() const { return full_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void elide();
  QString full_, tip_;
};

}  // namespace parallelarium
