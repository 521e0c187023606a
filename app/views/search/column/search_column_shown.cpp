// SPDX-License-Identifier: GPL-3.0-or-later
// What the column of the search shows of the wish.
#include <QProgressBar>
#include <QPushButton>

#include "app/look/sentence.h"
#include "app/views/search/column/search_column.h"
#include "app/views/search/search_words.h"

namespace parallelarium {

// What is no preset has an entry of its own, the first.
void SearchColumn::show_own(QComboBox* box, QString& own, const QString& wished,
                            const std::function<QString()>& title) {
  constexpr int kOwn = 0;
  if (!own.isEmpty() && box->itemText(kOwn) == own) box->removeItem(kOwn);
  own.clear();
  if (box->findData(wished) < 0) {
    own = title();
    box->insertItem(kOwn, own, wished);
  }
  box->setCurrentIndex(box->findData(wished));
}

// Values that no entry has get one of their own, before "Several …".
void SearchColumn::show_values(const SearchAxis& axis, const QString& values) {
  constexpr int kIsOwn = Qt::UserRole + 1;
  QComboBox* box = axes_[axis.option];
  for (int at = box->count() - 1; at > 0; --at)
    if (box->itemData(at, kIsOwn).toBool()) box->removeItem(at);
  if (!values.isEmpty() && box->findData(values) < 0) {
    QStringList words;
    for (const QString& value : values.split(QLatin1Char(','))) words << axis.word_of(value);
    const int at = box->count() - 2;
    box->insertItem(at, words.join(QStringLiteral(", ")), values);
    box->setItemData(at, true, kIsOwn);
  }
  box->setCurrentIndex(values.isEmpty() ? 0 : box->findData(values));
}

void SearchColumn::refresh() {
  const PlanWish& wish = search_.wish();
  const QLocale locale;
  show_own(model_, own_model_, wish.model, [this] {
    const Result<Model> model = search_.model();
    return model ? sentence(title_of(*model)) : tr("Custom model");
  });
  show_own(machine_, own_machine_, wish.machine, [this] {
    const Result<Machine> machine = search_.machine();
    return machine ? sentence(title_of(*machine)) : tr("Custom cluster");
  });
  const bool today = wish.today.has_value();
  today_note_->setText(today ? today_text(*wish.today) : tr("Nothing to compare with."));
  today_->setText(today ? tr("Change it …") : tr("I train already …"));
  forget_->setVisible(today);
  model_note_->setVisible(!model_note_->text().isEmpty());
  bool is_number = false;
  const qlonglong gpus = wish.gpus.toLongLong(&is_number);
  gpus_->set_text(is_number ? locale.toString(gpus) : wish.gpus);
  batch_->set_text(locale.toString(qlonglong(wish.global_batch)));
  sequence_->set_text(locale.toString(qlonglong(search_.sequence())));
  memory_->set_text(gib_text(search_.limit_bytes()));
  memory_->set_changed(wish.memory_bytes > 0);
  objective_->setCurrentIndex(objective_->findData(wish.objective));
  set_style_property(objective_, "changed", wish.objective != PlanWish().objective);
  framework_->setCurrentIndex(framework_->findData(wish.framework));
  set_style_property(framework_, "changed", !wish.framework.isEmpty());
  batch_note_->setText(batch_text(search_));
  tokens_->set_text(QString(wish.tokens).replace(QLatin1Char('.'), locale.decimalPoint()));
  price_->set_text(locale.toString(wish.price));
  const bool experts = search_.has_experts();
  axes_[QStringLiteral("ep")]->setVisible(experts);
  axes_[QStringLiteral("expert-tensor")]->setEnabled(experts);
  no_experts_->setVisible(!experts);
  const auto axes = int(axes_.size()) - (experts ? 0 : 2);
  free_->setText(tr("%1 of %2 are free").arg(axes - int(wish.fixed.size())).arg(axes));
  set_style_property(memory_note_, "role", "muted");
  memory_note_->setText(with_firm_units(search_.memory_text()));
  for (const SearchAxis& axis : search_axes()) {
    const auto fixed = wish.fixed.find(axis.option);
    show_values(axis, fixed == wish.fixed.end() ? QString() : fixed->second);
    set_style_property(axes_[axis.option], "changed", fixed != wish.fixed.end());
  }
  const bool searching = search_.searching();
  const QString refusal = search_.refusal();
  go_->setText(searching ? tr("Cancel") : tr("Search"));
  go_->setEnabled(refusal.isEmpty());
  go_->setToolTip(!refusal.isEmpty() || searching
                      ? refusal
                      : tr("Enter in a number of this column searches, too"));
  progress_->setVisible(searching);
  progress_->setValue(int(search_.progress() * 1000));
  // The remark beside the plans may be out of sight.
  const QString outdated = search_.is_outdated() ? outdated_plans_text() : QString();
  progress_text_->setText(searching           ? search_.progress_text()
                          : refusal.isEmpty() ? outdated
                                              : refusal);
  progress_text_->setVisible(!progress_text_->text().isEmpty() || searching);
}

}  // namespace parallelarium
