// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/bars/top_bar.h"

#include <QAccessible>
#include <QAction>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <algorithm>

#include "app/look/figures.h"
#include "app/state/run/run_advice.h"
#include "app/views/shared/transport_bar.h"

namespace parallelarium {

namespace {

constexpr int kRoomsHeight = 30;
constexpr int kLeastTransport = 210;  // its buttons and its slider, without words

// A button that does what the action does, and is enabled with it.
QPushButton* button_of(QAction* action, const QString& text, QWidget* parent) {
  auto* button = new QPushButton(text, parent);
  QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
  const auto follow = [button, action] {
    button->setEnabled(action->isEnabled());
    button->setToolTip(action->toolTip());
  };
  QObject::connect(action, &QAction::changed, button, follow);
  follow();
  return button;
}

}  // namespace

TopBar::TopBar(Session& session, const Actions& actions, QWidget* parent)
    : QFrame(parent), session_(session), actions_(actions) {
  setObjectName(QStringLiteral("TopBar"));
  setFixedHeight(48);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 0, 12, 1);
  row->setSpacing(8);
  product_ = new QLabel(QStringLiteral("Parallelarium"), this);
  product_->setObjectName(QStringLiteral("ProductName"));
  row->addWidget(product_);
  std::vector<Segments::Choice> rooms;
  const std::tuple<Room, QString, QString> all[] = {
      {Room::kLearn, tr("Learn"), tr("Lessons, with the views that they need")},
      {Room::kExplore, tr("Explore"), tr("Every setting and every view")},
      {Room::kPlan, tr("Plan"), tr("Search for a good setup, and compare")}};
  for (const auto& [room, text, tip] : all)
    if (has_views(room)) rooms.push_back({QString::number(int(room)), text, tip});
  rooms_ = new Segments(tr("Room"), rooms, this);
  rooms_->setObjectName(QStringLiteral("Rooms"));
  rooms_->setFixedHeight(kRoomsHeight);
  row->addWidget(rooms_);
  connect(rooms_, &Segments::chosen, this,
          [this](const QString& room) { Q_EMIT room_chosen(Room(room.toInt())); });
  name_ = new ElidedLabel({}, this);
  name_->setProperty("role", "muted");
  name_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  row->addWidget(name_, 2);
  transport_ = new TransportBar(session_, this);
  row->addWidget(transport_, 3);
  row->addSpacing(8);
  pin_ = button_of(actions.pin, tr("Pin"), this);
  prove_ = button_of(actions.prove, tr("Prove it"), this);
  export_ = new QPushButton(tr("Export ▾"), this);
  export_->setMenu(actions.export_menu);
  run_ = new QPushButton(this);
  run_->setProperty("primary", true);
  for (QPushButton* button : {pin_, prove_, export_, run_}) {
    button->setAutoDefault(true);  // Enter presses it
    row->addWidget(button);
  }
  connect(run_, &QPushButton::clicked, this, [this] {
    if (session_.jobs().state() != RunState::kIdle)
      actions_.cancel->trigger();
    else if (copies())
      actions_.small_copy->trigger();
    else
      actions_.run->trigger();
  });
  connect(&session_, &Session::run_state_changed, this, &TopBar::refresh);
  connect(&session_, &Session::setup_changed, this, &TopBar::refresh);
  connect(&session_, &Session::topic_changed, this, &TopBar::refresh);  // after the transport bar
  connect(&session_, &Session::run_changed, this, [this] {
    refresh();
    QAccessibleEvent event(name_, QAccessible::Alert);
    QAccessible::updateAccessibility(&event);
  });
  refresh();
}

void TopBar::set_document_name(const QString& name) {
  document_ = name;
  refresh();
}

void TopBar::set_compact(bool compact) {
  product_->setVisible(!compact);
  layout()->setSpacing(compact ? 4 : 8);
  layout()->setContentsMargins(compact ? 8 : 12, 0, compact ? 8 : 12, 1);
  refresh();
}

void TopBar::set_planner(bool on) {
  rooms_->set_choice_enabled(QString::number(int(Room::kPlan)), on);
}

