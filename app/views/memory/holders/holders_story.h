// SPDX-License-Identifier: GPL-3.0-or-later
// Data parallelism in five steps, above the cells of "Who holds what", of copies or of ZeRO 3: what
// each step is, when it can be seen, and what a run showed of it.
#pragma once

#include "app/views/memory/holders/holders.h"

namespace parallelarium {

// Whether there is one: replicas alone share the model, and are copies of it, or have shards of
// everything (ZeRO 3).
bool has_story(const Setup& setup);
// Its five steps. `rank_index`: in Program::ranks, whose moments count; `holdings` and `messages`
// are that rank's. `seen`: a run, or null.
std::vector<HoldersStep> holders_story(const Setup& setup, const Program& program,
                                       const Timeline& timeline, int rank_index,
                                       const Holdings& holdings,
                                       const std::vector<SharedMessage>& messages,
                                       const Observation* seen);

// The step that began last; 0 where there is none.
int story_step_at(const std::vector<HoldersStep>& story, Nanoseconds now);

inline constexpr double kStoryHeight = 64;  // on the pane; nothing without a story
void place_story(const HoldersPicture& picture, double width, HoldersLayout& at);
void paint_story(QPainter& painter, const HoldersPicture& picture, const HoldersLayout& at,
                 double width, const Theme& theme, TextLog* texts);

}  // namespace parallelarium
