// SPDX-License-Identifier: GPL-3.0-or-later
// What an engineer brings to the search: a model's config.json, the launch line of today, and what
// the cluster's own tools print.
#include <QFile>
#include <QFileDialog>
#include <QPushButton>
#include <QVBoxLayout>
#include <nlohmann/json.hpp>

#include "app/look/sentence.h"
#include "app/settings/controls.h"
#include "app/sheets/recipes/cluster_sheet.h"
#include "app/sheets/recipes/today_sheet.h"
#include "app/views/search/column/search_column.h"
#include "engine/plan/model/hugging_face/hugging_face.h"
#include "engine/plan/model/model.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {

void SearchColumn::add_today() {
  add_head(tr("Today"));
  today_note_ = add_note();
  today_ = new QPushButton(content_);
  today_->setToolTip(
      tr("Paste the launch line of what you train today, or type its degrees: the search says how "
         "far it is from the best, and what one change would do. Its steps, learning rate, clip "
         "and seed stay out of the plans"));
  column_->addWidget(today_);
  forget_ = new QPushButton(tr("Forget it"), content_);
  forget_->setToolTip(
      tr("The plans that were found stay. Where none were, model, GPUs, batch and axes are again "
         "what they were before it, except for what you set since"));
  column_->addWidget(forget_);
  connect(today_, &QPushButton::clicked, this, [this] { read_today({}); });
  connect(forget_, &QPushButton::clicked, &search_, &PlanSearch::forget_today);
}

bool SearchColumn::take_file(const QString& path) {
  QFile file(path);
  constexpr qint64 kMost = 1 << 20;
  if (!file.open(QIODevice::ReadOnly) || file.size() > kMost) return false;
  const std::string text = file.readAll().toStdString();
  if (is_hugging_face(nlohmann::json::parse(text, nullptr, false))) {
    read_model(path);
    return true;
  }
  if (framework_of_text(text).empty()) return false;
  read_today(path);
  return true;
}

void SearchColumn::choose_model_file() {
  const QString path = QFileDialog::getOpenFileName(this, tr("The model's config.json"), {},
                                                    tr("Configurations (*.json);;All files (*)"));
  if (!path.isEmpty()) read_model(path);
}

void SearchColumn::read_model(const QString& path) {
  QFile file(path);
  std::vector<Message> notes;
  const Result<Model> model =
      file.open(QIODevice::ReadOnly)
          ? import_hugging_face(nlohmann::json::parse(file.readAll().toStdString(), nullptr, false),
                                notes)
          : Result<Model>(message("document-open", "{} cannot be opened: {}.", path.toStdString(),
                                  file.errorString().toStdString()));
  if (model)
    change([&](PlanWish& wish) {
      wish.model = wish_of(*model);
      wish.sequence = 0;
    });
  QStringList said;
  if (!model) said << sentence(model.error());
  for (const Message& note : notes) said << sentence(note);
  set_style_property(model_note_, "role", model ? "muted" : "warning");
  model_note_->setText(said.join(QLatin1Char('\n')));
  model_note_->setVisible(!said.isEmpty());
}

void SearchColumn::read_cluster_text() {
  Result<Machine> base = search_.machine();
  if (base && !base->changed_from.empty()) {
    const Result<Setup> asked = base_of(search_.wish());
    if (asked) base = find_machine(asked->machine.name());
  }
  if (!base) return;
  auto* sheet = new ClusterSheet(std::move(*base), window());
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  connect(sheet, &QDialog::accepted, this, [this, sheet] {
    change([&](PlanWish& wish) {
      wish.machine = wish_of(*sheet->machine());
      wish.memory_bytes = 0;
    });
  });
  sheet->open();
}

void SearchColumn::read_today(const QString& path) {
  const PlanWish& wish = search_.wish();
  const std::optional<Setup> today = wish.today;
  PlanWish plain = wish;
  plain.today.reset();
  auto* reader = new TodaySheet(std::move(plain), window());
  reader->setAttribute(Qt::WA_DeleteOnClose);
  if (!path.isEmpty())
    reader->open_file(path);
  else if (today)
    reader->show_again(wish.today_text, *today);
  connect(reader, &QDialog::accepted, this, [this, reader] {
    search_.compare_with(*reader->setup(), reader->text());
    refresh();
  });
  reader->open();
}

}  // namespace parallelarium
