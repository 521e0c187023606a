// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answer/parts_form.h"

#include <QAbstractItemView>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <algorithm>
#include <functional>

#include "app/lesson/player/answers/guess_text.h"
#include "app/look/spoken.h"
#include "app/look/theme/theme.h"
#include "app/settings/controls.h"

namespace parallelarium {

namespace {

constexpr int kListMargin = 24;
constexpr int kBesideLabel = 104;  // px of words that a choice has room for beside its label

// Pages are turned by what is around it, as they are by the wheel.
// Enter commits the answer from it, as it does from a number.
class PartChoice : public ChoiceBox {
 public:
  explicit PartChoice(std::function<void()> entered) : entered_(std::move(entered)) {}
  // The list is as wide as its words, however narrow the box.
  void showPopup() override {
    view()->setMinimumWidth(view()->sizeHintForColumn(0) + kListMargin);
    ChoiceBox::showPopup();
  }

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_PageDown || event->key() == Qt::Key_PageUp) return event->ignore();
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return entered_();
    ChoiceBox::keyPressEvent(event);
  }

 private:
  std::function<void()> entered_;
};

}  // namespace

PartsForm::PartsForm(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  setObjectName(QStringLiteral("LessonParts"));
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(8);
  grid_->setVerticalSpacing(6);
}

