// SPDX-License-Identifier: GPL-3.0-or-later
// Embedding, head and loss in the Layer view: the pieces are drawn as those of a layer are; here
// stands what is theirs alone, which comes from engine/plan/layer/layer_vocabulary.h.
#pragma once

#include <string>
#include <vector>

#include "app/views/layer/picture/layer_brush.h"

namespace parallelarium {

// "Embedding", "Head and loss"; of a layer "Layer 3".
QString layer_place_name(const LayerChoice& choice);
// What a piece of the loss works with: one number of each token.
bool is_number_of_tokens(const LayerStep& step, const LayerTensor& tensor);

// "max", "sum", "target"; what is none of them as it is.
QString loss_number_text(const std::string& number);

// Below the lanes: what the loss sends beside what all logits would, and notes.
double vocabulary_height(const LayerPicture& picture, double width, const Theme& theme);
void paint_vocabulary(const LayerBrush& brush);
// The words of a rank, below its number.
void paint_words_of_rank(const LayerBrush& brush, int rank, double left, double middle);

// The same for screen readers.
QString vocabulary_sentence(const LayerPicture& picture);
// What else is known of a step; empty in a layer.
std::vector<FactLine> vocabulary_facts(const LayerPicture& picture, int step);

}  // namespace parallelarium
