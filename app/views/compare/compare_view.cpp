// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/compare/compare_view.h"

#include <QAction>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QThreadPool>
#include <QToolTip>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/plan/plan_search.h"
#include "app/state/step/training_step.h"
#include "app/views/compare/compare_paint.h"
#include "app/views/compare/compare_state.h"
#include "app/views/compare/compare_words.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/words/plan_words.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

constexpr int kComparePicture = 1040, kCompareButton = 30;

ViewPicture exported_comparison(std::shared_ptr<const ComparedEntries> comparison,
                                const PictureStyle& style,
                                const std::optional<FollowedAction>& followed) {
  const Theme& theme = style.dark ? dark_theme() : light_theme();
  ComparePicture picture;
  picture.comparison = comparison.get();
  picture.followed = followed;
  const double height = compare_height(kComparePicture, picture, theme);
  return {QSize(kComparePicture, std::max(120, int(height))),
          [comparison, picture, &theme](QPainter& painter, QSizeF size, TextLog* texts) {
            painter.save();
            painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
            paint_compare(painter, size.width(), picture, theme, nullptr, texts);
            painter.restore();
          }};
}

}  // namespace

ComparePicture CompareView::State::picture() const {
  ComparePicture picture;
  picture.comparison = shown.get();
  picture.followed = followed;
  picture.status = predicting       ? CompareView::tr("Predicting the column to be added …")
                   : shown->waiting ? CompareView::tr("Predicting the plans …")
                                    : error;
  picture.beside_head = add->width() + 24;
  for (const QPushButton* button : {less, whose})
    if (!button->isHidden()) picture.beside_head += button->width() + 8;
  return picture;
}

ViewInfo CompareView::info() {
  return {
      .id = "compare",
      .room = Room::kPlan,
      .title = [] { return tr("Compare"); },
      .command = [] { return tr("Compar&e view"); },
      .menu = nullptr,
      .question = [] { return tr("Why one is faster"); },
      .about =
          [] {
            return tr(
                "Setups, runs and published cases stand side by side as lettered columns, with "
                "step time, memory, bubble and exposed communication. The bars say in milliseconds "
                "what makes the difference: computing, bubble, communication of each axis, "
                "recompute, optimizer. Where two columns cannot be compared, the cell says why.");
          },
      .selects =
          [] {
            return tr("Click a bar to see when each column does the same, and how much later.");
          },
      .formula = "step.seconds",
      .file = "comparison",
      .shows_range = false,
      .why_not = nullptr,
      .topic = [](Session& session) -> Topic& { return session.training_step(); },
      .picture =
          [](const Session& session, const PictureStyle& style) {
            return exported_comparison(
                std::make_shared<ComparedEntries>(CompareSource().compare(session, {}, 1)), style,
                std::nullopt);
          },
      .make = [](Session& session, QWidget* parent) -> View* {
        return new CompareView(session, parent);
      },
      .plan = shown_plan};
}

CompareView::CompareView(Session& session, QWidget* parent)
    : CanvasView(session, tr("Picture of the comparison"), parent),
      state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Compare"));
  s.add = new QPushButton(tr("Add a column …"), &canvas());
  s.less = new QPushButton(tr("Remove the last"), &canvas());
  for (QPushButton* button : {s.add, s.less}) button->setAutoDefault(true);
  PlanSearch& search = PlanSearch::of(session);
  s.whose = make_whose_button(search, &canvas());
  build_actions();
  connect(s.less, &QPushButton::clicked, this, &CompareView::remove_last);
  const auto again = [this] {
    if (isVisible()) refresh();
  };
  connect(&session, &Session::prediction_changed, this, again);
  connect(&session, &Session::run_changed, this, again);
  connect(&session.locks(), &LessonLocks::hidden_changed, this, again);
  connect(&search, &PlanSearch::changed, this, again);
  refresh();
}

