// SPDX-License-Identifier: GPL-3.0-or-later
#include <QGridLayout>
#include <QLabel>

#include "app/views/shared/words/plan_words.h"
#include "app/views/sweep/sweep_state.h"
#include "app/views/sweep/sweep_words.h"

namespace parallelarium {
namespace {

constexpr int kFieldHigh = 28;

}  // namespace

void SweepView::build_controls() {
  State& s = *state_;
  s.controls = new QWidget(&canvas());
  const auto combo = [&](const QString& name) {
    auto* box = new QComboBox(s.controls);
    box->setAccessibleName(name);
    box->setFixedHeight(kFieldHigh);
    box->setMinimumContentsLength(12);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    return box;
  };
  const auto field = [&](const QString& name) {
    auto* line = new QLineEdit(s.controls);
    line->setAccessibleName(name);
    line->setFixedHeight(kFieldHigh);
    line->setTextMargins(6, 0, 6, 0);
    line->setToolTip(tr("Values such as 1,2,4, or a range: 1..4 counts, 1..64*2 doubles"));
    return line;
  };
  s.first = combo(tr("The setting that varies"));
  s.first_values = field(tr("Its values"));
  s.second = combo(tr("A second setting, one line for each value"));
  s.second_values = field(tr("Values of the second setting"));
  s.figure = combo(tr("The figure that is shown"));
  for (const auto& [name, text] : sweep_figures()) s.figure->addItem(text, name);
  s.keeps = new QCheckBox(s.controls);
  s.keeps->setToolTip(
      tr("DP and micro-batches fill the GPUs and the batch of the base at every point, unless they "
         "vary themselves"));
  s.go = new QPushButton(s.controls);
  s.use = new QPushButton(tr("Use it"), s.controls);
  s.use->setToolTip(tr("Makes the selected point the setup"));
  s.whose = make_whose_button(PlanSearch::of(s.session), s.controls);
  for (QPushButton* button : {s.go, s.use, s.whose}) {
    button->setAutoDefault(true);
    button->setFixedHeight(kFieldHigh + 2);
  }
  place_controls(*new QGridLayout(s.controls));
  hear_controls();
}

void SweepView::place_controls(QGridLayout& grid) {
  State& s = *state_;
  grid.setContentsMargins(16, 8, 16, 4);
  grid.setHorizontalSpacing(8);
  grid.setVerticalSpacing(6);
  const auto label = [&](const QString& text) {
    auto* made = new QLabel(text, s.controls);
    made->setProperty("role", "muted");
    return made;
  };
  int column = 0;
  const auto put = [&](QWidget* widget, int stretch) {
    grid.addWidget(widget, 0, column);
    grid.setColumnStretch(column++, stretch);
  };
  put(label(tr("Vary")), 0);
  put(s.first, 2);
  put(s.first_values, 2);
  put(label(tr("and")), 0);
  put(s.second, 2);
  put(s.second_values, 2);
  grid.addWidget(label(tr("Show")), 1, 0);
  grid.addWidget(s.figure, 1, 1);
  grid.addWidget(s.whose, 1, 2);
  grid.addWidget(s.keeps, 2, 1, 1, 5);
  grid.addWidget(s.go, 1, 4);
  grid.addWidget(s.use, 1, 5);
}

void SweepView::hear_controls() {
  State& s = *state_;
  for (QComboBox* box : {s.first, s.second, s.figure})
    connect(box, &QComboBox::activated, this, [this, box] {
      State& s = *state_;
      if (box != s.figure)
        (box == s.first ? s.first_values : s.second_values)
            ->setText(box->currentData(Qt::UserRole + 1).toString());
      read_wish();
    });
  for (QLineEdit* line : {s.first_values, s.second_values}) {
    connect(line, &QLineEdit::textChanged, this, &SweepView::read_wish);
    connect(line, &QLineEdit::returnPressed, s.go, &QPushButton::click);
  }
  connect(s.keeps, &QCheckBox::toggled, this, &SweepView::read_wish);
  connect(s.go, &QPushButton::clicked, this, [this] {
    if (state_->sweep->sweeping())
      state_->sweep->cancel();
    else
      state_->sweep->start();
  });
  connect(s.use, &QPushButton::clicked, s.sweep, &SettingSweep::use);
}

// What can vary depends on what is set: experts need a model that has some.
void SweepView::fill_settings() {
  State& s = *state_;
  s.filling = true;
  SweepWish wish = s.sweep->wish();
  s.first->clear();
  s.second->clear();
  s.second->addItem(tr("nothing else"));
  const Setup base = s.sweep->base();
  for (const Sweepable& one : sweepable_settings(base, s.session.resolved(base)))
    for (QComboBox* box : {s.first, s.second}) {
      box->addItem(one.label, one.option);
      box->setItemData(box->count() - 1, one.values, Qt::UserRole + 1);
    }
  s.first->setCurrentIndex(std::max(0, s.first->findData(wish.first)));
  if (!s.sweep->answer() && wish.first_values == s.proposed) {
    wish.first_values = s.proposed = s.first->currentData(Qt::UserRole + 1).toString();
    s.sweep->set_wish(wish);
  }
  s.second->setCurrentIndex(wish.second.isEmpty() ? 0
                                                  : std::max(0, s.second->findData(wish.second)));
  s.figure->setCurrentIndex(std::max(0, s.figure->findData(wish.figure)));
  s.keeps->setChecked(wish.keeps_sizes);
  if (s.first_values->text() != wish.first_values) s.first_values->setText(wish.first_values);
  if (s.second_values->text() != wish.second_values) s.second_values->setText(wish.second_values);
  s.filling = false;
}

void SweepView::read_wish() {
  State& s = *state_;
  if (s.filling) return;
  SweepWish wish;
  wish.first = s.first->currentData().toString();
  wish.first_values = s.first_values->text();
  wish.second = s.second->currentData().toString();
  if (!wish.second.isEmpty()) wish.second_values = s.second_values->text();
  wish.figure = s.figure->currentData().toString();
  wish.keeps_sizes = s.keeps->isChecked();
  s.sweep->set_wish(wish);
}

// What varies is not kept.
void SweepView::show_kept() {
  State& s = *state_;
  SweepWish keeping = s.sweep->wish();
  keeping.keeps_sizes = true;
  const auto kept = kept_sizes(keeping, s.sweep->base());
  const bool all = kept.size() != 1, batch = !all && kept.front().first == "global-batch";
  s.keeps->setText(all     ? tr("Keep GPUs and batch")
                   : batch ? tr("Keep the batch")
                           : tr("Keep the GPUs"));
  s.keeps->setEnabled(!kept.empty());
}

}  // namespace parallelarium
