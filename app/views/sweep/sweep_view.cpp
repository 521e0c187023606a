// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sweep/sweep_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollArea>
#include <QToolTip>
#include <algorithm>

#include "app/state/step/training_step.h"
#include "app/state/topic.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/words/plan_words.h"
#include "app/views/shared/words/setup_words.h"
#include "app/views/sweep/sweep_state.h"
#include "app/views/sweep/sweep_words.h"

namespace parallelarium {

namespace {

constexpr int kSweepPicture = 1000;

bool hides_figures(const Session& session) { return !session.locks().hidden_keys().isEmpty(); }

// SettingSweep makes itself the session's child, so a const Session cannot give it.
SettingSweep& sweep_of(const Session& session) {
  return SettingSweep::of(const_cast<Session&>(session));
}

SweepPicture picture_of(const Session& session) {
  const SettingSweep& sweep = sweep_of(session);
  SweepPicture picture;
  picture.answer = sweep.answer() ? &*sweep.answer() : nullptr;
  picture.wish = picture.answer ? picture.answer->wish : sweep.wish();
  picture.status = sweep_status(sweep);
  if (picture.status.isEmpty() && shown_plan(session)) picture.status = whose_text(session);
  picture.failed = !sweep.error().isEmpty();
  picture.sweeping = sweep.sweeping();
  picture.hidden = hides_figures(session);
  picture.runs = sweep.runs();
  picture.selected = sweep.selected();
  return picture;
}

ViewPicture exported_sweep(const Session& session, const PictureStyle& style) {
  const Theme& theme = style.dark ? dark_theme() : light_theme();
  SweepPicture shown = picture_of(session);
  const auto answer = shown.answer ? std::make_shared<const SweepAnswer>(*shown.answer) : nullptr;
  shown.answer = answer.get();
  shown.top = 10;
  const double height = sweep_height(kSweepPicture, shown, theme);
  return {QSize(kSweepPicture, std::max(120, int(height))),
          [shown, answer, &theme](QPainter& painter, QSizeF size, TextLog* texts) {
            painter.save();
            painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
            paint_sweep(painter, size.width(), shown, theme, nullptr, texts);
            painter.restore();
          }};
}

std::optional<ViewTable> table_of(const Session& session) {
  const std::optional<SweepAnswer>& answer = sweep_of(session).answer();
  if (!answer) return std::nullopt;
  return ViewTable{SweepView::tr("Sweep: points (CSV)"),
                   [&session, &answer]() -> Result<std::string> {
                     if (hides_figures(session)) return hidden_figures();
                     return sweep_csv(*answer);
                   }};
}

}  // namespace

SweepPicture SweepView::State::picture() const {
  SweepPicture picture = picture_of(session);
  picture.top = kSweepControls;
  return picture;
}

ViewInfo SweepView::info() {
  return {.id = "sweep",
          .room = Room::kPlan,
          .title = [] { return tr("Sweep"); },
          .command = [] { return tr("S&weep view"); },
          .menu = nullptr,
          .question = [] { return tr("What one setting does"); },
          .about =
              [] {
                return tr(
                    "A curve is one figure over the values of a setting, everything else as it is. "
                    "Points that cannot be are marked with the reason, and lines show the limit of "
                    "the memory and the border of a node. Click on a point to see it, and **Use "
                    "it** to make it the setup.");
              },
          .selects = [] { return tr("Press Sweep, then click a point to see its figure."); },
          .formula = "step.seconds",
          .file = "sweep",
          .shows_range = false,
          .why_not = nullptr,
          .topic = [](Session& session) -> Topic& { return session.training_step(); },
          .picture = exported_sweep,
          .make = [](Session& session, QWidget* parent) -> View* {
            return new SweepView(session, parent);
          },
          .ask = [](Session& session) { SettingSweep::of(session).start(); },
          .plan = shown_plan,
          .table = table_of};
}

SweepView::SweepView(Session& session, QWidget* parent)
    : CanvasView(session, tr("Picture of the sweep"), parent),
      state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Sweep"));
  s.sweep = &SettingSweep::of(session);
  build_controls();
  connect(s.sweep, &SettingSweep::changed, this, &SweepView::refresh);
  connect(&session.locks(), &LessonLocks::hidden_changed, this, &SweepView::refresh);
  fill_settings();
  refresh();
}

SweepView::~SweepView() = default;

SettingSweep& SweepView::sweep() const { return *state_->sweep; }

std::vector<Quantity> SweepView::quantities() const {
  const PlanSearch& search = PlanSearch::of(state_->session);
  return search.shows_plan() ? plan_quantities(search) : step_quantities(state_->session);
}

QString SweepView::origin(const QString&) const {
  return whose_text(state_->session) + QLatin1Char(' ') +
         tr("All points of the plot are predicted in the same way.");
}