// The Session may be gone by now.
CompareView::~CompareView() { state_->worker.waitForDone(); }

const ComparedEntries& CompareView::comparison() const { return *state_->shown; }
void CompareView::wait() {
  state_->worker.waitForDone();
  PlanSearch::of(state_->session).predictions().wait();
}

std::vector<Quantity> CompareView::quantities() const {
  const PlanSearch& search = PlanSearch::of(state_->session);
  return search.shows_plan() ? plan_quantities(search) : step_quantities(state_->session);
}

QString CompareView::origin(const QString&) const {
  return whose_text(state_->session) + QLatin1Char(' ') +
         tr("What each lettered column is of stands over its lane.");
}

ViewPicture CompareView::exported(const PictureStyle& style) const {
  return exported_comparison(state_->shown, style, state_->followed);
}

QString CompareView::description() const { return compare_description(*state_->shown); }

void CompareView::add(const QString& title, const RunRecord& run) {
  keep({title, run, run.observed() ? LaneStyle::kObserved : LaneStyle::kPredicted});
}

void CompareView::add(const QString& title, const Setup& setup, const Machine& machine) {
  add(title, setup, machine, [] { return std::vector<PublishedFigure>(); });
}

void CompareView::add(const QString& title, const CaseRow& row) {
  add(title, row.setup, row.machine, [row] { return published_beside(row); });
}

void CompareView::add(const QString& title, const Setup& setup, const Machine& machine,
                      std::function<Result<std::vector<PublishedFigure>>()> published) {
  State& s = *state_;
  s.error.clear();
  s.predicting = true;
  refresh();
  s.worker.start([this, title, setup, machine, published = std::move(published)] {
    auto made = std::make_shared<Result<Prediction>>(predict(setup, machine));
    auto figures = std::make_shared<Result<std::vector<PublishedFigure>>>(published());
    QMetaObject::invokeMethod(
        this,
        [this, title, made, figures] {
          state_->predicting = false;
          if (*made && *figures)
            return keep({title, record_of(std::make_shared<const Prediction>(std::move(**made))),
                         LaneStyle::kPredicted, std::move(**figures)});
          state_->error = sentence(*made ? figures->error() : made->error());
          refresh();
        },
        Qt::QueuedConnection);
  });
}

void CompareView::keep(const CompareEntry& entry) {
  State& s = *state_;
  const std::size_t own = entries_of(s.session).size();
  if (own + s.added.size() < kMostCompared) s.added.push_back(entry);
  s.chosen = own + s.added.size() - 1;
  refresh();
}

void CompareView::remove_last() {
  State& s = *state_;
  if (!s.added.empty())
    s.added.pop_back();
  else
    s.session.runs().unpin();
  refresh();
}

void CompareView::refresh() {
  State& s = *state_;
  s.shown = std::make_shared<const ComparedEntries>(
      s.source.compare(s.session, s.added, std::max<std::size_t>(1, s.chosen)));
  const bool full = s.shown->entries.size() >= kMostCompared;
  s.add->setEnabled(!full && !s.predicting);
  s.add->setToolTip(full ? tr("Four columns are the most: remove one first.") : QString());
  const PlanSearch& search = PlanSearch::of(s.session);
  refresh_whose(*s.whose, search);
  s.less->setVisible(!s.added.empty() || s.session.runs().pinned());
  s.less->setText(s.added.empty() ? tr("Remove the pin") : tr("Remove the last"));
  place_parts();
  tell_shown();
  canvas().update();
  if (isVisible()) describe_selected();
  Q_EMIT quantities_changed();
}

void CompareView::place_parts() {
  State& s = *state_;
  const int width = canvas_width();
  for (QPushButton* button : {s.add, s.less, s.whose})
    button->resize(button->sizeHint().width(), kCompareButton);
  const double tall = compare_height(width, s.picture(), theme_for(palette()));
  set_height(tall);
  int right = width - 16;
  for (QPushButton* button : {s.add, s.less, s.whose}) {
    if (button->isHidden()) continue;
    right -= button->width();
    button->move(right, 10);
    right -= 8;
  }
}

