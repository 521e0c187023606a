// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/layer_view.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/look/scroll_hint.h"
#include "app/state/step/training_step.h"
#include "app/views/layer/layer_state.h"
#include "app/views/shared/paint/canvas.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/words/words.h"
#include "engine/predict/predicted_layer.h"

namespace parallelarium {
namespace {

constexpr int kWidth = 1100, kHeight = 620, kFooter = 48;

ViewPicture exported_layer(const Session& session, const PictureStyle& style, LayerLook look) {
  return {layer_picture_size(session, look),
          [&session, dark = style.dark, look](QPainter& painter, QSizeF size, TextLog* texts) {
            paint_layer_picture(painter, size, session, dark, look, texts);
          }};
}

// The part of resources/views.json: one half alone, context parallelism, or what stands before the
// first layer and behind the last. Always its forward: whoever comes from a lesson's backward would
// not find what the next part speaks of.
LayerLook with_part(LayerLook look, const QString& part) {
  const LayerPlace before = look.choice.place;
  if (look.choice.backward) look.step = -1;
  look.choice.backward = false;
  look.choice.place = part == QLatin1String("embedding") ? LayerPlace::kEmbedding
                      : part == QLatin1String("head")    ? LayerPlace::kHead
                                                         : LayerPlace::kLayer;
  if (look.choice.place != before) look.step = -1;
  if (look.choice.place != LayerPlace::kLayer) return look;
  const bool attention = part == QLatin1String("attention"), mlp = part == QLatin1String("mlp");
  look.context = !attention && !mlp;
  if (!look.context) look.attention_open = attention, look.mlp_open = mlp;
  return look;
}

}  // namespace

QSize layer_picture_size(const Session& session, LayerLook look) {
  const LayerPicture picture = layer_picture(session, look);
  const LayerLayout layout =
      layer_layout(picture, QSizeF(kWidth, kHeight - kFooter), light_theme());
  return {kWidth, kFooter + int(std::ceil(layout.bottom))};
}

void paint_layer_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                         LayerLook look, TextLog* texts) {
  const Theme& theme = dark ? dark_theme() : light_theme();
  const LayerPicture picture = layer_picture(session, look);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
  const QSizeF inner(size.width(), size.height() - kFooter);
  paint_layer(painter, picture, layer_layout(picture, inner, theme), theme, texts);
  const double y = size.height() - kFooter + 6;
  painter.fillRect(QRectF(16, y, size.width() - 32, 1), theme.hairline);
  const QFont small = theme.font(11);
  const QString maker = QObject::tr("Parallelarium");
  const double taken = QFontMetricsF(small).horizontalAdvance(maker) + 16;
  const Prediction& prediction = *session.subject().prediction();
  put_elided(painter, QRectF(16, y + 5, size.width() - 32, 16), Qt::AlignVCenter,
             setup_footer(prediction.setup), small, theme.muted, texts);
  put_elided(painter, QRectF(16, y + 21, size.width() - 32 - taken, 16), Qt::AlignVCenter,
             machine_footer(prediction), small, theme.muted, texts);
  put_text(painter, QRectF(16, y + 21, size.width() - 32, 16), Qt::AlignVCenter | Qt::AlignRight,
           maker, small, theme.muted, texts);
  painter.restore();
}

LayerView::LayerView(Session& session, QWidget* parent)
    : View(session, parent), state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Layer"));
  setObjectName(QStringLiteral("LayerView"));
  const Canvas made = make_canvas(*this, tr("Picture of the layer"));
  s.scroll = made.scroll;
  s.scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);  // many narrow columns
  s.canvas = made.canvas;
  add_scroll_hint(*s.scroll);
  build_controls();
  const auto again = [this] {
    if (isVisible()) refresh();
  };
  connect(&session, &Session::prediction_changed, this, again);
  connect(&session, &Session::setup_changed, this, again);
  connect(&session, &Session::run_changed, this, again);
  connect(&session, &Session::restored, this, [this, again] {
    state_->look.step = -1;
    again();
  });
  connect(&session, &Session::run_state_changed, this, [this] {
    if (isVisible()) refresh_controls();
  });
  for (const auto signal : {&LessonLocks::hidden_changed, &LessonLocks::allowed_changed})
    connect(&session.locks(), signal, this, again);
  connect(&session.subject(), &Subject::selection_changed, this, [this] {
    if (!isVisible()) return;
    follow_selection();
    state_->canvas->update();
  });
  for (const auto signal :
       {&Playback::playhead_changed, &Playback::playing_changed, &Playback::motion_changed})
    connect(&session.playback(), signal, this, [this] {
      if (!isVisible()) return;
      if (!state_->session.playback().playing()) tell_shown();
      state_->canvas->update();
    });
  setFocusProxy(s.canvas);
}

LayerView::~LayerView() { state_->canvas->removeEventFilter(this); }

ViewInfo LayerView::info() {
  return {.id = "layer",
          .room = Room::kExplore,
          .title = [] { return tr("Layer"); },
          .command = [] { return tr("L&ayer view"); },
          .menu = nullptr,
          .question = [] { return tr("What is cut, whole or added up"); },
          .about =
              [] {
                return tr(
                    "One layer on every rank that shares it: each block is a **shard**, a **copy** "
                    "or a **partial sum**, drawn to one scale. A bar across the ranks is a "
                    "collective, with the bytes that it sends. Play moves through the layer's "
                    "work; the figures switch adds FLOPs and bytes.");
              },
          .selects =
              [] {
                return tr(
                    "Click a piece to see what it computes, its shapes and how long it takes; "
                    "arrows walk over the pieces. Shift+Enter shows all of many ranks, or few.");
              },
          .formula = "traffic.sent_bytes",
          .file = "layer",
          .shows_range = false,
          .why_not = nullptr,
          .topic = [](Session& session) -> Topic& { return session.training_step(); },
          .picture =
              [](const Session& session, const PictureStyle& style) {
                LayerLook look = with_part({}, style.part);
                look.context_alone = style.part == QLatin1String("context");
                return exported_layer(session, style, look);
              },
          .make = [](Session& session, QWidget* parent) -> View* {
            return new LayerView(session, parent);
          }};
}

