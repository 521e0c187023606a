// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/recipes/recipe_reader.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/settings/controls.h"
#include "app/settings/setup_fields.h"
#include "app/sheets/recipes/recipe_sheet.h"
#include "app/views/shared/setup_words.h"
#include "engine/wire/frameworks/differences.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {
namespace {

// "Like Llama 3 8B, but: Tied on, Biases on." A launch line that leaves out a flag is easily of
// another model than the one that was meant. Empty where it is a known model, or like none.
QString likeness(const Setup& setup) {
  const Model& model = setup.model;
  if (find_model(model.name)) return {};
  QString like;
  QStringList least;
  for (const std::string& name : model_names()) {
    const Result<Model> known = find_model(name);
    if (!known || known->layers != model.layers || known->hidden != model.hidden ||
        known->heads != model.heads)
      continue;
    Setup other = setup;
    other.model = *known;
    other.model.sequence = model.sequence;
    QStringList texts;
    for (const auto& difference :
         frameworks::differences(other, setup, frameworks::CompareModels::kByKey))
      if (difference.key.starts_with("model.")) texts << sentence(words_of_difference(difference));
    if (!like.isEmpty() && texts.size() >= least.size()) continue;
    like = sentence(title_of(*known));
    least = texts;
  }
  if (least.isEmpty()) return {};
  return RecipeReader::tr(" Like %1, but: %2.").arg(like, least.join(QStringLiteral(", ")));
}

}  // namespace

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
}

PasteSheet::Reading RecipeReader::read(const std::string& text) {
  read_.reset();
  std::string name = framework_->currentData().toString().toStdString();
  if (name.empty()) name = framework_of_text(text);
  if (name.empty())
    return {tr("The text names no setting of a framework that is known here."), {}, false, true};
  Result<FrameworkSetup> result = read_from_framework(name, text, base_);
  if (!result) return {sentence(result.error()), {}, false, true};
  QString title;
  for (const FrameworkInfo& info : framework_infos())
    if (info.name == name) title = QString::fromStdString(info.title);
  std::vector<Message> notes = result->not_understood;
  if (result->by_default) notes.insert(notes.begin(), *result->by_default);
  read_ = std::move(result->setup);
  return {title + QStringLiteral(": ") + setup_text(*read_), sentences_text(notes), true, false};
}

QString RecipeReader::setup_text(const Setup& setup) {
  return tr("%1; GPUs: %2; %3; global batch: %4; tokens of a sequence: %5.")
             .arg(sentence(title_of(setup.model)), count_text(setup.mesh.ranks()), axes_text(setup),
                  count_text(setup.global_batch()), count_text(setup.model.sequence)) +
         likeness(setup);
}

}  // namespace parallelarium
