// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of the Experts view and what they change.
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/experts/experts_state.h"

namespace parallelarium {
namespace {

constexpr int kMargin = 16, kGap = 14, kRow = 36, kSkewSteps = 100;

}  // namespace

void ExpertsView::change(const QString& what, const std::function<void(Setup&)>& edit) {
  Setup next = state_->session.setup();
  edit(next);
  state_->session.history().change(next, what);
  refresh_controls();
}

void ExpertsView::build_controls() {
  state_->head = new QWidget(this);
  build_choice_controls();
  build_step_controls();
  build_setting_controls();
}

// Which layer, micro-batch and group are shown.
void ExpertsView::build_choice_controls() {
  State& s = *state_;
  // A number that the view itself keeps.
  const auto number = [&](const QString& name, int ExpertChoice::*member) {
    auto* box = new StepBox(
        name,
        [this, member](int direction) {
          const Setup& setup = state_->session.subject().prediction()->setup;
          if (setup.model.experts.count == 0) return QString();
          ExpertChoice next = state_->choice;
          next.*member += direction;
          return valid_choice(setup, next) == next ? QString::number(next.*member) : QString();
        },
        s.head);
    connect(box, &StepBox::committed, this, [this, member](const QString& text) {
      bool good = false;
      const int value = text.trimmed().toInt(&good);
      ExpertChoice next = state_->choice;
      if (good) next.*member = std::max(0, value);
      choose(next);
    });
    return box;
  };
  s.layer = number(tr("Layer"), &ExpertChoice::layer);
  s.layer_label = make_label(tr("Layer"), s.layer);
  s.microbatch = number(tr("Micro-batch"), &ExpertChoice::microbatch);
  s.microbatch_label = make_label(tr("Micro-batch"), s.microbatch);
  s.group = number(tr("EP group"), &ExpertChoice::group);
  s.group_label = make_label(tr("EP group"), s.group);
}

// Whose counts are shown: the prediction's, or those of a step of the run.
void ExpertsView::build_step_controls() {
  State& s = *state_;
  s.counts = new Segments(tr("Whose counts are drawn"),
                          {{QStringLiteral("run"), tr("run"), tr("What the run counted")},
                           {QStringLiteral("predicted"), tr("predicted"),
                            tr("What the prediction assumes: even but for the skew")}},
                          s.head);
  connect(s.counts, &Segments::chosen, this, [this](const QString& value) {
    ExpertChoice next = state_->choice;
    next.predicted = value == QLatin1String("predicted");
    choose(next);
  });
  s.counts_label = make_label(tr("Counts"), s.counts);
  s.step = new StepBox(
      tr("Training step of the run"),
      [this](int direction) {
        const ExpertPicture now = picture();
        const int next = now.step + direction;
        return next >= 0 && next < now.steps ? QString::number(next + 1) : QString();
      },
      s.head);
  connect(s.step, &StepBox::committed, this, [this](const QString& text) {
    bool good = false;
    const int value = text.trimmed().toInt(&good);
    ExpertChoice next = state_->choice;
    if (good) next.step = std::max(0, value - 1);
    choose(next);
  });
  s.step->setToolTip(tr("[ and ] in the picture go to the step before and the next"));
  s.step_label = make_label(tr("Training step"), s.step);
  s.step_value = make_label(QString(), s.step);
}

void ExpertsView::build_setting_controls() {
  State& s = *state_;
  s.placement = new Segments(
      tr("Placement of the experts"),
      {{QStringLiteral("blocked"), tr("neighbours"), tr("A rank holds neighbours: 0 1, 2 3, ...")},
       {QStringLiteral("round-robin"), tr("in turn"),
        tr("Ranks take turns: 0 and 4, 1 and 5, ...")}},
      s.head);
  connect(s.placement, &Segments::chosen, this, [this](const QString& value) {
    change(tr("Placement of the experts"), [&](Setup& setup) {
      setup.expert_placement = value == QLatin1String("blocked") ? ExpertPlacement::kBlocked
                                                                 : ExpertPlacement::kRoundRobin;
    });
  });
  s.placement_label = make_label(tr("Placement"), s.placement);
  s.skew = new QSlider(Qt::Horizontal, s.head);
  s.skew->setRange(0, kSkewSteps);
  s.skew->setPageStep(10);
  s.skew->setAccessibleName(tr("Skew: share of the tokens that is sent to expert 0 on purpose"));
  s.skew->setToolTip(s.skew->accessibleName());
  connect(s.skew, &QSlider::valueChanged, this, [this](int value) {
    change(tr("Skew"), [&](Setup& setup) { setup.skew = double(value) / kSkewSteps; });
  });
  s.skew_label = make_label(tr("Skew"), s.skew);
  s.skew_value = make_label(QString(), s.skew);
}

void ExpertsView::refresh_controls() {
  State& s = *state_;
  const Setup& setup = s.session.setup();
  const bool experts = setup.model.experts.count > 0;
  s.head->setVisible(experts);
  s.layer->set_text(QString::number(std::max(0, s.choice.layer)));
  s.microbatch->set_text(QString::number(s.choice.microbatch));
  s.group->set_text(QString::number(s.choice.group));
  const bool groups = experts && setup.mesh.expert_groups() > 1;
  s.group->setVisible(groups);
  s.group_label->setVisible(groups);
  s.placement->set_value(setup.expert_placement == ExpertPlacement::kBlocked
                             ? QStringLiteral("blocked")
                             : QStringLiteral("round-robin"));
  const ExpertPicture now = picture();
  for (QWidget* part : {static_cast<QWidget*>(s.counts), static_cast<QWidget*>(s.counts_label)})
    part->setVisible(now.counted != nullptr);
  s.counts->set_value(now.prefers_predicted ? QStringLiteral("predicted") : QStringLiteral("run"));
  for (QWidget* part : {static_cast<QWidget*>(s.step), static_cast<QWidget*>(s.step_label),
                        static_cast<QWidget*>(s.step_value)})
    part->setVisible(now.shows_run() && now.steps > 1);
  s.step->set_text(QString::number(now.step + 1));
  s.step_value->setText(tr("of %1").arg(now.steps));
  s.placement->setVisible(setup.mesh.ep > 1);
  s.placement_label->setVisible(setup.mesh.ep > 1);
  s.placement->setEnabled(s.session.locks().allowed(QStringLiteral("expert-placement")));
  s.skew->setEnabled(s.session.locks().allowed(QStringLiteral("skew")));
  const QSignalBlocker blocker(s.skew);
  s.skew->setValue(int(std::lround(setup.skew * kSkewSteps)));
  s.skew_value->setText(setup.skew <= 0   ? tr("even")
                        : setup.skew >= 1 ? tr("one hot expert")
                                          : share_text(setup.skew));
  // A dense model: a model with experts that runs here is one click away.
  const bool dense = s.why_none.has_value() && !no_valid_experts(s.session);
  s.models->setVisible(dense);
  while (QLayoutItem* item = s.models_row->takeAt(0)) {
    if (QWidget* old = item->widget()) {
      old->hide();  // it is deleted a moment later
      old->deleteLater();
    }
    delete item;
  }
  if (!dense) return;
  if (!s.why_none->alternatives.empty()) {
    const std::string value = s.why_none->alternatives.front();
    auto* button = new QToolButton(s.models);
    button->setText(tr("Choose %1").arg(QString::fromStdString(value)));
    button->setEnabled(s.session.locks().allowed(QString::fromStdString(s.why_none->field)));
    connect(button, &QToolButton::clicked, this, [this, field = s.why_none->field, value] {
      change(tr("Model %1").arg(QString::fromStdString(value)), [&](Setup& next) {
        const Result<void> set = set_field(next, field, value);
        Q_ASSERT(set.ok());
      });
    });
    s.models_row->addWidget(button);
    button->show();
  }
}

// Head, and below it the picture as high as it needs.
void ExpertsView::place_parts() {
  State& s = *state_;
  struct Unit {
    QLabel* label;
    QWidget* control;
    int width;
    QLabel* value;  // behind the control, or null
    int value_width;
  };
  const Unit units[] = {
      {s.layer_label, s.layer, 86, nullptr, 0},
      {s.microbatch_label, s.microbatch, 86, nullptr, 0},
      {s.group_label, s.group, 86, nullptr, 0},
      {s.placement_label, s.placement, s.placement->sizeHint().width(), nullptr, 0},
      {s.skew_label, s.skew, 130, s.skew_value, 110},
      {s.counts_label, s.counts, s.counts->sizeHint().width(), nullptr, 0},
      {s.step_label, s.step, 86, s.step_value, 60}};
  int x = kMargin, y = 8;
  for (const Unit& unit : units) {
    if (!unit.control->isVisibleTo(s.head)) continue;
    const int words = unit.label->sizeHint().width() + 6;
    const int behind = unit.value ? unit.value_width : 0;
    if (x > kMargin && x + words + unit.width + behind > width() - kMargin) x = kMargin, y += kRow;
    unit.label->setGeometry(x, y, words - 6, 30);
    const int height = unit.control->minimumHeight() > 0 ? unit.control->minimumHeight() : 30;
    unit.control->setGeometry(x + words, y + (30 - height) / 2, unit.width, height);
    if (unit.value) unit.value->setGeometry(x + words + unit.width + 8, y, behind - 8, 30);
    x += words + unit.width + behind + kGap;
  }
  y += kRow + 2;
  s.head->setGeometry(0, 0, width(), y);
  if (!s.head->isVisibleTo(this)) y = 0;
  const QRect below(0, y, width(), std::max(60, height() - y));
  s.scroll->setGeometry(below);
  const int inner = below.width() - 2;
  const int wanted = int(std::ceil(expert_height(picture(), inner)));
  const bool scrolls = wanted > below.height();
  s.canvas->resize(inner - (scrolls ? 10 : 0), std::max(wanted, below.height()));
  const int buttons = s.models->sizeHint().width();
  s.models->setGeometry((s.canvas->width() - buttons) / 2, 72, buttons, 32);
}

}  // namespace parallelarium
