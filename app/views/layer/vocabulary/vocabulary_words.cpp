// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/views/layer/vocabulary/vocabulary_notes.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

struct VocabularyTexts {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

QString hidden_or(bool hidden, std::int64_t bytes) { return hidden ? kHidden : bytes_text(bytes); }

QString meaning_of(const std::string& number) {
  if (number == "max") return VocabularyTexts::tr("the largest logit of each token");
  if (number == "sum") return VocabularyTexts::tr("the sum of exp(logit − max) of each token");
  return VocabularyTexts::tr("the logit of each token's right word");
}

QString note_of_tables(const LayerPicture& picture) {
  const LayerVocabulary& of = picture.layer->vocabulary;
  if (!of.tied) return VocabularyTexts::tr("Not tied: embedding and head have a table each.");
  if (!of.two_tables)
    return VocabularyTexts::tr(
        "Tied: the head's weight is the embedding's table, and both add to its gradient.");
  return VocabularyTexts::tr(
             "Tied, on two stages: each has a copy of the table, and once a step both add up "
             "their gradients, %1 sent by each rank.")
      .arg(hidden_or(picture.hides_traffic, of.tied_sent_bytes));
}

QString note_of_cut(const LayerPicture& picture) {
  const LayerVocabulary& of = picture.layer->vocabulary;
  const bool backward = picture.layer->choice.backward;
  if (picture.layer->choice.place == LayerPlace::kEmbedding)
    return backward ? VocabularyTexts::tr(
                          "A rank adds gradients of all tokens to the rows of its own words: "
                          "nothing to add up.")
                    : VocabularyTexts::tr(
                          "A rank looks up the words that it has and leaves zeros for all others: "
                          "a partial sum, of which one part is not zero.");
  if (backward)
    return VocabularyTexts::tr(
        "The loss sends nothing here: a rank has three numbers of each token from the forward, and "
        "turns its own logits into their gradients.");
  return VocabularyTexts::tr("A rank holds %1 of logits, of its own words; of all words, %2.")
      .arg(hidden_or(picture.hides_memory, of.logits_bytes),
           hidden_or(picture.hides_memory, of.whole_logits_bytes));
}

}  // namespace

QString layer_place_name(const LayerChoice& choice) {
  switch (choice.place) {
    case LayerPlace::kEmbedding:
      return VocabularyTexts::tr("Embedding");
    case LayerPlace::kHead:
      return VocabularyTexts::tr("Head and loss");
    case LayerPlace::kLayer:
      break;
  }
  return VocabularyTexts::tr("Layer %1").arg(choice.layer);
}

QString loss_number_text(const std::string& number) {
  if (number == "max") return VocabularyTexts::tr("max", "number of each token");
  if (number == "sum") return VocabularyTexts::tr("sum", "number of each token");
  if (number == "target") return VocabularyTexts::tr("target", "number of each token");
  return QString::fromStdString(number);
}

bool is_number_of_tokens(const LayerStep& step, const LayerTensor& tensor) {
  const bool loss =
      step.piece == Piece::kLossMax || step.piece == Piece::kLossSum || step.piece == Piece::kLoss;
  return loss && tensor.role == TensorRole::kActivation && tensor.columns == 1 && tensor.rows > 1;
}

bool is_cut_by_words(const LayerPicture& picture) {
  const LayerVocabulary& of = picture.layer->vocabulary;
  return of.held_words < of.words;
}

QStringList vocabulary_notes(const LayerPicture& picture) {
  QStringList notes;
  if (is_cut_by_words(picture)) notes << note_of_cut(picture);
  notes << note_of_tables(picture);
  return notes;
}

std::vector<LossRow> loss_rows(const LayerPicture& picture) {
  const LayerVocabulary& of = picture.layer->vocabulary;
  if (of.loss_collectives == 0 || picture.hides_traffic) return {};
  return {{VocabularyTexts::tr("three numbers"), of.loss_sent_bytes, true,
           VocabularyTexts::tr("%1: max, sum and target of each token")
               .arg(bytes_text(of.loss_sent_bytes))},
          {VocabularyTexts::tr("all logits"), of.gathered_sent_bytes, false,
           VocabularyTexts::tr("%1, if ranks gathered the logits of all %2 words")
               .arg(bytes_text(of.gathered_sent_bytes), count_text(of.words))}};
}

QString vocabulary_sentence(const LayerPicture& picture) {
  if (picture.layer->choice.place == LayerPlace::kLayer) return {};
  QStringList lines;
  for (const LossRow& row : loss_rows(picture))
    lines << VocabularyTexts::tr("What the loss sends, %1: %2.").arg(row.name, row.text);
  return (lines + vocabulary_notes(picture)).join(QLatin1Char(' '));
}

std::vector<FactLine> vocabulary_facts(const LayerPicture& picture, int step) {
  const LayerStep& of = picture.layer->steps[std::size_t(step)];
  if (of.number.empty()) return {};
  const LayerVocabulary& vocabulary = picture.layer->vocabulary;
  return {{loss_number_text(of.number), meaning_of(of.number)},
          {VocabularyTexts::tr("array"),
           VocabularyTexts::tr("%1 numbers, %2")
               .arg(count_text(vocabulary.tokens),
                    hidden_or(picture.hides_traffic, vocabulary.loss_bytes))},
          {VocabularyTexts::tr("all logits instead"),
           VocabularyTexts::tr("%1 sent by a rank")
               .arg(hidden_or(picture.hides_traffic, vocabulary.gathered_sent_bytes))}};
}

}  // namespace parallelarium
