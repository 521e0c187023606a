// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/words_sheet.h"

#include <QAccessible>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "app/look/scroll_hint.h"
#include "app/look/sentence.h"
#include "app/settings/controls.h"
#include "app/views/views.h"
#include "engine/lesson/lesson.h"
#include "engine/wire/view_ids.h"

namespace parallelarium {

namespace {

constexpr int kWordWidth = 176;

QLabel* text_label(const QString& text, const char* role, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  if (*role) label->setProperty("role", role);
  return label;
}

QLabel* word_label(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setTextFormat(Qt::PlainText);
  label->setObjectName(QStringLiteral("Strong"));
  label->setWordWrap(true);
  label->setFixedWidth(kWordWidth);
  return label;
}

QGridLayout* grid_of(QWidget* row) {
  auto* grid = new QGridLayout(row);
  grid->setContentsMargins(0, 0, 0, 4);
  grid->setColumnStretch(1, 1);
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(2);
  return grid;
}

// The title of each lesson of the course by its id; none where there is no course.
std::map<QString, QString> lesson_titles() {
  std::map<QString, QString> titles;
  const Result<Course> course = read_course(lessons_folder());
  if (!course) return titles;
  const QString language = QLocale().name().section(QLatin1Char('_'), 0, 0);
  for (const CourseEntry& entry : course->lessons) {
    auto title = entry.titles.find(language.toStdString());
    if (title == entry.titles.end()) title = entry.titles.find("en");
    if (title != entry.titles.end())
      titles[QString::fromStdString(entry.id)] = QString::fromStdString(title->second);
  }
  return titles;
}

}  // namespace

WordsSheet::WordsSheet(bool formulas_hidden, QWidget* parent)
    : Sheet(parent), formulas_hidden_(formulas_hidden) {
  setWindowTitle(tr("Words"));
  resize(680, 488);
  auto* column = new QVBoxLayout(this);
  search_ = new QLineEdit(this);
  search_->setPlaceholderText(tr("Search words and meanings"));
  search_->setAccessibleName(tr("Search"));
  search_->setClearButtonEnabled(true);
  column->addWidget(search_);
  auto* area = new QScrollArea(this);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));
  auto* list = new QVBoxLayout(content);
  list->setSpacing(6);
  found_ = text_label({}, "muted", content);
  found_->hide();
  list->addWidget(found_);
  const Result<const Glossary*> all = glossary();
  if (all)
    fill(**all, list);
  else
    list->addWidget(text_label(sentence(all.error()), "warning", content));
  list->addStretch(1);
  area->setWidget(content);
  add_scroll_hint(*area);
  column->addWidget(area, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(search_, &QLineEdit::textChanged, this, &WordsSheet::search);
  search_->setFocus();
}

void WordsSheet::fill(const Glossary& glossary, QVBoxLayout* column) {
  const std::map<QString, QString> titles = lesson_titles();
  for (const Term& word : glossary.words) {
    const auto title = titles.find(word.lesson);
    QWidget* row = make_word(word, title == titles.end() ? QString() : title->second);
    column->addWidget(row);
    words_.push_back(
        {row, QStringList{word.word, word.meaning, word.in_text.join(QLatin1Char('\n'))}.join(
                  QLatin1Char('\n'))});
  }
  alike_head_ = new QLabel(tr("Same word, different meaning"));
  make_caps(alike_head_);
  column->addWidget(alike_head_);
  for (const AlikeTerm& alike : glossary.alike) {
    QWidget* row = make_alike(alike);
    column->addWidget(row);
    QString text = alike.word;
    for (const AlikeTerm::Meaning& meaning : alike.meanings)
      text += QLatin1Char('\n') + meaning.in + QLatin1Char('\n') + meaning.meaning;
    alike_.push_back({row, text});
  }
}

QLabel* WordsSheet::formula_label(const QString& formula, QWidget* row) const {
  return formulas_hidden_ ? text_label(tr("Hidden until you answer."), "muted", row)
                          : text_label(formula, "", row);
}

QWidget* WordsSheet::make_word(const Term& word, const QString& lesson) {
  auto* row = new QWidget;
  row->setObjectName(QStringLiteral("Word:") + word.id);
  QGridLayout* grid = grid_of(row);
  grid->addWidget(word_label(word.word, row), 0, 0, Qt::AlignTop);
  int line = 0;
  grid->addWidget(text_label(word.meaning, "", row), line++, 1);
  if (!word.formula.isEmpty()) grid->addWidget(formula_label(word.formula, row), line++, 1);
  if (!word.source.isEmpty()) grid->addWidget(text_label(word.source, "muted", row), line++, 1);
  const auto add_link = [&](const QString& text, const QString& spoken, auto wanted,
                            const QString& id) {
    auto* link = new QToolButton(row);
    link->setObjectName(QStringLiteral("Link"));
    link->setText(text);
    link->setAccessibleName(spoken);
    connect(link, &QToolButton::clicked, this, [this, wanted, id] {
      Q_EMIT(this->*wanted)(id);
      accept();
    });
    grid->addWidget(link, line++, 1, Qt::AlignLeft);
  };
  if (!lesson.isEmpty())
    add_link(tr("Lesson: %1").arg(lesson), tr("Open the lesson on %1: %2").arg(word.word, lesson),
             &WordsSheet::lesson_wanted, word.lesson);
  if (const ViewInfo* view = find_view(QString::fromStdString(view_of(word.view.toStdString()))))
    add_link(tr("In a picture: %1").arg(view->title()),
             tr("Show %1 in a picture: %2").arg(word.word, view->title()), &WordsSheet::view_wanted,
             word.view);
  return row;
}

QWidget* WordsSheet::make_alike(const AlikeTerm& alike) {
  auto* row = new QWidget;
  QGridLayout* grid = grid_of(row);
  grid->addWidget(word_label(alike.word, row), 0, 0, Qt::AlignTop);
  int line = 0;
  for (const AlikeTerm::Meaning& meaning : alike.meanings) {
    auto* in = new QLabel(meaning.in, row);
    in->setObjectName(QStringLiteral("Strong"));
    in->setWordWrap(true);
    grid->addWidget(in, line++, 1);
    grid->addWidget(text_label(meaning.meaning, "", row), line++, 1);
    if (!meaning.formula.isEmpty()) grid->addWidget(formula_label(meaning.formula, row), line++, 1);
    if (!meaning.source.isEmpty())
      grid->addWidget(text_label(meaning.source, "muted", row), line++, 1);
  }
  return row;
}

// Rows that have every part of the text, in any case.
void WordsSheet::search(const QString& text) {
  const QStringList parts = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  const auto show = [&](const std::vector<Entry>& entries) {
    int shown = 0;
    for (const Entry& entry : entries) {
      const bool fits = std::all_of(parts.begin(), parts.end(), [&](const QString& part) {
        return entry.text.contains(part, Qt::CaseInsensitive);
      });
      entry.row->setVisible(fits);
      shown += fits;
    }
    return shown;
  };
  const int words = show(words_), alike = show(alike_);
  if (alike_head_) alike_head_->setVisible(alike > 0);
  found_->setText(words + alike == 0
                      ? tr("No word and no meaning has “%1” in it.").arg(text.trimmed())
                      : tr("Found: %1").arg(words + alike));
  found_->setVisible(!parts.isEmpty());
  QAccessibleEvent event(found_, QAccessible::NameChanged);
  QAccessible::updateAccessibility(&event);
}

}  // namespace parallelarium
