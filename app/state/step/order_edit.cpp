// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/step/order_edit.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/look/sentence.h"
#include "app/state/session.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/text/message_json.h"
#include "engine/predict/action_seconds.h"
#include "engine/schedules/order_search.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// Above it an order is a picture that nobody edits by hand, and a floor takes long.
constexpr std::size_t kMostEdited = 20'000;

std::string shape_key(const Order& order, bool split) {
  std::string key =
      fmt::format("{} {} {} {}:", order.microbatches, order.chunks, order.stages, split);
  for (const auto& held : order.stage_of)
    for (const int stage : held) key += fmt::format(" {}", stage);
  return key;
}

}  // namespace

OrderEdit::OrderEdit(Session& session) : session_(session) {
  worker_.setMaxThreadCount(1);
  connect(&session, &Session::setup_changed, this, [this] {
    if (open_) follow();
  });
}

OrderEdit::~OrderEdit() { worker_.waitForDone(); }

void OrderEdit::set_open(bool open) {
  if (open == open_) return;
  open_ = open;
  if (open_)
    begin();
  else
    Q_EMIT changed();
}

void OrderEdit::begin() {
  read_setup();
  if (problem_.isEmpty()) judge();
  forget_attempts();
  if (task_ && task_->tries.count > 0) tries_ = task_->tries;
  // What plays is not seen here, and would be drawn all the same.
  session_.playback().set_playing(false);
  Q_EMIT changed();
}

// What is there at first is nobody's attempt, except the order with which a task was solved.
void OrderEdit::forget_attempts() {
  tries_ = {};
  if (task_ && task_->solved && keeps_all() && !(draft_ == task_->start))
    tries_.best = times_.makespan;
  start_ = seen_ = draft_;
}

void OrderEdit::set_task(std::optional<OrderTask> task) {
  if (!task && !task_) return;
  task_ = std::move(task);
  rates_.clear();
  if (task_) split_ = task_->split;
  open_ = task_.has_value();
  if (open_)
    begin();
  else
    Q_EMIT changed();
}

void OrderEdit::set_solved(bool solved) {
  if (solved == task_->solved) return;
  task_->solved = solved;
  Q_EMIT changed();
}

int OrderEdit::over_limit() const {
  for (std::size_t rank = 0; rank < limits_.size(); ++rank)
    if (times_.ranks[rank].held > limits_[rank] + 1e-9) return static_cast<int>(rank);
  return -1;
}

bool OrderEdit::keeps_all() const { return times_.whole() && faults_.empty() && over_limit() < 0; }

bool OrderEdit::editable() const {
  return task_ ? !task_->solved : session_.locks().allowed(QStringLiteral("schedule"));
}

// A Setup is also told as changed when its prediction comes. Where order, split and prices are the
// same as before, there is nothing to judge again.
void OrderEdit::follow() {
  const Order before = draft_;
  const int prices = prices_;
  const bool split = split_, judged = problem_.isEmpty();
  read_setup();
  if (judged && problem_.isEmpty() && prices == prices_ && split == split_ && before == draft_)
    return;
  if (problem_.isEmpty()) judge();
  Q_EMIT changed();
}

// The draft is the Setup's order, of its own number of micro-batches.
void OrderEdit::read_setup() {
  const Setup& setup = session_.resolved();
  problem_.clear();
  if (const Order* own = setup.schedule.order()) {
    draft_ = *own;
    if (setup.microbatches > 0) draft_.microbatches = setup.microbatches;
    for (const auto& line : draft_.ranks)
      for (const Action& action : line)
        if (action.kind == ActionKind::kInputGrad || action.kind == ActionKind::kWeightGrad)
          split_ = true;
  } else {
    const Result<Order> made = make_order(setup);
    if (!made) {
      problem_ = sentence(made.error());
      return;
    }
    draft_ = *made;
    split_ = splits_backward(draft_);
  }
  std::size_t actions = 0;
  for (const auto& line : draft_.ranks) actions += line.size();
  if (static_cast<int>(draft_.ranks.size()) != setup.mesh.pp)
    problem_ =
        tr("The order has a line for each of %1 ranks, but PP is %2. Set PP to %1, or choose "
           "a schedule to begin anew.")
            .arg(draft_.ranks.size())
            .arg(setup.mesh.pp);
  else if (actions > kMostEdited)
    problem_ = tr("This order has more than %1 actions: too many to edit by hand.")
                   .arg(QLocale().toString(static_cast<int>(kMostEdited)));
  if (problem_.isEmpty()) refresh_durations();
}

// What an action takes does not depend on the order: it is asked once for a Setup.
void OrderEdit::refresh_durations() {
  Setup setup = session_.resolved();
  setup.schedule = "1f1b";
  setup.microbatches = 1;
  std::string rates =
      session_.machine().name + prediction_word(session_.machine()) + shape_key(draft_, false);
  if (rates == rates_ && setup == priced_) return;
  rates_ = std::move(rates);
  priced_ = std::move(setup);
  ++prices_;
  const auto stages = static_cast<std::size_t>(draft_.stages);
  if (task_ && task_->durations.size() == stages) {
    durations_ = task_->durations;
    unit_ = 1;
    return;
  }
  Result<std::vector<Durations>> found =
      action_seconds(session_.resolved(), session_.machine(), draft_);
  if (!found) {
    problem_ = sentence(found.error());
    rates_.clear();
    return;
  }
  durations_ = std::move(*found);
  unit_ = 0;
  for (const Durations& stage : durations_) unit_ += stage.forward / static_cast<double>(stages);
  if (unit_ <= 0) unit_ = 1;
}