ViewPicture SweepView::exported(const PictureStyle& style) const {
  return exported_sweep(state_->session, style);
}

std::optional<ViewTable> SweepView::table() const { return table_of(state_->session); }

std::optional<ChosenSetup> SweepView::chosen() const {
  const SettingSweep& sweep = *state_->sweep;
  const Setup* setup = sweep.selected_setup();
  if (!setup) return std::nullopt;
  const SweepAnswer& answer = *sweep.answer();
  return ChosenSetup{*setup,
                     tr("Of the point of the sweep with %1: %2.")
                         .arg(point_name(answer, answer.points[std::size_t(sweep.selected())]),
                              axes_text(*setup))};
}

QString SweepView::description() const {
  return hides_figures(state_->session) ? tr("Hidden until you answer.")
                                        : sweep_description(*state_->sweep);
}

void SweepView::refresh() {
  State& s = *state_;
  const bool busy = s.session.jobs().state() != RunState::kIdle;
  s.go->setText(s.sweep->sweeping() ? tr("Cancel") : tr("Sweep", "what the button does"));
  s.go->setEnabled((s.sweep->sweeping() || !busy) && !hides_figures(s.session));
  s.go->setToolTip(busy && !s.sweep->sweeping()
                       ? tr("The engine is busy with a run or a calibration.")
                       : QString());
  show_kept();
  s.use->setEnabled(s.sweep->selected_setup() && !hides_figures(s.session));
  s.second_values->setVisible(s.second->currentIndex() > 0);
  refresh_whose(*s.whose, PlanSearch::of(s.session));
  if (isVisible()) place_parts();
  tell_shown();
  canvas().update();
  if (isVisible()) describe_selected();
  Q_EMIT quantities_changed();
}

void SweepView::place_parts() {
  State& s = *state_;
  const int width = canvas_width();
  s.controls->setGeometry(0, 0, width, kSweepControls - 4);
  const double tall = sweep_height(width, s.picture(), theme_for(palette()));
  set_height(tall);
}

void SweepView::showEvent(QShowEvent* event) {
  fill_settings();
  place_parts();
  CanvasView::showEvent(event);
}

void SweepView::paint(QPainter& painter) {
  State& s = *state_;
  s.hits = {};
  paint_sweep(painter, canvas().width(), s.picture(), theme_for(palette()), &s.hits, nullptr);
}

void SweepView::press(QPointF at) {
  for (const auto& [rect, index] : state_->hits.points)
    if (rect.contains(at)) {
      state_->sweep->select(index);
      return describe_selected();
    }
}

// Along the first setting with left and right, among the lines with up and down.
bool SweepView::press_key(int key) {
  State& s = *state_;
  if (!s.sweep->answer() || s.sweep->answer()->points.empty()) return false;
  if ((key == Qt::Key_Return || key == Qt::Key_Enter) && s.use->isEnabled()) {
    s.sweep->use();
    return true;
  }
  const int lines = int(std::max<std::size_t>(1, s.sweep->answer()->seconds.size()));
  const int step = key == Qt::Key_Right  ? lines
                   : key == Qt::Key_Left ? -lines
                   : key == Qt::Key_Down ? 1
                   : key == Qt::Key_Up   ? -1
                                         : 0;
  if (step == 0) return false;
  const int before = s.sweep->selected();
  s.sweep->select(before < 0 ? 0 : before + step);
  describe_selected();
  return true;
}

bool SweepView::show_tip(QPointF at, QPoint global) {
  const State& s = *state_;
  QToolTip::hideText();
  for (const auto& [rect, index] : s.hits.points) {
    if (!rect.contains(at)) continue;
    const SweepAnswer& answer = *s.sweep->answer();
    const SweptPoint& point = answer.points[std::size_t(index)];
    QToolTip::showText(
        global,
        QStringLiteral("%1\n%2").arg(
            point_name(answer, point),
            point_outcome(answer, point) + ran_outcome(answer, s.sweep->runs(), index)),
        &canvas());
    return true;
  }
  return true;
}

void SweepView::describe_selected() {
  SelectionText text;
  const SettingSweep& sweep = *state_->sweep;
  if (sweep.selected() >= 0 && !hides_figures(state_->session)) {
    const SweepAnswer& answer = *sweep.answer();
    const SweptPoint& point = answer.points[std::size_t(sweep.selected())];
    text.headline = point_name(answer, point);
    text.facts = {
        {figure_label(answer.wish.figure),
         point_outcome(answer, point) + ran_outcome(answer, sweep.runs(), sweep.selected())}};
    if (point.nodes > 0) text.facts.push_back({tr("nodes"), QString::number(point.nodes)});
  }
  Q_EMIT described(text);
}

}  // namespace parallelarium
