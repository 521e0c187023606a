// SPDX-License-Identifier: GPL-3.0-or-later
// Keys that act while a timeline has focus. They go by physical position, so that W A S D are in
// the same place on every keyboard. They can be changed or switched off in the preferences.
#pragma once

#include <QKeyEvent>
#include <QKeySequence>
#include <QString>
#include <optional>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

enum class ViewKey {
  kZoomIn,
  kZoomOut,
  kPanLeft,
  kPanRight,
  kPrevious,
  kNext,
  kUp,
  kDown,
  kFollowBack,
  kFollowOn,
  kFocus,
  kFitAll,
  kMark,
  kSelect,
  kClear,
  kPlay,
  kStepBack,
  kStepOn,
};

struct ViewKeyInfo {
  ViewKey key;
  const char* id;    // in QSettings: "keys/<id>"
  const char* text;  // for the shortcut sheet, translated by the caller in context "ViewKey"
  Qt::Key default_key;
  int position;  // X11 and Wayland key code of the key at that place, or 0: by symbol
};
const std::vector<ViewKeyInfo>& view_keys();

// The key in the preferences, or the default.
QKeySequence sequence_of(const ViewKeyInfo& info);
// Changes the preference. On an error nothing changes. Error: the sequence is not a single key, or
// another of view_keys() has it.
Result<void> set_sequence(const ViewKeyInfo& info, const QKeySequence& sequence);
bool single_keys_act();
void set_single_keys_act(bool act);
void reset_view_keys();  // restores all default keys, and makes them act

// What an unmodified key press asks for. None if single keys are switched off ("keys/enabled" =
// false).
std::optional<ViewKey> view_key_of(const QKeyEvent& event);

}  // namespace parallelarium