std::vector<Quantity> LayerView::quantities() const {
  return layer_quantities(state_->session, picture());
}

QString LayerView::origin(const QString& quantity) const {
  if (quantity == QLatin1String("layer.seconds"))
    return tr(
        "From the simulated timeline: from the first op of the layer in this direction to its "
        "last, over all ranks of the group.");
  if (quantity == QLatin1String("layer.sent_bytes"))
    return tr(
        "What the chosen rank sends in the collectives and exchanges of this layer. A run counts "
        "the bytes of each call.");
  if (quantity == QLatin1String("layer.kept_bytes"))
    return tr(
        "Activations that are held from the layer's forward until its backward reads them. A run "
        "counts those that were open when that forward had ended.");
  if (quantity == QLatin1String("layer.flops_per_second"))
    return tr(
        "FLOPs of the layer's pieces on the chosen rank over the time in which it computes them. A "
        "multiply-add counts as two. No run counts FLOPs.");
  return View::origin(quantity);
}

ViewPicture LayerView::exported(const PictureStyle& style) const {
  return exported_layer(state_->session, style, state_->look);
}

void LayerView::show_part(const QString& part) { show_look(with_part(state_->look, part)); }

QString LayerView::description() const { return layer_sentence(picture()); }

QString LayerView::moment() const { return layer_moment(picture()); }

void LayerView::retell() { Q_EMIT retold(chosen_text()); }

LayerPicture LayerView::picture() const {
  const State& s = *state_;
  const bool same =
      s.steps && s.of == s.session.subject().prediction() && s.steps->choice == s.look.choice;
  return layer_picture(s.session, s.look, same ? s.steps : nullptr);
}

LayerLayout LayerView::layout_now() const {
  return layer_layout(picture(), QSizeF(state_->canvas->width(), state_->scroll->height()),
                      theme_for(palette()), true);
}

QWidget& LayerView::canvas() { return *state_->canvas; }
LayerLook LayerView::look() const { return state_->look; }

void LayerView::show_look(LayerLook look) {
  state_->look = look;
  refresh();
  Q_EMIT quantities_changed();
}

namespace {

// Whether the step of that index is the same one of both; true: none is meant.
bool is_same_step(const LayerSteps& before, const LayerSteps& now, int step) {
  if (step < 0) return true;
  const auto at = std::size_t(step);
  if (at >= before.steps.size() || at >= now.steps.size()) return false;
  const LayerStep &was = before.steps[at], &is = now.steps[at];
  return was.kind == is.kind && was.attention == is.attention && was.piece == is.piece &&
         was.phase == is.phase && was.collective == is.collective && was.purpose == is.purpose &&
         was.block == is.block;
}

}  // namespace

// An op that was selected in another view: its layer and step.
void LayerView::follow_selection() {
  State& s = *state_;
  const OpRef op = s.session.subject().selected();
  if (!s.steps || op.rank < 0) return;
  for (std::size_t step = 0; step < s.steps->steps.size(); ++step)
    for (std::size_t rank = 0; rank < s.steps->ranks.size(); ++rank) {
      const LayerRankStep& part = s.steps->steps[step].ranks[rank];
      const bool here = s.steps->ranks[rank].built == op.rank && part.first_op >= 0 &&
                        op.op >= part.first_op && op.op <= part.last_op;
      // A built rank may stand for several.
      if (!here ||
          (s.look.step == int(step) && s.steps->ranks[std::size_t(s.look.rank)].built == op.rank))
        continue;
      s.look.step = int(step);
      s.look.rank = int(rank);
      return;
    }
}

void LayerView::refresh() {
  State& s = *state_;
  s.of = s.session.subject().prediction();
  s.look.choice = valid_layer_choice(s.of->setup, s.look.choice);
  const std::shared_ptr<const LayerSteps> before = s.steps;
  s.steps = std::make_shared<const LayerSteps>(predicted_layer(*s.of, s.look.choice));
  if (before && !is_same_step(*before, *s.steps, s.look.step)) s.look.step = -1;
  const LayerPicture now = picture();
  s.look = now.look;
  follow_selection();
  refresh_controls();
  const LayerSpans* times = now.shown();
  s.session.playback().set_played(
      times && isVisible()
          ? std::optional(TimeRange{now.window_of(*times).begin, now.window_of(*times).end})
          : std::nullopt);
  place_parts();
  tell_shown();
  retell();
  s.canvas->update();
}

void LayerView::paint_canvas() {
  State& s = *state_;
  QPainter painter(s.canvas);
  const Theme& theme = theme_for(palette());
  painter.fillRect(s.canvas->rect(), theme.surface);
  paint_layer(painter, picture(), layout_now(), theme, nullptr);
  if (!s.canvas->hasFocus()) return;
  painter.setPen(QPen(theme.accent_line, 1, Qt::DotLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(4, 2, s.canvas->width() - 8, s.canvas->height() - 6));
}

void LayerView::resizeEvent(QResizeEvent*) { place_parts(); }

void LayerView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refresh();
}

void LayerView::hideEvent(QHideEvent* event) {
  View::hideEvent(event);
  state_->session.playback().set_played(std::nullopt);
}

void LayerView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange)
    if (state_->canvas && isVisible()) refresh();
}

}  // namespace parallelarium
