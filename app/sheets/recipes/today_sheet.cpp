// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/recipes/today_sheet.h"

#include <QComboBox>
#include <QGridLayout>
#include <QKeyEvent>
#include <QVBoxLayout>

#include "app/look/figures.h"
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

TodaySheet::TodaySheet(PlanWish searched, QWidget* parent)
    : RecipeReader(plainest_of(searched), tr("&Compare with it"), parent),
      searched_(std::move(searched)) {
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

QString TodaySheet::consequence(const Setup& setup) const {
  const PlanWish then = sized_like(searched_, setup);
  QStringList changes;
  if (then.model != searched_.model)
    changes << tr("of %1 (now: %2)")
                   .arg(sentence(title_of(setup.model)), sentence(title_of(base().model)));
  if (then.gpus != searched_.gpus)
    changes << tr("for %1 GPUs (now: %2)").arg(count_text(setup.mesh.ranks()), searched_.gpus);
  if (then.global_batch != searched_.global_batch)
    changes << tr("with a global batch of %1 (now: %2)")
                   .arg(count_text(then.global_batch), count_text(searched_.global_batch));
  if (setup.model.sequence != base().model.sequence)
    changes << tr("with %1 tokens a sequence (now: %2)")
                   .arg(count_text(setup.model.sequence), count_text(base().model.sequence));
  return changes.isEmpty() ? QString()
                           : tr(" The search then is %1.").arg(changes.join(QStringLiteral(", ")));
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