void CompareView::paint(QPainter& painter) {
  State& s = *state_;
  s.hits = {};
  paint_compare(painter, canvas().width(), s.picture(), theme_for(palette()), &s.hits, nullptr);
}

void CompareView::choose(std::size_t column) {
  if (column < 1 || column >= state_->shown->entries.size()) return;
  state_->chosen = column;
  refresh();
}

void CompareView::press(QPointF at) {
  State& s = *state_;
  for (const auto& [rect, column] : s.hits.columns)
    if (rect.contains(at)) return choose(column);
  if (!s.hits.lanes.contains(at)) return;
  const auto hit = hit_at(s.shown->lanes, s.hits.layout, at - s.hits.lanes.topLeft(), 0);
  s.followed = hit ? action_at(s.shown->lanes, *hit) : std::nullopt;
  canvas().update();
  describe_selected();
}

bool CompareView::press_key(int key) {
  State& s = *state_;
  if (key == Qt::Key_Left || key == Qt::Key_Right) {
    choose(key == Qt::Key_Left ? s.shown->chosen - 1 : s.shown->chosen + 1);
    return true;
  }
  if (key != Qt::Key_Escape || !s.followed) return false;
  s.followed.reset();
  canvas().update();
  describe_selected();
  return true;
}

bool CompareView::show_tip(QPointF at, QPoint global) {
  State& s = *state_;
  QToolTip::hideText();
  for (const auto& [cell, why] : s.hits.reasons)
    if (cell.contains(at)) {
      QToolTip::showText(global, why, &canvas());
      return true;
    }
  if (!s.hits.lanes.contains(at)) return true;
  const auto hit = hit_at(s.shown->lanes, s.hits.layout, at - s.hits.lanes.topLeft(), 0);
  if (!hit || hit->bar < 0) return true;
  const LaneRows& rows = *s.shown->lanes.lanes[std::size_t(hit->lane)].rows;
  const Row& row = rows.rows[std::size_t(hit->row)];
  const Bar& bar = row.lane(hit->which, hit->zoom).bars[std::size_t(hit->bar)];
  QString text = QStringLiteral("%1 · %2").arg(letter_of(std::size_t(hit->lane)),
                                               bar_sentence(rows.program(), row.rank_index, bar));
  if (!s.shown->lanes.hides.times)
    text += QLatin1Char('\n') +
            tr("begins at %1, takes %2")
                .arg(time_text(bar.span.begin), time_text(bar.span.end - bar.span.begin));
  QToolTip::showText(global, text, &canvas());
  return true;
}

// Where the followed action is in each column, and how much later than in A.
void CompareView::describe_selected() {
  const State& s = *state_;
  SelectionText text;
  const Bar* first = nullptr;  // in A
  for (std::size_t at = 0; s.followed && at < s.shown->lanes.lanes.size(); ++at) {
    const PictureLane& lane = s.shown->lanes.lanes[at];
    int rank = 0;
    const Bar* bar = bar_of(lane, *s.followed, &rank);
    if (at == 0) first = bar;
    if (bar && text.headline.isEmpty())
      text.headline = bar_sentence(lane.rows->program(), rank, *bar);
    const QString when =
        s.shown->lanes.hides.times ? kHidden
        : bar                      ? tr("begins at %1, takes %2")
                    .arg(time_text(bar->span.begin), time_text(bar->span.end - bar->span.begin))
              : tr("has no such action");
    text.facts.push_back({letter_of(at), when});
    if (at > 0 && bar && first)
      text.facts.push_back({tr("begin, %1 − A").arg(letter_of(at)),
                            later_text(*s.shown, at, bar->span.begin - first->span.begin)});
  }
  Q_EMIT described(text);
}

}  // namespace parallelarium
