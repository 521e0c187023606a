// SPDX-License-Identifier: GPL-3.0-or-later
// Data parallelism in five steps, above the cells of "Who holds what": what each is, when it can be
// seen, and what a run showed of it.
#pragma once

#include "app/views/memory/holders/holders.h"

namespace parallelarium {

// Whether ranks are copies of one whole model, as the story tells it.
bool is_plain_data_parallel(const Setup& setup);
// Its five steps. `rank_index`: in Program::ranks, whose moments count; `holdings` and `messages`
// are that rank's. `seen`: a run, or null.
std::vector<HoldersStep> data_parallel_story(const Setup& setup, const Program& program,
                                             const Timeline& timeline, int rank_index,
                                             const Holdings& holdings,
                                             const std::vector<SharedMessage>& messages,
                                             const Observation* seen);

inline constexpr double kStoryHeight = 64;  // on the pane; nothing without a story
void place_story(const HoldersPicture& picture, double width, HoldersLayout& at);
void paint_story(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                 double width, const Theme& theme, TextLog* texts);

}  // namespace parallelarium
