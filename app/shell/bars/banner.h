// SPDX-License-Identifier: GPL-3.0-or-later
// One sentence above the picture about what stands in the way, with buttons that mend it.
#pragma once

#include <QFrame>
#include <QLabel>
#include <QString>
#include <functional>
#include <vector>

class QHBoxLayout;

namespace parallelarium {

class Banner : public QFrame {
  Q_OBJECT

 public:
  enum class Kind { kWarning, kPlain };
  struct Choice {
    QString text, accessible_name;
    std::function<void()> act;
  };
  explicit Banner(QWidget* parent = nullptr);
  // Shows the sentence, or hides the banner when it is empty. `choices` become buttons.
  void say(const QString& sentence, Kind kind, std::vector<Choice> choices);
  QString sentence() const { return sentence_; }

 private:
  QString sentence_;
  QString choice_texts_;
  QLabel* label_;
  QHBoxLayout* buttons_;
};

}  // namespace parallelarium
