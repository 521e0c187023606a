// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of a question that asks for several things at once: a row for each part, with a field
// for a number or a list of the step's options, and after an answer a mark.
#pragma once

#include <QWidget>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;

namespace parallelarium {

class PartsForm : public QWidget {
  Q_OBJECT

 public:
  using Answers = std::map<std::string, PartAnswer>;
  struct Words {
    std::string id;
    QString text;
  };

  explicit PartsForm(QWidget* parent = nullptr);

  // `labels` and `counted`, what each plain number counts, stand in the order of `parts`; `options`
  // as they are shown.
  void set_parts(const std::vector<QuestionPart>& parts, const QStringList& labels,
                 const QStringList& counted, const std::vector<Words>& options,
                 const Answers& answers);
  // What is filled in so far.
  Answers answers() const;
  // Why what stands there cannot be an answer yet, as a sentence; empty if it can.
  QString problem() const;
  // Marks each part as right or wrong, or none without a judgement; any change hides the marks.
  void show_marks(const std::optional<std::set<std::string>>& wrong);
  void set_done(bool done);
  QWidget* first_field() const;
  void set_asked(const QString& asked);  // what is heard of the first field

 Q_SIGNALS:
  void edited();
  void entered();  // the Enter key in a number

 private:
  struct Row {
    QuestionPart part;
    QString label, counted;
    QLineEdit* number = nullptr;
    QComboBox* choice = nullptr;
    QLabel* mark = nullptr;
  };
  bool each_once() const;
  QString placed_twice() const;
  void change();
  void describe();

  QGridLayout* grid_;
  std::vector<Row> rows_;
  QString asked_;
};

}  // namespace parallelarium
