// SPDX-License-Identifier: GPL-3.0-or-later
// What is said below the picture of embedding, head and loss; for the files of this folder only.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "app/views/layer/vocabulary/vocabulary_picture.h"

namespace parallelarium {

// A bar of bytes that a rank sends for the loss. `real`: it is in the Program; else what another
// way would send.
struct LossRow {
  QString name;
  std::int64_t bytes = 0;
  bool real = false;
  QString text;
};
// Empty where the loss sends nothing, or a lesson asks for it.
std::vector<LossRow> loss_rows(const LayerPicture& picture);
// Sentences, each a line of its own or more.
QStringList vocabulary_notes(const LayerPicture& picture);
bool is_cut_by_words(const LayerPicture& picture);

}  // namespace parallelarium