void PartsForm::set_parts(const std::vector<QuestionPart>& parts, const QStringList& labels,
                          const QStringList& counted, const std::vector<Words>& options,
                          const Answers& answers) {
  while (QLayoutItem* item = grid_->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  rows_.clear();
  // Numbers are short and their labels long; words are the other way round.
  const bool numbers = std::any_of(parts.begin(), parts.end(),
                                   [](const QuestionPart& part) { return part.option.empty(); });
  grid_->setColumnStretch(0, numbers ? (options.empty() ? 2 : 1) : 1);
  grid_->setColumnStretch(1, numbers ? 1 : 2);
  ensurePolished();
  const bool below = std::any_of(options.begin(), options.end(), [&](const Words& option) {
    return fontMetrics().horizontalAdvance(option.text) > kBesideLabel;
  });
  int line = 0;  // of the grid: a choice of long words stands below its label
  for (const QuestionPart& part : parts) {
    const int at = static_cast<int>(rows_.size());
    Row& row = rows_.emplace_back(Row{part, labels.value(at), counted.value(at)});
    const auto given = answers.find(part.id);
    auto* label = new QLabel(row.label);
    label->setWordWrap(true);
    row.mark = new QLabel;
    row.mark->setMinimumWidth(14);
    const int mark_line = line;
    if (below && !part.option.empty())
      grid_->addWidget(label, line++, 0, 1, 3);
    else
      grid_->addWidget(label, line, 0);
    QWidget* field = nullptr;
    if (part.option.empty()) {
      field = row.number = new QLineEdit;
      row.number->setMaxLength(24);
      row.number->setTextMargins(6, 0, 6, 0);
      if (given != answers.end() && given->second.number)
        row.number->setText(
            guess_text(*given->second.number, part.ask.unit).section(QChar(0x00a0), 0, 0));
      auto* unit = new QLabel(unit_beside(row.number->text(), part.ask.unit, row.counted));
      grid_->addWidget(unit, line, 2);
      connect(row.number, &QLineEdit::textChanged, unit,
              [unit, of = part.ask.unit, counted_here = row.counted](const QString& text) {
                unit->setText(unit_beside(text, of, counted_here));
              });
      connect(row.number, &QLineEdit::textChanged, this, &PartsForm::change);
      connect(row.number, &QLineEdit::returnPressed, this, &PartsForm::entered);
    } else {
      field = row.choice = new PartChoice([this] { Q_EMIT entered(); });
      row.choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
      row.choice->setMinimumContentsLength(8);
      row.choice->setPlaceholderText(tr("choose …"));
      for (const Words& option : options)
        row.choice->addItem(option.text, QString::fromStdString(option.id));
      row.choice->setCurrentIndex(
          given == answers.end()
              ? -1
              : row.choice->findData(QString::fromStdString(given->second.option)));
      connect(row.choice, &QComboBox::currentIndexChanged, this, &PartsForm::change);
    }
    const QString unit_words = unit_label(part.ask.unit, row.counted);
    field->setAccessibleName((row.label + QLatin1Char(' ') + unit_words).trimmed());
    label->setBuddy(field);
    if (below && row.choice)
      grid_->addWidget(field, line++, 0, 1, 4);
    else
      grid_->addWidget(field, line++, 1);
    grid_->addWidget(row.mark, mark_line, 3);  // read behind what it is about
  }
}

PartsForm::Answers PartsForm::answers() const {
  Answers answers;
  for (const Row& row : rows_) {
    PartAnswer answer;
    if (row.number) answer.number = read_guess(row.number->text(), row.part.ask.unit, row.counted);
    if (row.choice) answer.option = row.choice->currentData().toString().toStdString();
    if (answer != PartAnswer{}) answers[row.part.id] = answer;
  }
  return answers;
}

QString PartsForm::problem() const {
  for (const Row& row : rows_) {
    if (!row.number) continue;
    const QString text = row.number->text().trimmed();
    const std::optional<double> number = read_guess(text, row.part.ask.unit, row.counted);
    if (!text.isEmpty() && !number) return unread_guess_text(text, row.part.ask.unit, row.counted);
    if (!number) continue;
    if (const QString problem = guess_problem(*number, row.part.ask.unit); !problem.isEmpty())
      return problem;
  }
  if (answers().size() < rows_.size())
    return each_once() ? tr("Fill in every row, each with another choice.")
                       : tr("Fill in every row.");
  const QString twice = placed_twice();
  return twice.isEmpty() ? QString() : tr("“%1” stands in two rows.").arg(twice);
}

// Whether each option belongs into a row of its own, as in a question of order.
bool PartsForm::each_once() const {
  std::set<std::string> wanted;
  return std::all_of(rows_.begin(), rows_.end(), [&](const Row& row) {
    return row.choice && row.choice->count() == static_cast<int>(rows_.size()) &&
           wanted.insert(row.part.option).second;
  });
}

// The option that stands in two rows though each belongs into one.
QString PartsForm::placed_twice() const {
  if (!each_once()) return {};
  std::set<QString> seen;
  for (const Row& row : rows_)
    if (!seen.insert(row.choice->currentData().toString()).second) return row.choice->currentText();
  return {};
}

void PartsForm::show_marks(const std::optional<std::set<std::string>>& wrong) {
  for (Row& row : rows_) {
    const bool right = wrong && wrong->count(row.part.id) == 0;
    row.mark->setText(!wrong ? QString() : right ? QStringLiteral("✓") : QStringLiteral("✗"));
    row.mark->setAccessibleName(!wrong ? QString() : right ? tr("right") : tr("not right"));
    set_style_property(row.mark, "role", right ? "good" : "strong");
  }
  describe();
}

void PartsForm::set_asked(const QString& asked) {
  asked_ = asked;
  describe();
}

void PartsForm::describe() {
  for (const Row& row : rows_) {
    QStringList said{row.mark->accessibleName(), &row == &rows_.front() ? asked_ : QString()};
    said.removeAll(QString());
    QWidget* field = row.number ? static_cast<QWidget*>(row.number) : row.choice;
    parallelarium::describe(*field, said.join(QStringLiteral(". ")));
  }
}

void PartsForm::set_done(bool done) {
  for (Row& row : rows_) {
    if (row.number) row.number->setReadOnly(done);
    if (row.choice) row.choice->setEnabled(!done);
  }
}

QWidget* PartsForm::first_field() const {
  if (rows_.empty()) return nullptr;
  return rows_[0].number ? static_cast<QWidget*>(rows_[0].number) : rows_[0].choice;
}

void PartsForm::change() {
  show_marks(std::nullopt);
  Q_EMIT edited();
}

}  // namespace parallelarium