void TopBar::set_room(Room room) {
  rooms_->set_value(QString::number(int(room)));
  plans_ = room == Room::kPlan;
  show_parts();
}

void TopBar::set_plan(const std::optional<Setup>& plan, const QString& refusal) {
  if (plan == plan_ && refusal == plan_refusal_) return;
  plan_ = plan;
  plan_refusal_ = refusal;
  refresh();
}

void TopBar::set_bare(bool bare) {
  bare_ = bare;
  show_parts();
}

void TopBar::show_parts() {
  transport_->setVisible(!bare_ && !plans_);
  for (QWidget* part : {pin_, prove_, export_, run_}) part->setVisible(!bare_);
  refresh();  // what was hidden had no width
}

bool TopBar::copies() const { return plan_ || machine_is_elsewhere(session_); }

QString TopBar::run_text() const {
  return QStringLiteral("▶ ") + (copies() ? small_copy_label()
                                 : short_ ? run_verb(session_)
                                          : run_label(session_));
}

QString TopBar::refusal() const {
  if (!plan_refusal_.isEmpty()) return plan_refusal_;
  return copies() ? small_copy_refusal(session_, plan_.value_or(session_.setup()))
                  : run_refusal(session_);
}

QStringList TopBar::tips() const {
  if (!plan_refusal_.isEmpty()) return {plan_refusal_};
  if (const QString why = plan_ ? refusal() : QString(); !why.isEmpty()) return {why};
  if (plan_) return {elsewhere_text(session_, *plan_)};
  if (const QString why = run_refusal(session_); !why.isEmpty()) return {why};
  QStringList all{short_ ? run_label(session_) : QString(), run_details(session_),
                  measuring_note(session_)};
  all.removeAll(QString());
  return all;
}

void TopBar::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  refresh();
}

// As wide as the longest of what the button says for this setup, so that nothing beside it moves
// when a run starts or ends.
int TopBar::width_of_run() {
  const QString now = run_->text();
  int width = 0;
  for (const QString& text :
       {run_text(), tr("Cancelling …"), tr("Cancel calibration"), tr("Cancel")}) {
    run_->setText(text);
    width = std::max(width, run_->sizeHint().width());
  }
  run_->setText(now);
  return width;
}

// The moment stays in sight, if need be by less on the Run button.
void TopBar::refresh() {
  const int moment = transport_->width_with_moment();
  for (const bool shorter : {false, true}) {
    short_ = shorter;
    show_run();
    transport_->setMinimumWidth(moment);
    layout()->invalidate();
    if (layout()->minimumSize().width() <= width()) return;
  }
  transport_->setMinimumWidth(kLeastTransport);
}

void TopBar::show_run() {
  const RunState state = session_.jobs().state();
  const bool idle = state == RunState::kIdle;
  const QString percent = share_text(session_.jobs().progress());
  switch (state) {
    case RunState::kIdle:
      run_->setText(run_text());
      name_->set_full_text(document_);
      break;
    case RunState::kCancelling:
      run_->setText(tr("Cancelling …"));
      name_->set_full_text(tr("Cancelling …"));
      break;
    case RunState::kCalibrating:
      run_->setText(tr("Cancel calibration"));
      name_->set_full_text(
          tr("Calibrating · %1 · %2").arg(percent, session_.jobs().progress_text()));
      break;
    case RunState::kStarting:
    case RunState::kRunning:
      run_->setText(tr("Cancel"));
      name_->set_full_text(
          (session_.jobs().verifies() ? tr("Proving · %1 · %2") : tr("Running · %1 · %2"))
              .arg(percent, session_.jobs().progress_text()));
      break;
  }
  run_->setMinimumWidth(width_of_run());
  run_->setEnabled(state != RunState::kCancelling && (!idle || refusal().isEmpty()));
  run_->setToolTip(idle ? tips().join(QLatin1Char('\n')) : QString());
  run_->setAccessibleDescription(run_->toolTip());
}

}  // namespace parallelarium
