// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/recipes/today_sheet.h"

#include <QComboBox>
#include <QGridLayout>
#include <QKeyEvent>
#include <QVBoxLayout>

#include "app/look/sentence.h"
#include "app/settings/controls.h"
#include "app/settings/setup_fields.h"

namespace parallelarium {
namespace {

constexpr const char* kRecompute = "recompute";
constexpr const char* kFields[] = {"tp", "pp", "cp", "ep", "dp", "zero", "micro-batch", kRecompute};

// DP makes the rest of the GPUs out of these.
bool leaves_rest_to_dp(const std::string& option) {
  return option == "tp" || option == "pp" || option == "cp";
}

}  // namespace

TodaySheet::TodaySheet(Setup base, QWidget* parent)
    : RecipeReader(std::move(base), tr("&Compare with it"), parent) {
  setWindowTitle(tr("What is trained today"));
  auto* head = new QLabel(tr("Or type what you know. The rest comes from the text above, "
                             "or else from the search."),
                          this);
  head->setProperty("role", "muted");
  under_text()->addWidget(head);
  auto* fields = new QGridLayout;
  int column = 0;
  for (const std::string option : kFields) {
    QWidget* field = make_field(option);
    fields->addWidget(make_label(field_title(option), field), 0, column);
    fields->addWidget(field, 1, column++);
  }
  under_text()->addLayout(fields);
  show_fields();
}

QWidget* TodaySheet::make_field(const std::string& option) {
  if (option == kRecompute) {
    recompute_ = new ChoiceBox(this);
    recompute_->setAccessibleName(field_title(option));
    for (const char* value : {"none", "selective", "full"})
      recompute_->addItem(caption_of(setting_of(option), value).text, QLatin1String(value));
    connect(recompute_, &QComboBox::activated, this,
            [this, option](int at) { change(option, recompute_->itemData(at).toString()); });
    return recompute_;
  }
  auto* box = new StepBox(
      field_title(option), [this, option](int way) { return next_valid(shown(), option, way); },
      this);
  connect(box, &StepBox::committed, this,
          [this, option](const QString& text) { change(option, text); });
  numbers_.emplace_back(option, box);
  return box;
}

void TodaySheet::show_again(const QString& text, const Setup& setup) {
  if (!text.isEmpty()) set_text(text);
  if (shown() == setup && !text.isEmpty()) return;
  take(setup);
  show_reading(reading());
  show_fields();
}

QString TodaySheet::consequence(const Model& model) const {
  Model searched = base().model;
  searched.sequence = model.sequence;
  return model == searched ? QString()
                           : tr(" The search then is of %1, too.").arg(sentence(title_of(model)));
}

PasteSheet::Reading TodaySheet::read(const std::string& text) {
  const Reading reading = RecipeReader::read(text);
  show_fields();
  return reading;
}

void TodaySheet::nothing_read() {
  RecipeReader::nothing_read();
  show_fields();
}

// Enter ends the typing of a number, and leaves the sheet open for the next one.
void TodaySheet::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!enter || !qobject_cast<StepBox*>(focusWidget())) RecipeReader::keyPressEvent(event);
}

// The number of GPUs and the batch stay where DP and micro-batches can make them.
void TodaySheet::change(const std::string& option, const QString& value) {
  Setup changed = shown();
  const int gpus = changed.mesh.ranks();
  const std::int64_t batch = changed.global_batch();
  if (const Result<void> set = set_field(changed, option, value.toStdString()); !set) {
    const QString notes = setup() ? reading().notes : QString();
    show_reading({setting_sentence(set.error()), notes, setup().has_value(), true});
    return show_fields();
  }
  const int degrees = changed.mesh.tp * changed.mesh.pp * changed.mesh.cp;
  if (leaves_rest_to_dp(option) && gpus % degrees == 0) changed.mesh.dp = gpus / degrees;
  keep_global_batch(changed, batch);
  take(std::move(changed));
  show_reading(reading());
  show_fields();
}

void TodaySheet::show_fields() {
  for (const auto& [option, box] : numbers_) box->set_text(field_text(shown(), option));
  if (recompute_)
    recompute_->setCurrentIndex(recompute_->findData(field_text(shown(), kRecompute)));
}

}  // namespace parallelarium
