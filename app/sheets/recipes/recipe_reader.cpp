// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/recipes/recipe_reader.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/settings/controls.h"
#include "app/settings/setup_fields.h"
#include "app/sheets/recipes/recipe_sheet.h"
#include "app/state/plan/plan_wish.h"
#include "app/views/shared/words/setup_words.h"
#include "engine/wire/frameworks/differences.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {

RecipeReader::RecipeReader(Setup base, const QString& use, QWidget* parent)
    : PasteSheet({tr("Read a launch line"), tr("Text of the launch line or configuration"),
                  tr("Paste here what starts your training: a launch line of Megatron-LM, or the "
                     "configuration of another framework."),
                  use},
                 parent),
      base_(std::move(base)) {
  framework_ = make_framework_box(this);
  framework_->insertItem(0, tr("the one whose settings it names"), QString());
  framework_->setCurrentIndex(0);
  head()->addWidget(make_label(tr("Framework"), framework_));
  head()->addWidget(framework_);
  connect(framework_, &QComboBox::currentIndexChanged, this, &RecipeReader::read_again);
  auto* line = new QHBoxLayout;
  as_like_ = new QPushButton(this);
  as_like_->hide();
  line->addWidget(as_like_);
  line->addStretch();
  under_text()->addLayout(line);
  connect(as_like_, &QPushButton::clicked, this, &RecipeReader::turn_like);
}

PasteSheet::Reading RecipeReader::read(const std::string& text) {
  RecipeReader::nothing_read();
  std::string name = framework_->currentData().toString().toStdString();
  if (name.empty()) name = framework_of_text(text);
  if (name.empty())
    return {tr("The text names no setting of a framework that is known here."), {}, false, true};
  Result<FrameworkSetup> result = read_from_framework(name, text, base_);
  if (!result) return {sentence(result.error()), {}, false, true};
  const QString title = QString::fromStdString(framework_title(name));
  std::vector<Message> notes = result->not_understood;
  if (result->by_default) notes.insert(notes.begin(), *result->by_default);
  head_ = title + QStringLiteral(": ");
  notes_ = sentences_text(notes);
  read_ = std::move(result->setup);
  said_ = read_->model;
  like_ = like_of(*read_);
  if (like_ && is_of_base() && like_->model.name == base_.model.name)
    read_ = on_model(*read_, like_->model);
  show_like();
  return reading();
}

void RecipeReader::nothing_read() {
  read_.reset();
  said_.reset();
  like_.reset();
  head_.clear();
  notes_.clear();
  show_like();
}

void RecipeReader::take(Setup setup) {
  // What is said of the text's model is not said of a third one.
  if (like_ && setup.model != like_->model && setup.model != *said_) like_.reset();
  read_ = std::move(setup);
  show_like();
}

PasteSheet::Reading RecipeReader::reading() const {
  const Setup& setup = *read_;
  QString text = head_ + tr("%1; GPUs: %2; %3; global batch: %4; tokens of a sequence: %5.")
                             .arg(sentence(title_of(setup.model)), count_text(setup.mesh.ranks()),
                                  axes_text(setup), count_text(setup.global_batch()),
                                  count_text(setup.model.sequence));
  if (like_ && setup.model == like_->model)
    text += tr(" The layout is the text's, the shape %1's. The text itself says: %2.")
                .arg(sentence(title_of(like_->model)), like_->own);
  else if (like_)
    text += tr(" Like %1, but: %2.").arg(sentence(title_of(like_->model)), like_->own);
  return {text + consequence(setup), notes_, true, false};
}

// A launch line that leaves out a flag is easily of another model than the one that was meant. The
// base's own stands before others.
std::optional<RecipeReader::Like> RecipeReader::like_of(const Setup& setup) const {
  const Model& model = setup.model;
  if (find_model(model.name)) return std::nullopt;
  std::vector<Model> known;
  if (is_of_base()) known.push_back(base_.model);
  for (const std::string& name : model_names())
    if (const Result<Model> found = find_model(name)) known.push_back(*found);
  std::optional<Like> like;
  qsizetype fewest = 0;
  for (Model& other : known) {
    if (other.layers != model.layers || other.hidden != model.hidden ||
        other.heads != model.heads || other.experts.count != model.experts.count)
      continue;
    other.sequence = model.sequence;
    QStringList own;
    for (const auto& difference :
         frameworks::differences(on_model(setup, other), setup, frameworks::CompareModels::kByKey))
      if (difference.key.starts_with("model.")) own << sentence(words_of_difference(difference));
    if (own.isEmpty() || (like && own.size() >= fewest)) continue;
    fewest = own.size();
    like = {other, own.join(QStringLiteral(", "))};
    if (is_of_base() && other.name == base_.model.name) break;
  }
  return like;
}

// Between the model that the text says and the known one that it is like.
void RecipeReader::turn_like() {
  if (!read_ || !like_) return;
  const bool is_like = read_->model == like_->model;
  take(on_model(*read_, is_like ? *said_ : like_->model));
  show_reading(reading());
}

void RecipeReader::show_like() {
  as_like_->setVisible(read_ && like_);
  if (!read_ || !like_) return;
  as_like_->setText(read_->model == like_->model
                        ? tr("Take the model as the text says it")
                        : tr("&Take it as %1").arg(sentence(title_of(like_->model))));
}

}  // namespace parallelarium
