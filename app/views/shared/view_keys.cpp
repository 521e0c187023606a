// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/view_keys.h"

#include <QCoreApplication>
#include <QGuiApplication>
#include <QSettings>

namespace parallelarium {
namespace {

// Where key codes are those of evdev plus 8.
bool has_positions() {
  const QString platform = QGuiApplication::platformName();
  return platform == QLatin1String("xcb") || platform.startsWith(QLatin1String("wayland"));
}

}  // namespace

const std::vector<ViewKeyInfo>& view_keys() {
  static const std::vector<ViewKeyInfo> kKeys = {
      {ViewKey::kZoomIn, "zoom-in", QT_TRANSLATE_NOOP("ViewKey", "Zoom in"), Qt::Key_W, 25},
      {ViewKey::kZoomOut, "zoom-out", QT_TRANSLATE_NOOP("ViewKey", "Zoom out"), Qt::Key_S, 39},
      {ViewKey::kPanLeft, "pan-left", QT_TRANSLATE_NOOP("ViewKey", "Move left"), Qt::Key_A, 38},
      {ViewKey::kPanRight, "pan-right", QT_TRANSLATE_NOOP("ViewKey", "Move right"), Qt::Key_D, 40},
      {ViewKey::kPrevious, "previous", QT_TRANSLATE_NOOP("ViewKey", "Previous op of the rank"),
       Qt::Key_Left, 0},
      {ViewKey::kNext, "next", QT_TRANSLATE_NOOP("ViewKey", "Next op of the rank"), Qt::Key_Right,
       0},
      {ViewKey::kUp, "up", QT_TRANSLATE_NOOP("ViewKey", "Op of the row above"), Qt::Key_Up, 0},
      {ViewKey::kDown, "down", QT_TRANSLATE_NOOP("ViewKey", "Op of the row below"), Qt::Key_Down,
       0},
      {ViewKey::kFollowBack, "follow-back",
       QT_TRANSLATE_NOOP("ViewKey", "Who did this op wait for?"), Qt::Key_BracketLeft, 34},
      {ViewKey::kFollowOn, "follow-on", QT_TRANSLATE_NOOP("ViewKey", "Who waits for this op?"),
       Qt::Key_BracketRight, 35},
      {ViewKey::kFocus, "focus", QT_TRANSLATE_NOOP("ViewKey", "Show the op large; twice: fit"),
       Qt::Key_F, 41},
      {ViewKey::kFitAll, "fit-all", QT_TRANSLATE_NOOP("ViewKey", "Show the whole step"), Qt::Key_0,
       19},
      {ViewKey::kMark, "mark", QT_TRANSLATE_NOOP("ViewKey", "Set or remove a mark"), Qt::Key_M, 58},
      {ViewKey::kSelect, "select", QT_TRANSLATE_NOOP("ViewKey", "Select the op, then its time"),
       Qt::Key_Return, 0},
      {ViewKey::kClear, "clear", QT_TRANSLATE_NOOP("ViewKey", "Clear selection and range"),
       Qt::Key_Escape, 0},
      {ViewKey::kPlay, "play", QT_TRANSLATE_NOOP("ViewKey", "Play or pause"), Qt::Key_Space, 0},
      {ViewKey::kStepBack, "step-back", QT_TRANSLATE_NOOP("ViewKey", "To the previous event"),
       Qt::Key_Comma, 59},
      {ViewKey::kStepOn, "step-on", QT_TRANSLATE_NOOP("ViewKey", "To the next event"),
       Qt::Key_Period, 60},
  };
  return kKeys;
}

QKeySequence sequence_of(const ViewKeyInfo& info) {
  const QString stored =
      QSettings().value(QStringLiteral("keys/") + QLatin1String(info.id)).toString();
  return stored.isEmpty() ? QKeySequence(info.default_key)
                          : QKeySequence::fromString(stored, QKeySequence::PortableText);
}

Result<void> set_sequence(const ViewKeyInfo& info, const QKeySequence& sequence) {
  const QString text = sequence.toString(QKeySequence::NativeText);
  if (sequence.count() != 1 || sequence[0].keyboardModifiers() != Qt::NoModifier)
    return message("key-single", "A view's key is one key without Ctrl, Alt or Shift; {} is not.",
                   text.isEmpty() ? "none" : text.toStdString());
  for (const int taken : {Qt::Key_Home, Qt::Key_Enter, Qt::Key_Tab, Qt::Key_F1, Qt::Key_F6})
    if (sequence == QKeySequence(taken))
      return message("key-taken", "{} has its meaning everywhere; choose another key.",
                     text.toStdString());
  for (const ViewKeyInfo& other : view_keys())
    if (other.key != info.key && sequence_of(other) == sequence)
      return message("key-taken.view", "{} is the key of “{}” already; choose another.",
                     text.toStdString(),
                     QCoreApplication::translate("ViewKey", other.text).toStdString());
  QSettings().setValue(QStringLiteral("keys/") + QLatin1String(info.id),
                       sequence.toString(QKeySequence::PortableText));
  return {};
}

bool single_keys_act() { return QSettings().value(QStringLiteral("keys/enabled"), true).toBool(); }

void set_single_keys_act(bool act) { QSettings().setValue(QStringLiteral("keys/enabled"), act); }

void reset_view_keys() { QSettings().remove(QStringLiteral("keys")); }

std::optional<ViewKey> view_key_of(const QKeyEvent& event) {
  const auto modifiers = event.modifiers() & ~Qt::KeypadModifier;
  if (modifiers != Qt::NoModifier) return std::nullopt;
  if (!single_keys_act()) return std::nullopt;
  if (event.key() == Qt::Key_Home) return ViewKey::kFitAll;
  if (event.key() == Qt::Key_Enter) return ViewKey::kSelect;
  for (const ViewKeyInfo& info : view_keys()) {
    const QKeySequence sequence = sequence_of(info);
    const bool by_position = info.position > 0 && has_positions() && event.nativeScanCode() > 0 &&
                             sequence == QKeySequence(info.default_key);
    if (by_position ? event.nativeScanCode() == static_cast<quint32>(info.position)
                    : sequence == QKeySequence(event.key()))
      return info.key;
  }
  return std::nullopt;
}

}  // namespace parallelarium
