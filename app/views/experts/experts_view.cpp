// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/experts/experts_view.h"

#include <QAccessible>
#include <QPainter>
#include <algorithm>

#include "app/look/sentence.h"
#include "app/state/step/training_step.h"
#include "app/views/experts/experts_state.h"
#include "app/views/shared/paint/canvas.h"

namespace parallelarium {
namespace {

// Scores that are computed at once; more are computed on a thread.
constexpr double kMostAtOnce = 2e6;

double scores_of(const Setup& setup) {
  const double tokens = double(setup.micro_batch) * double(setup.model.sequence) / setup.mesh.cp;
  return tokens * setup.model.experts.count * setup.mesh.ep;
}

QString without_experts(const Model& model) {
  return ExpertsView::tr("%1 has no experts: all tokens take the same way.")
      .arg(sentence(title_of(model)));
}

ViewPicture exported_routing(const Session& session, const PictureStyle& style,
                             ExpertChoice choice) {
  return {expert_picture_size(session, choice),
          [&session, dark = style.dark, choice](QPainter& painter, QSizeF size, TextLog* texts) {
            paint_expert_picture(painter, size, session, dark, choice, texts);
          }};
}

}  // namespace

ExpertsView::ExpertsView(Session& session, QWidget* parent)
    : View(session, parent), state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Experts"));
  setObjectName(QStringLiteral("ExpertsView"));
  s.worker.setMaxThreadCount(1);
  const Canvas made = make_canvas(*this, tr("Picture of the routing"));
  s.scroll = made.scroll;
  s.canvas = made.canvas;
  s.models = new QWidget(s.canvas);
  s.models_row = new QHBoxLayout(s.models);
  s.models_row->setContentsMargins(0, 0, 0, 0);
  build_controls();
  const auto again = [this] {
    if (isVisible()) refresh();
  };
  connect(&session, &Session::prediction_changed, this, again);
  connect(&session, &Session::setup_changed, this, again);
  connect(&session, &Session::run_changed, this, again);
  connect(&session, &Session::run_state_changed, this, again);
  for (const auto signal : {&LessonLocks::hidden_changed, &LessonLocks::allowed_changed})
    connect(&session.locks(), signal, this, again);
  connect(&session, &Session::restored, this, again);
  for (const auto signal :
       {&Playback::playhead_changed, &Playback::playing_changed, &Playback::motion_changed})
    connect(&session.playback(), signal, this, [this] {
      if (!isVisible()) return;
      if (!state_->session.playback().playing()) tell_shown();
      state_->canvas->update();
    });
  setFocusProxy(s.canvas);
}

ExpertsView::~ExpertsView() {
  state_->canvas->removeEventFilter(this);
  state_->worker.waitForDone();
}

ViewInfo ExpertsView::info() {
  return {.id = "experts",
          .room = Room::kExplore,
          .title = [] { return tr("Experts"); },
          .command = [] { return tr("E&xperts view"); },
          .menu = nullptr,
          .question = [] { return tr("Which expert gets the token"); },
          .about =
              [] {
                return tr(
                    "Every token chooses some **experts**, and they lie on different ranks: bars "
                    "show how many rows each gets. All wait for the rank that ends "
                    "last. Skew, capacity and balancing change that; after a run the counts are "
                    "those of the router that was trained.");
              },
          .selects =
              [] {
                return tr(
                    "Click an expert or a cell of the matrix to see how many tokens it gets, and "
                    "from whom.");
              },
          .formula = "traffic.sent_bytes",
          .file = "experts",
          .shows_range = false,
          .why_not =
              [](const Session& session) {
                const Model& model = session.subject().prediction()->setup.model;
                return model.experts.count > 0 ? QString() : without_experts(model);
              },
          .topic = [](Session& session) -> Topic& { return session.training_step(); },
          .picture = [](const Session& session,
                        const PictureStyle& style) { return exported_routing(session, style, {}); },
          .make = [](Session& session, QWidget* parent) -> View* {
            return new ExpertsView(session, parent);
          }};
}

std::vector<Quantity> ExpertsView::quantities() const {
  return expert_quantities(state_->session, picture());
}

QString ExpertsView::origin(const QString& quantity) const {
  if (quantity == QLatin1String("layer.seconds"))
    return tr(
        "From the simulated timeline: from the first op of the layer's forward to its last, over "
        "all ranks.");
  if (quantity == QLatin1String("experts.fullest"))
    return tr(
        "Choices that the fullest rank's experts take, over the mean of the ranks: 1 is even.");
  if (quantity == QLatin1String("experts.dispatched_bytes"))
    return tr("Choices whose expert is on another rank, times the bytes of a token's activations.");
  if (quantity == QLatin1String("experts.dropped"))
    return tr(
        "Choices above an expert's capacity, over all choices; without a capacity none is "
        "dropped.");
  return View::origin(quantity);
}

ViewPicture ExpertsView::exported(const PictureStyle& style) const {
  return exported_routing(state_->session, style, state_->choice);
}