void OrderEdit::judge() {
  hang_report_.clear();
  times_ = time_draft(draft_, durations_, split_);
  faults_ = faults_so_far(draft_);
  limits_ = task_ ? task_->limits : HeldLimits();
  if (limits_.size() == 1) limits_.resize(draft_.ranks.size(), limits_.front());
  if (limits_.size() != draft_.ranks.size()) limits_.clear();
  path_ = critical_path(times_);
  chosen_ = parallelarium::chosen_waits(draft_, times_, limits_);
  // Other work has another floor: what was reached before says nothing of it.
  std::string key = shape_key(draft_, split_) + fmt::format(" {}", prices_);
  for (const double limit : limits_) key += fmt::format(" {}", limit);
  const bool new_work = key != floor_key_;
  floor_key_ = std::move(key);
  if (new_work) forget_attempts();
  if (keeps_all() && !(draft_ == start_) && !(draft_ == seen_)) {
    seen_ = draft_;
    ++tries_.count;
    if (!tries_.best || times_.makespan < *tries_.best) tries_.best = times_.makespan;
  }
  look_for_floor(new_work);
}

// A search, so off the window's thread; the answer for an older draft is dropped.
void OrderEdit::look_for_floor(bool new_work) {
  const bool whole = times_.whole() && faults_.empty();
  if (new_work) floor_.reset();
  recognised_.clear();
  if (!new_work && !whole && floor_) return;
  looking_ = true;
  const auto draft = std::make_shared<const Order>(draft_);
  const auto like = std::make_shared<const Order>(one_after_another(draft_, split_));
  const auto known = floor_;
  worker_.clear();
  worker_.start([this, draft, like, asked = floor_key_, known, whole, stages = durations_,
                 limits = limits_, split = split_] {
    const auto floor =
        std::make_shared<const Floor>(known ? *known : floor_of(*like, stages, limits));
    const std::string name = whole ? parallelarium::recognised(*draft) : std::string();
    const double bubble = std::isfinite(floor->at_least)
                              ? time_draft(*like, stages, split).bubble_in(floor->at_least)
                              : 0;
    const int more = whole && name.empty() ? more_warm_ups(*draft) : 0;
    QMetaObject::invokeMethod(
        this,
        [this, floor, bubble, name, more, asked, draft] {
          if (asked != floor_key_ || !(*draft == draft_)) return;
          looking_ = false;
          floor_ = *floor;
          floor_bubble_ = bubble;
          if (const ScheduleRule* rule =
                  name.empty() ? nullptr : find_schedule_rule(Schedule(name)))
            recognised_ = sentence(title_of(*rule));
          if (more > 0)
            recognised_ = more == 1 ? tr("1F1B with one more warm-up forward")
                                    : tr("1F1B with %1 more warm-up forwards").arg(more);
          else if (name.empty() && is_gpipe_in_turn(draft_))
            recognised_ = tr("GPipe with the backwards in the order of the forwards");
          Q_EMIT floor_changed();
        },
        Qt::QueuedConnection);
  });
}

bool OrderEdit::can_hang() const {
  const bool waits = std::any_of(times_.ranks.begin(), times_.ranks.end(),
                                 [](const auto& line) { return line.wait && line.wait->for_ever; });
  return session_.setup().machine == "local" && problem_.isEmpty() && waits &&
         only_waits(filled_up(draft_, split_));
}

void OrderEdit::let_it_hang(double seconds) {
  Setup setup = session_.resolved();
  setup.run.backend = Backend::kCpu;
  // No rank comes as far as what is not placed yet, but ranks are given whole orders.
  if (const Result<Schedule> whole =
          Schedule::own(kOwnOrderName, to_unfinished_lines(filled_up(draft_, split_))))
    setup.schedule = *whole;
  EngineRequest request;
  request.method = "run";
  request.parameters = {
      {"setup", to_json(setup)}, {"verify", false}, {"let_it_hang_seconds", seconds}};
  request.read = [this,
                  asked = draft_](const nlohmann::json& answer) -> Result<EngineRequest::Keep> {
    QStringList report;
    if (answer.contains("hang"))
      for (const nlohmann::json& rank : answer["hang"]["ranks"])
        report << sentence(message_from_json(rank["sentence"]));
    return EngineRequest::Keep([this, asked, report]() -> Result<void> {
      if (!(asked == draft_)) return {};
      hang_report_ = report;
      Q_EMIT changed();
      return {};
    });
  };
  session_.jobs().run(request);
}

void OrderEdit::wait() {
  while (open_ && looking_) {
    worker_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace parallelarium
