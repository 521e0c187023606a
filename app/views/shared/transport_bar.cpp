// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/transport_bar.h"

#include <QAction>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QSettings>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/look/theme/theme.h"
#include "app/state/topic.h"

namespace parallelarium {
namespace {

constexpr int kScrubSteps = 2000, kLeastScrub = 48, kScrubRoom = 60, kBetween = 8;
constexpr double kSpeeds[] = {3, 6, 12, 24, 60};  // seconds per step on screen
const QString kReducedKey = QStringLiteral("motion/reduced");
const QString kLoopKey = QStringLiteral("motion/loop");

enum class Sign { kPrevious, kPlay, kPause, kNext };

// Drawn, not taken from a font: every font has another idea of these signs. The bar of the two that
// go to an event stands behind their arrow: before it, it would be the end of the step.
QIcon icon_of(Sign sign, const QColor& color) {
  QIcon icon;
  for (const int scale : {1, 2, 3}) {
    QPixmap pixmap(QSize(14, 14) * scale);
    pixmap.setDevicePixelRatio(scale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    switch (sign) {
      case Sign::kPrevious:
        painter.drawRect(QRectF(10, 2, 2, 10));
        painter.drawPolygon(QPolygonF{QPointF(8, 2), QPointF(8, 12), QPointF(1, 7)});
        break;
      case Sign::kPlay:
        painter.drawPolygon(QPolygonF{QPointF(3, 1.5), QPointF(3, 12.5), QPointF(12, 7)});
        break;
      case Sign::kPause:
        painter.drawRect(QRectF(3, 2, 3, 10));
        painter.drawRect(QRectF(8.5, 2, 3, 10));
        break;
      case Sign::kNext:
        painter.drawRect(QRectF(2, 2, 2, 10));
        painter.drawPolygon(QPolygonF{QPointF(6, 2), QPointF(6, 12), QPointF(13, 7)});
        break;
    }
    painter.end();
    icon.addPixmap(pixmap);
  }
  return icon;
}

// The words go first; the slider and the buttons stay.
void show_what_fits(const TransportBar& bar, QLabel& moment, QToolButton& speed) {
  const int least = bar.width_with_moment();
  moment.setVisible(bar.width() >= least);
  speed.setVisible(bar.width() >= least + speed.sizeHint().width() + kBetween);
}

}  // namespace

QString slowness_text(Nanoseconds horizon, double seconds_per_step) {
  const double step = static_cast<double>(horizon.count()) / 1e9;
  if (step <= 0) return {};
  const double factor = seconds_per_step / step;
  if (factor >= 10) return QObject::tr("%1\u00d7 slower").arg(count_text(std::llround(factor)));
  if (factor >= 1.05)
    return QObject::tr("%1\u00d7 slower").arg(number_text(std::round(factor * 10) / 10));
  if (factor <= 0.95)
    return QObject::tr("%1\u00d7 faster").arg(number_text(std::round(10 / factor) / 10));
  return QObject::tr("real time");
}

TransportBar::TransportBar(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  setAccessibleName(tr("Playback"));
  make_actions();
  make_controls();
  connect(&session_, &Session::topic_changed, this, &TransportBar::follow_topic);
  for (const auto signal :
       {&Playback::playing_changed, &Playback::speed_changed, &Playback::motion_changed})
    connect(&session_.playback(), signal, this, &TransportBar::refresh);
  connect(&session_.locks(), &LessonLocks::hidden_changed, this, &TransportBar::refresh);
  refresh_icons();
  follow_topic();
}

void TransportBar::make_actions() {
  const auto make_action = [this](const QString& text, const char* name) {
    auto* action = new QAction(text, this);
    action->setObjectName(QLatin1String(name));
    return action;
  };
  previous_ = make_action(tr("Previous event"), "transport-previous");
  play_ = make_action(tr("Play"), "transport-play");
  next_ = make_action(tr("Next event"), "transport-next");
  slower_ = make_action(tr("Slower"), "transport-slower");
  faster_ = make_action(tr("Faster"), "transport-faster");
  loop_ = make_action(tr("Start again at the end"), "transport-loop");
  reduced_ = make_action(tr("Reduced motion"), "transport-reduced-motion");
  loop_->setCheckable(true);
  loop_->setChecked(QSettings().value(kLoopKey, true).toBool());
  reduced_->setCheckable(true);
  reduced_->setChecked(QSettings().value(kReducedKey, false).toBool());
  reduced_->setToolTip(tr("Steps instead of moving pictures"));
  session_.playback().set_loops(loop_->isChecked());
  session_.playback().set_reduced_motion(reduced_->isChecked());
  connect(previous_, &QAction::triggered, this, [this] { jump(false); });
  connect(next_, &QAction::triggered, this, [this] { jump(true); });
  connect(play_, &QAction::triggered, this, [this] {
    // At the end of a step that does not loop, play means once more.
    if (!session_.playback().playing() && playhead() >= played().end) set_playhead(played().begin);
    session_.playback().set_playing(!session_.playback().playing());
  });
  connect(slower_, &QAction::triggered, this, [this] {
    session_.playback().set_seconds_per_step(session_.playback().seconds_per_step() * 2);
  });
  connect(faster_, &QAction::triggered, this, [this] {
    session_.playback().set_seconds_per_step(session_.playback().seconds_per_step() / 2);
  });
  connect(loop_, &QAction::toggled, this, [this](bool on) {
    QSettings().setValue(kLoopKey, on);
    session_.playback().set_loops(on);
  });
  connect(reduced_, &QAction::toggled, this, [this](bool on) {
    QSettings().setValue(kReducedKey, on);
    session_.playback().set_reduced_motion(on);
  });
}

void TransportBar::make_controls() {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(kBetween);
  const auto make_button = [&](QAction* action) {
    auto* button = new QToolButton(this);
    button->setDefaultAction(action);
    button->setToolButtonStyle(Qt::ToolButtonIconOnly);
    button->setIconSize(QSize(14, 14));
    button->setFocusPolicy(Qt::TabFocus);
    row->addWidget(button);
    return button;
  };
  previous_button_ = make_button(previous_);
  play_button_ = make_button(play_);
  next_button_ = make_button(next_);
  speed_ = new QToolButton(this);
  speed_->setProperty("quiet", true);
  speed_->setPopupMode(QToolButton::InstantPopup);
  speed_->setFocusPolicy(Qt::TabFocus);
  speed_->setToolTip(tr("Speed: seconds on screen for one step"));
  auto* menu = new QMenu(speed_);
  for (const double seconds : kSpeeds)
    connect(menu->addAction(tr("%1 s per step").arg(number_text(seconds))), &QAction::triggered,
            this, [this, seconds] { session_.playback().set_seconds_per_step(seconds); });
  menu->addSeparator();
  menu->addActions({loop_, reduced_});
  speed_->setMenu(menu);
  row->addWidget(speed_);
  scrub_ = new QSlider(Qt::Horizontal, this);
  scrub_->setRange(0, kScrubSteps);
  scrub_->setPageStep(kScrubSteps / 20);
  scrub_->setSingleStep(kScrubSteps / 200);
  scrub_->setFocusPolicy(Qt::TabFocus);
  scrub_->setMinimumWidth(kLeastScrub);
  row->addWidget(scrub_, 1);
  time_ = new QLabel(this);
  time_->setProperty("role", "muted");
  row->addWidget(time_);
  connect(scrub_, &QSlider::valueChanged, this, [this](int value) {
    const TimeRange range = played();
    set_playhead(range.begin + Nanoseconds(range.length().count() * value / kScrubSteps));
  });
}

// What is in front plays.
void TransportBar::follow_topic() {
  for (const QMetaObject::Connection& connection : of_topic_) disconnect(connection);
  const Topic* topic = &session_.topic();
  of_topic_ = {connect(topic, &Topic::playhead_changed, this, &TransportBar::refresh_time),
               connect(topic, &Topic::changed, this, &TransportBar::refresh),
               connect(topic, &Topic::run_changed, this, &TransportBar::refresh)};
  refresh();
}

Nanoseconds TransportBar::playhead() const { return session_.topic().playhead(); }
TimeRange TransportBar::played() const { return session_.topic().played(); }
void TransportBar::set_playhead(Nanoseconds time) { session_.topic().set_playhead(time); }

QList<QAction*> TransportBar::transport_actions() const {
  return {previous_, play_, next_, slower_, faster_, loop_, reduced_};
}

// Whether a lesson hides how long the step is.
bool TransportBar::hides_length() const {
  return played().length() <= Nanoseconds(0) ||
         session_.locks().hidden(session_.topic().length_key());
}

void TransportBar::jump(bool forward) {
  session_.playback().set_playing(false);
  set_playhead(session_.topic().next_event(playhead(), forward));
}

void TransportBar::refresh() {
  const bool playing = session_.playback().playing();
  const QString what = playing ? tr("Pause") : tr("Play");
  if (play_->text() != what) {
    play_->setText(what);
    refresh_icons();
  }
  speed_->setText(hides_length()
                      ? tr("Speed")
                      : slowness_text(played().length(), session_.playback().seconds_per_step()));
  speed_->setAccessibleName(hides_length() ? speed_->text() : tr("Speed, %1").arg(speed_->text()));
  if (reduced_->isChecked() != session_.playback().reduced_motion())
    reduced_->setChecked(session_.playback().reduced_motion());
  // Wide enough for every time of the step, so that nothing moves while it plays.
  scrub_->setAccessibleName(session_.topic().time_title());
  time_->setMinimumWidth(
      time_->fontMetrics().horizontalAdvance(session_.topic().widest_time_text()));
  show_what_fits(*this, *time_, *speed_);  // other words may have no room
  refresh_time();
}

void TransportBar::refresh_time() {
  time_->setText(session_.topic().time_text(session_));
  const QSignalBlocker blocker(scrub_);
  const auto whole = static_cast<double>(std::max(played().length(), Nanoseconds(1)).count());
  const auto done = static_cast<double>((playhead() - played().begin).count());
  scrub_->setValue(static_cast<int>(std::lround(kScrubSteps * std::clamp(done / whole, 0.0, 1.0))));
  // Its value counts parts of the step. While it plays, each of them would be said.
  if (!session_.playback().playing()) describe(*scrub_, time_->text());
}

void TransportBar::refresh_icons() {
  const QColor color = theme_for(palette()).text;
  previous_->setIcon(icon_of(Sign::kPrevious, color));
  play_->setIcon(icon_of(session_.playback().playing() ? Sign::kPause : Sign::kPlay, color));
  next_->setIcon(icon_of(Sign::kNext, color));
}

void TransportBar::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
    refresh_icons();
}

int TransportBar::width_with_moment() const {
  return 3 * (play_button_->sizeHint().width() + kBetween) + kScrubRoom + kBetween +
         time_->minimumWidth();
}

void TransportBar::resizeEvent(QResizeEvent*) { show_what_fits(*this, *time_, *speed_); }

}  // namespace parallelarium