QWidget& ExpertsView::canvas() { return *state_->canvas; }
ExpertChoice ExpertsView::choice() const { return state_->choice; }

void ExpertsView::choose(ExpertChoice choice) {
  state_->choice = choice;
  refresh();
  Q_EMIT quantities_changed();
}

ExpertPicture ExpertsView::picture() const {
  const State& s = *state_;
  ExpertPicture picture;
  picture.routed = s.routed;
  picture.empty = no_valid_experts(s.session)
                      ? tr("These settings are not valid: there is no routing to show yet.")
                  : s.why_none ? without_experts(s.session.subject().prediction()->setup.model)
                               : tr("Routing the tokens");
  add_run(picture, s.session, s.choice);
  picture.curves = s.curves;
  picture.plot_cache = s.plot_cache;
  picture.selected = s.selected;
  return picture;
}

ExpertLayout ExpertsView::layout_now() const {
  return expert_layout(picture(), state_->canvas->size());
}

// The routing of what is predicted; a large one is computed on a thread.
void ExpertsView::refresh_routing() {
  State& s = *state_;
  const Setup& setup = s.session.subject().prediction()->setup;
  if (setup.model.experts.count > 0) s.choice = valid_choice(setup, s.choice);
  const bool same = s.routed_choice.layer == s.choice.layer &&
                    s.routed_choice.microbatch == s.choice.microbatch &&
                    s.routed_choice.group == s.choice.group;
  if (s.computing || (s.known && s.routed_of == setup && same)) return;
  s.routed_of = setup;
  s.routed_choice = s.choice;
  if (scores_of(setup) <= kMostAtOnce) return take_routing(routed(setup, s.choice));
  s.computing = true;
  s.known = false;
  s.routed.reset();
  s.why_none.reset();
  s.worker.start([this, setup, choice = s.choice] {
    auto made = std::make_shared<Result<RoutedLayer>>(routed(setup, choice));
    QMetaObject::invokeMethod(
        this,
        [this, made] {
          state_->computing = false;
          take_routing(std::move(*made));
          if (isVisible()) refresh();  // and asks again if the choice moved on meanwhile
        },
        Qt::QueuedConnection);
  });
}

void ExpertsView::take_routing(Result<RoutedLayer> made) {
  State& s = *state_;
  s.known = true;
  s.selected = {};
  s.routed.reset();
  s.why_none.reset();
  if (made)
    s.routed = std::make_shared<const RoutedLayer>(std::move(*made));
  else
    s.why_none = made.error();
  Q_EMIT quantities_changed();
}

void ExpertsView::wait() {
  State& s = *state_;
  s.worker.waitForDone();
  const Setup& setup = s.session.subject().prediction()->setup;
  if (setup.model.experts.count > 0) s.choice = valid_choice(setup, s.choice);
  s.routed_of = setup;
  s.routed_choice = s.choice;
  s.computing = false;
  take_routing(routed(setup, s.choice));
  refresh();
}

void ExpertsView::refresh() {
  State& s = *state_;
  refresh_routing();
  s.curves = s.routed ? balance_curves(s.session, s.choice) : nullptr;
  s.plot_cache->key.clear();
  refresh_controls();
  const ExpertPicture now = picture();
  const LayerTimes* times = now.hidden ? nullptr : now.shown();
  s.session.playback().set_played(
      times && isVisible() ? std::optional(TimeRange{times->window.begin, times->window.end})
                           : std::nullopt);
  place_parts();
  tell_shown();
  retell();
  s.canvas->update();
}

QString ExpertsView::description() const { return expert_sentence(picture()); }

void ExpertsView::paint_canvas() {
  State& s = *state_;
  QPainter painter(s.canvas);
  const Theme& theme = theme_for(palette());
  painter.fillRect(s.canvas->rect(), theme.surface);
  const ExpertPicture picture = this->picture();
  const ExpertLayout layout = expert_layout(picture, s.canvas->size());
  paint_experts(painter, picture, layout, theme, nullptr);
  if (!s.canvas->hasFocus()) return;
  painter.setPen(QPen(theme.accent_line, 1, Qt::DotLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(4, 2, layout.size.width() - 8, layout.size.height() - 6));
}

void ExpertsView::select(ExpertRef ref) {
  State& s = *state_;
  s.selected = ref;
  s.canvas->update();
  Q_EMIT described(chosen_text());
}

SelectionText ExpertsView::chosen_text() const {
  const ExpertPicture picture = this->picture();
  const bool tells = picture.drawn() && !picture.hidden;
  return tells ? describe_expert(*picture.drawn(), state_->selected) : SelectionText();
}

void ExpertsView::retell() { Q_EMIT retold(chosen_text()); }

void ExpertsView::resizeEvent(QResizeEvent*) { place_parts(); }

void ExpertsView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refresh();
}

void ExpertsView::hideEvent(QHideEvent* event) {
  View::hideEvent(event);
  state_->session.playback().set_played(std::nullopt);
}

void ExpertsView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
    if (state_->canvas && isVisible()) refresh();
}

}  // namespace parallelarium
