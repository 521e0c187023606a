// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of the Layer view and what they change.
#include <QPointer>
#include <algorithm>
#include <cmath>

#include "app/look/sentence.h"
#include "app/settings/setup_fields.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/layer_state.h"

namespace parallelarium {
namespace {

constexpr int kMargin = 16, kGap = 8, kRow = 36, kNumber = 72;

Setup with_fields(Setup setup, const std::vector<std::pair<std::string, std::string>>& fields) {
  const Result<void> set = set_fields(setup, fields);
  Q_ASSERT(set.ok());
  return setup;
}

// Into as few ranks as can share what the model has.
Setup with_tensor_parallel(const Setup& setup, const Prediction&) {
  return with_fields(setup, {{"tp", next_valid(setup, "tp", 1).toStdString()}});
}

// A ring or an all-gather works through keys block by block, as fused attention does.
Setup with_context_parallel(const Setup& setup, const Prediction& now) {
  const bool by_blocks = setup.context_parallel == ContextParallel::kRing ||
                         setup.context_parallel == ContextParallel::kAllGather;
  if (by_blocks && now.setup.attention != Attention::kFused)
    return with_fields(setup, {{"cp", "4"}, {"attention", "fused"}});
  return with_fields(setup, {{"cp", "4"}});
}

}  // namespace

void LayerView::change_look(const std::function<void(LayerLook&)>& change) {
  LayerLook next = state_->look;
  change(next);
  show_look(next);
}

void LayerView::build_controls() {
  State& s = *state_;
  s.head = new QWidget(this);
  build_part();
  s.layer = make_step_box(tr("Layer"), &LayerChoice::layer);
  s.layer_label = make_label(tr("Layer"), s.layer);
  s.microbatch = make_step_box(tr("Micro-batch"), &LayerChoice::microbatch);
  s.microbatch_label = make_label(tr("Micro-batch"), s.microbatch);
  build_direction();
  build_shown();
  build_split();
  build_inside();
  build_offers();
}

StepBox* LayerView::make_step_box(const QString& name, int LayerChoice::*member) {
  auto* box = new StepBox(
      name,
      [this, member](int direction) {
        LayerChoice next = state_->look.choice;
        next.*member += direction;
        return valid_layer_choice(state_->session.subject().prediction()->setup, next) == next
                   ? QString::number(next.*member)
                   : QString();
      },
      state_->head);
  connect(box, &StepBox::committed, this, [this, member](const QString& text) {
    bool good = false;
    const int value = text.trimmed().toInt(&good);
    change_look([&](LayerLook& next) {
      if (good) next.choice.*member = value;
    });
  });
  return box;
}

// Embedding, one of the layers, or head and loss.
void LayerView::build_part() {
  State& s = *state_;
  s.part = new Segments(
      tr("Part of the model"),
      {{QStringLiteral("embedding"), tr("embedding"), tr("Tokens become rows of a table")},
       {QStringLiteral("layer"), tr("layer"), tr("One of the layers")},
       {QStringLiteral("head"), tr("head"), tr("Logits of all words, and the loss")}},
      s.head);
  connect(s.part, &Segments::chosen, this, [this](const QString& value) {
    change_look([&](LayerLook& next) {
      next.choice.place = value == QLatin1String("embedding") ? LayerPlace::kEmbedding
                          : value == QLatin1String("head")    ? LayerPlace::kHead
                                                              : LayerPlace::kLayer;
      next.step = -1;
    });
  });
}

void LayerView::build_direction() {
  State& s = *state_;
  s.direction = new Segments(
      tr("Direction"),
      {{QStringLiteral("forward"), tr("forward"), tr("The forward")},
       {QStringLiteral("backward"), tr("backward"), tr("The backward, drawn from right to left")}},
      s.head);
  connect(s.direction, &Segments::chosen, this, [this](const QString& value) {
    change_look([&](LayerLook& next) {
      next.choice.backward = value == QLatin1String("backward");
      next.step = -1;
    });
  });
}

// What of the layer is drawn, and whether figures stand beside it.
void LayerView::build_shown() {
  State& s = *state_;
  s.shown = new Segments(tr("What is shown"),
                         {{QStringLiteral("context"), tr("context parallel"),
                           tr("Who computes which scores, and what travels")},
                          {QStringLiteral("pieces"), tr("all pieces"),
                           tr("Every piece of the layer with its tensors")}},
                         s.head);
  connect(s.shown, &Segments::chosen, this, [this](const QString& value) {
    change_look([&](LayerLook& next) { next.context = value == QLatin1String("context"); });
  });
  s.figures = new QCheckBox(tr("Figures"), s.head);
  s.figures->setToolTip(tr("FLOP and FLOP per byte of every piece too"));
  connect(s.figures, &QCheckBox::toggled, this, [this](bool on) {
    if (state_->look.figures != on) change_look([on](LayerLook& next) { next.figures = on; });
  });
}

// How CP cuts a sequence. Unlike the other controls it changes the setting.
void LayerView::build_split() {
  State& s = *state_;
  s.split = new Segments(
      tr("How CP cuts a sequence"),
      {{QStringLiteral("contiguous"), tr("contiguous"),
        tr("A rank has one run of tokens; late ones see more keys, so the last rank works "
           "longest")},
       {QStringLiteral("zigzag"), tr("zigzag"),
        tr("A rank has a run from the front and one from the back, so that all work alike")}},
      s.head);
  s.split->setObjectName(QStringLiteral("ContextSplit"));
  connect(s.split, &Segments::chosen, this, [this](const QString& value) {
    Setup next = state_->session.setup();
    const Result<void> set = set_field(next, "cp-split", value.toStdString());
    Q_ASSERT(set.ok());
    state_->session.history().change(
        next, value == QLatin1String("zigzag") ? tr("zigzag") : tr("contiguous"));
  });
}

void LayerView::build_inside() {
  State& s = *state_;
  s.inside = new QToolButton(s.head);
  s.inside->setText(tr("Look inside"));
  s.inside->setObjectName(QStringLiteral("LookInside"));
  connect(s.inside, &QToolButton::clicked, this, [this] {
    State& now = *state_;
    if (!now.steps || now.session.jobs().state() != RunState::kIdle) return;
    look_inside(now.session, *now.steps,
                [view = QPointer<LayerView>(this)](std::shared_ptr<const LayerInside> inside) {
                  if (!view) return;
                  // The ring has no place for numbers: they stand in the pieces.
                  view->change_look([&](LayerLook& next) {
                    next.inside = inside;
                    next.context = false;
                  });
                  view->show_done_steps();
                  // Beside the button nobody would hear that the run ended.
                  view->state_->tells_inside = true;
                  Q_EMIT view->described(view->chosen_text());
                });
  });
}

// Before the first step nothing has a number yet: then the moment after the last one is shown.
void LayerView::show_done_steps() {
  const LayerPicture now = picture();
  const LayerSpans* times = now.shown();
  if (times && now.playhead <= now.window_of(*times).begin)
    state_->session.playback().set_playhead(now.window_of(*times).end);
}

// What a run has just established, as long as its numbers are of what is shown; else the step that
// is chosen.
SelectionText LayerView::chosen_text() const {
  const LayerPicture now = picture();
  if (!state_->tells_inside || !now.drawn() || !now.look.inside)
    return describe_layer_step(now, now.look.step, now.look.rank);
  SelectionText text{tr("Looked inside: the numbers of a run are shown"), {}};
  for (const InsideIdentity& identity : now.look.inside->identities) {
    const QString title = layer_step_title(now, identity.step);
    const bool letter = !now.layer->steps[std::size_t(identity.step)].symbol.empty();
    text.facts.push_back(
        {(letter ? title : capitalised(title)) + QLatin1Char(':'), identity.sentence});
  }
  return text;
}

// Where nothing is split: settings with which something is.
void LayerView::build_offers() {
  State& s = *state_;
  const auto offer = [&](Setup (*with)(const Setup&, const Prediction&)) {
    auto* button = new QToolButton(s.canvas);
    connect(button, &QToolButton::clicked, this, [this, button, with] {
      Session& session = state_->session;
      session.history().change(with(session.setup(), *session.subject().prediction()),
                               button->text());
    });
    return button;
  };
  s.tensor = offer(with_tensor_parallel);
  s.context = offer(with_context_parallel);
  s.context->setText(tr("Cut the tokens: CP 4"));
  s.context->setToolTip(tr("With fused attention, where the exchange needs it"));
}

// Offers are of what is valid and can run, unless nothing of this Setup can run.
void LayerView::refresh_offers() {
  State& s = *state_;
  const LessonLocks& locks = s.session.locks();
  const Prediction& prediction = *s.session.subject().prediction();
  const Mesh& mesh = prediction.setup.mesh;
  const bool layer = s.look.choice.place == LayerPlace::kLayer,
             whole = mesh.tp == 1 && mesh.cp == 1 && s.steps->ranks.size() <= 1;
  const Setup context = with_context_parallel(prediction.setup, prediction);
  const QString degree = next_valid(s.session.setup(), "tp", 1);
  s.tensor->setText(
      (layer ? tr("Cut the matrices: TP %1") : tr("Cut the vocabulary: TP %1")).arg(degree));
  s.tensor->setVisible((layer ? whole : mesh.tp == 1) && !degree.isEmpty());
  s.context->setVisible(layer && whole && validate(context).empty() &&
                        (can_execute(context).ok() || !can_execute(prediction.setup).ok()));
  s.tensor->setEnabled(locks.allowed(QStringLiteral("mesh.tp")));
  s.context->setEnabled(locks.allowed(QStringLiteral("mesh.cp")) &&
                        (context.attention == prediction.setup.attention ||
                         locks.allowed(QStringLiteral("attention"))));
}

void LayerView::refresh_controls() {
  State& s = *state_;
  const LayerPlace part = s.look.choice.place;
  const bool layer = part == LayerPlace::kLayer;
  s.part->set_value(part == LayerPlace::kEmbedding ? QStringLiteral("embedding")
                    : layer                        ? QStringLiteral("layer")
                                                   : QStringLiteral("head"));
  s.layer->setVisible(layer);
  s.layer_label->setVisible(layer);
  s.layer->set_text(QString::number(s.look.choice.layer));
  s.microbatch->set_text(QString::number(s.look.choice.microbatch));
  s.direction->set_value(s.look.choice.backward ? QStringLiteral("backward")
                                                : QStringLiteral("forward"));
  const bool context = s.steps && s.steps->context.drawn();
  s.shown->setVisible(context);
  s.shown->set_value(s.look.context ? QStringLiteral("context") : QStringLiteral("pieces"));
  const bool by_tokens = context && s.look.context && !s.steps->context.by_heads;
  s.split->setVisible(by_tokens);
  s.split->set_value(s.session.setup().cp_split == ContextSplit::kZigzag
                         ? QStringLiteral("zigzag")
                         : QStringLiteral("contiguous"));
  s.split->setEnabled(s.session.locks().allowed(QStringLiteral("cp_split")));
  s.figures->setChecked(s.look.figures);
  s.figures->setVisible(!context || !s.look.context);
  const bool here = can_look_inside(s.session);
  s.inside->setVisible(s.steps && !s.steps->steps.empty());
  s.inside->setEnabled(here && s.session.problems().empty() &&
                       s.session.jobs().state() == RunState::kIdle);
  s.inside->setToolTip(here ? tr("Run one training step, and the same on one rank, and show the "
                                 "numbers of every piece, which Run does not copy")
                            : tr("Needs a run: choose this computer"));
  refresh_offers();
}

// Head, and below it the picture as high as it needs.
void LayerView::place_parts() {
  State& s = *state_;
  struct Unit {
    QWidget* label;
    QWidget* control;
    int width;
  };
  const Unit units[] = {{nullptr, s.part, s.part->sizeHint().width()},
                        {s.layer_label, s.layer, kNumber},
                        {s.microbatch_label, s.microbatch, kNumber},
                        {nullptr, s.direction, s.direction->sizeHint().width()},
                        {nullptr, s.shown, s.shown->sizeHint().width()},
                        {nullptr, s.split, s.split->sizeHint().width()},
                        {nullptr, s.figures, s.figures->sizeHint().width()},
                        {nullptr, s.inside, s.inside->sizeHint().width()}};
  int x = kMargin, y = 8;
  for (const Unit& unit : units) {
    if (unit.control->isHidden()) continue;
    const int words = unit.label ? unit.label->sizeHint().width() + 6 : 0;
    if (x > kMargin && x + words + unit.width > width() - kMargin) x = kMargin, y += kRow;
    if (unit.label) unit.label->setGeometry(x, y, words - 6, 30);
    const int height = unit.control->minimumHeight() > 0 ? unit.control->minimumHeight() : 30;
    unit.control->setGeometry(x + words, y + (30 - height) / 2, unit.width, height);
    x += words + unit.width + kGap;
  }
  y += kRow + 2;
  s.head->setGeometry(0, 0, width(), y);
  const QRect below(0, y, width(), std::max(60, height() - y));
  s.scroll->setGeometry(below);
  const Theme& theme = theme_for(palette());
  const LayerPicture now = picture();
  const auto needed = [&](int wide) {
    return int(std::ceil(layer_layout(now, QSizeF(wide, below.height()), theme, true).bottom));
  };
  int inner = below.width() - 2;
  if (needed(inner) > below.height()) inner -= 10;
  // Many narrow columns are scrolled; those that fit may miss it by a rounding.
  const double widest = layer_layout(now, QSizeF(inner, below.height()), theme, true).right;
  if (widest > inner + 1) inner = int(std::ceil(widest));
  s.canvas->resize(inner, std::max(needed(inner), below.height()));
  const int top = int(layer_layout(now, QSizeF(inner, below.height()), theme, true).top);
  int right = inner - kMargin;
  for (QToolButton* button : {s.context, s.tensor}) {
    if (button->isHidden()) continue;
    const QSize size = button->sizeHint();
    right -= size.width();
    button->setGeometry(right, top, size.width(), 32);
    right -= 8;
  }
}

}  // namespace parallelarium
