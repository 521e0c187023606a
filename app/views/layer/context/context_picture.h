// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of context parallelism in a layer: the causal square of scores by rank and ring step,
// keys and values on their way; by heads (Ulysses) the turn from parts of the text to heads.
// What is whose comes from engine/plan/layer/context/layer_context.h.
#pragma once

#include "app/views/layer/picture/layer_brush.h"
#include "app/views/shared/paint/legend_words.h"

namespace parallelarium {

// Beside blocks so large stand the numbers of their ranks.
inline constexpr double kNumberedCell = 16;

// Of a picture that shows_context().
LayerLayout context_layout(const LayerPicture& picture, QSizeF size, const Theme& theme);
void paint_context(const LayerBrush& brush);
void paint_context_strip(const LayerBrush& brush);     // not by heads
void paint_blocks_of_scores(const LayerBrush& brush);  // not by heads
void paint_turn_of_heads(const LayerBrush& brush);     // by heads
// `picture` must outlive what it returns.
std::vector<LegendWord> context_legend(const LayerPicture& picture, const Theme& theme);
// `more` only where it has room beside the head.
void put_context_head(const LayerBrush& brush, const QRectF& line, const QString& caps,
                      const QString& more = {});
bool fits_context_head(const Theme& theme, double width, const QString& caps, const QString& more);
// What is said below the ranks of the strip, in lines of at most `width`.
QStringList context_strip_lines(const LayerPicture& picture, const LayerLayout& layout,
                                const Theme& theme);

// The rank, as LayerSteps::ranks, that has this place along CP, beside TP rank 0 of the selected
// rank's replica.
int context_rank(const LayerPicture& picture, int cp);
// The round that `rank` (as LayerSteps::ranks) is in at the playhead, or was in last.
int context_round_now(const LayerPicture& picture, int rank);
// "ring, zigzag", "all-gather, contiguous", "Ulysses"; empty: no context parallelism.
QString context_method_text(const LayerContext& context, ContextSplit split);
// "tokens 0 to 15, 112 to 127" of a CP rank.
QString context_tokens_text(const LayerContext& context, int cp);
// "K/V head 0 · copy" where other ranks have it too, then shorter ones; empty: there are none.
QStringList key_heads_texts(const std::vector<ChunkRange>& heads, bool copy);
// A figure of blocks; "?" where a lesson asks for it.
QString context_blocks_text(const LayerPicture& picture, double blocks);
// "Work of the ranks 1 : 3 : 5 : 7" and, after a run, how long their attention took.
QStringList context_ratio_lines(const LayerPicture& picture);
// What an exchange of a ring carries: "K, V for ring step 2"; empty of other steps.
QString context_move_text(const LayerPicture& picture, int step);
// Who computes how many blocks in which step, for screen readers.
QString context_sentence(const LayerPicture& picture);
// What a rank computes in a step of attention, or sends in an exchange of a ring; empty of other
// steps.
std::vector<FactLine> context_facts(const LayerPicture& picture, int step, int rank);

}  // namespace parallelarium
