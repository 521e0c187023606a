// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sweep/sweep_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QToolTip>
#include <algorithm>

#include "app/state/plan/setting_sweep.h"
#include "app/state/step/training_step.h"
#include "app/state/topic.h"
#include "app/views/shared/plan_words.h"
#include "app/views/shared/setup_words.h"
#include "app/views/shared/step_quantities.h"
#include "app/views/sweep/sweep_paint.h"
#include "app/views/sweep/sweep_words.h"

namespace parallelarium {

struct SweepView::State {
  explicit State(Session& of) : session(of) {}
  Session& session;
  SettingSweep* sweep = nullptr;
  QWidget* controls = nullptr;
  QComboBox *first = nullptr, *second = nullptr, *figure = nullptr;
  QLineEdit *first_values = nullptr, *second_values = nullptr;
  QCheckBox* keeps = nullptr;  // GPUs and batch
  QPushButton *go = nullptr, *use = nullptr, *whose = nullptr;
  bool filling = false;
  QString proposed = SweepWish().first_values;  // for the first setting, before a sweep
  SweepHits hits;
  SweepPicture picture() const;
};

namespace {

constexpr int kSweepPicture = 1000, kControlsHeight = 114, kFieldHigh = 28;

bool hides_figures(const Session& session) { return !session.locks().hidden_keys().isEmpty(); }

ViewPicture exported_sweep(const SweepPicture& picture, std::shared_ptr<const SweepAnswer> answer,
                           const PictureStyle& style) {
  const Theme& theme = style.dark ? dark_theme() : light_theme();
  SweepPicture shown = picture;
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

}  // namespace

SweepPicture SweepView::State::picture() const {
  SweepPicture picture;
  picture.answer = sweep->answer() ? &*sweep->answer() : nullptr;
  picture.wish = picture.answer ? picture.answer->wish : sweep->wish();
  picture.status = sweep_status(*sweep);
  if (picture.status.isEmpty() && PlanSearch::of(session).shows_plan())
    picture.status = whose_text(session);
  picture.failed = !sweep->error().isEmpty();
  picture.sweeping = sweep->sweeping();
  picture.hidden = hides_figures(session);
  picture.runs = sweep->runs();
  picture.selected = sweep->selected();
  picture.top = kControlsHeight;
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
          .picture =
              [](const Session& session, const PictureStyle& style) {
                SweepPicture picture;
                picture.hidden = hides_figures(session);
                return exported_sweep(picture, nullptr, style);
              },
          .make = [](Session& session, QWidget* parent) -> View* {
            return new SweepView(session, parent);
          },
          .plan = shown_plan};
}

SweepView::SweepView(Session& session, QWidget* parent)
    : CanvasView(session, tr("Picture of the sweep"), parent),
      state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Sweep"));
  s.sweep = new SettingSweep(session, this);
  build_controls();
  connect(s.sweep, &SettingSweep::changed, this, &SweepView::refresh);
  connect(&session.locks(), &LessonLocks::hidden_changed, this, &SweepView::refresh);
  fill_settings();
  refresh();
}

SweepView::~SweepView() = default;

SettingSweep& SweepView::sweep() const { return *state_->sweep; }

void SweepView::build_controls() {
  State& s = *state_;
  s.controls = new QWidget(&canvas());
  const auto combo = [&](const QString& name) {
    auto* box = new QComboBox(s.controls);
    box->setAccessibleName(name);
    box->setFixedHeight(kFieldHigh);
    box->setMinimumContentsLength(12);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    return box;
  };
  const auto field = [&](const QString& name) {
    auto* line = new QLineEdit(s.controls);
    line->setAccessibleName(name);
    line->setFixedHeight(kFieldHigh);
    line->setTextMargins(6, 0, 6, 0);
    line->setToolTip(tr("Values such as 1,2,4, or a range: 1..4 counts, 1..64*2 doubles"));
    return line;
  };
  s.first = combo(tr("The setting that varies"));
  s.first_values = field(tr("Its values"));
  s.second = combo(tr("A second setting, one line for each value"));
  s.second_values = field(tr("Values of the second setting"));
  s.figure = combo(tr("The figure that is shown"));
  for (const auto& [name, text] : sweep_figures()) s.figure->addItem(text, name);
  s.keeps = new QCheckBox(s.controls);
  s.keeps->setToolTip(
      tr("DP and micro-batches fill the GPUs and the batch of the base at every point, unless they "
         "vary themselves"));
  s.go = new QPushButton(s.controls);
  s.use = new QPushButton(tr("Use it"), s.controls);
  s.use->setToolTip(tr("Makes the selected point the setup"));
  s.whose = make_whose_button(PlanSearch::of(s.session), s.controls);
  for (QPushButton* button : {s.go, s.use, s.whose}) {
    button->setAutoDefault(true);
    button->setFixedHeight(kFieldHigh + 2);
  }
  place_controls(*new QGridLayout(s.controls));
  hear_controls();
}

void SweepView::place_controls(QGridLayout& grid) {
  State& s = *state_;
  grid.setContentsMargins(16, 8, 16, 4);
  grid.setHorizontalSpacing(8);
  grid.setVerticalSpacing(6);
  const auto label = [&](const QString& text) {
    auto* made = new QLabel(text, s.controls);
    made->setProperty("role", "muted");
    return made;
  };
  int column = 0;
  const auto put = [&](QWidget* widget, int stretch) {
    grid.addWidget(widget, 0, column);
    grid.setColumnStretch(column++, stretch);
  };
  put(label(tr("Vary")), 0);
  put(s.first, 2);
  put(s.first_values, 2);
  put(label(tr("and")), 0);
  put(s.second, 2);
  put(s.second_values, 2);
  grid.addWidget(label(tr("Show")), 1, 0);
  grid.addWidget(s.figure, 1, 1);
  grid.addWidget(s.whose, 1, 2);
  grid.addWidget(s.keeps, 2, 1, 1, 5);
  grid.addWidget(s.go, 1, 4);
  grid.addWidget(s.use, 1, 5);
}

void SweepView::hear_controls() {
  State& s = *state_;
  for (QComboBox* box : {s.first, s.second, s.figure})
    connect(box, &QComboBox::activated, this, [this, box] {
      State& s = *state_;
      if (box != s.figure)
        (box == s.first ? s.first_values : s.second_values)
            ->setText(box->currentData(Qt::UserRole + 1).toString());
      read_wish();
    });
  for (QLineEdit* line : {s.first_values, s.second_values}) {
    connect(line, &QLineEdit::textChanged, this, &SweepView::read_wish);
    connect(line, &QLineEdit::returnPressed, s.go, &QPushButton::click);
  }
  connect(s.keeps, &QCheckBox::toggled, this, &SweepView::read_wish);
  connect(s.go, &QPushButton::clicked, this, [this] {
    if (state_->sweep->sweeping())
      state_->sweep->cancel();
    else
      state_->sweep->start();
  });
  connect(s.use, &QPushButton::clicked, s.sweep, &SettingSweep::use);
}

// What can vary depends on what is set: experts need a model that has some.
void SweepView::fill_settings() {
  State& s = *state_;
  s.filling = true;
  SweepWish wish = s.sweep->wish();
  s.first->clear();
  s.second->clear();
  s.second->addItem(tr("nothing else"));
  const Setup base = s.sweep->base();
  for (const Sweepable& one : sweepable_settings(base, s.session.resolved(base)))
    for (QComboBox* box : {s.first, s.second}) {
      box->addItem(one.label, one.option);
      box->setItemData(box->count() - 1, one.values, Qt::UserRole + 1);
    }
  s.first->setCurrentIndex(std::max(0, s.first->findData(wish.first)));
  if (!s.sweep->answer() && wish.first_values == s.proposed) {
    wish.first_values = s.proposed = s.first->currentData(Qt::UserRole + 1).toString();
    s.sweep->set_wish(wish);
  }
  s.second->setCurrentIndex(wish.second.isEmpty() ? 0
                                                  : std::max(0, s.second->findData(wish.second)));
  s.figure->setCurrentIndex(std::max(0, s.figure->findData(wish.figure)));
  s.keeps->setChecked(wish.keeps_sizes);
  if (s.first_values->text() != wish.first_values) s.first_values->setText(wish.first_values);
  if (s.second_values->text() != wish.second_values) s.second_values->setText(wish.second_values);
  s.filling = false;
}

void SweepView::read_wish() {
  State& s = *state_;
  if (s.filling) return;
  SweepWish wish;
  wish.first = s.first->currentData().toString();
  wish.first_values = s.first_values->text();
  wish.second = s.second->currentData().toString();
  if (!wish.second.isEmpty()) wish.second_values = s.second_values->text();
  wish.figure = s.figure->currentData().toString();
  wish.keeps_sizes = s.keeps->isChecked();
  s.sweep->set_wish(wish);
}

std::vector<Quantity> SweepView::quantities() const {
  const PlanSearch& search = PlanSearch::of(state_->session);
  return search.shows_plan() ? plan_quantities(search) : step_quantities(state_->session);
}

QString SweepView::origin(const QString&) const {
  return whose_text(state_->session) + QLatin1Char(' ') +
         tr("All points of the plot are predicted in the same way.");
}

ViewPicture SweepView::exported(const PictureStyle& style) const {
  const std::optional<SweepAnswer>& answer = state_->sweep->answer();
  return exported_sweep(state_->picture(),
                        answer ? std::make_shared<const SweepAnswer>(*answer) : nullptr, style);
}

std::optional<ViewTable> SweepView::table() const {
  const std::optional<SweepAnswer>& answer = state_->sweep->answer();
  if (!answer) return std::nullopt;
  return ViewTable{tr("Sweep: points (CSV)"), [this, &answer]() -> Result<std::string> {
                     if (hides_figures(state_->session)) return hidden_figures();
                     return sweep_csv(*answer);
                   }};
}

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

// What varies is not kept.
void SweepView::show_kept() {
  State& s = *state_;
  SweepWish keeping = s.sweep->wish();
  keeping.keeps_sizes = true;
  const auto kept = kept_sizes(keeping, s.sweep->base());
  const bool all = kept.size() != 1, batch = !all && kept.front().first == "global-batch";
  s.keeps->setText(all     ? tr("Keep GPUs and batch")
                   : batch ? tr("Keep the batch")
                           : tr("Keep the GPUs"));
  s.keeps->setEnabled(!kept.empty());
}

void SweepView::place_parts() {
  State& s = *state_;
  const int width = canvas_width();
  s.controls->setGeometry(0, 0, width, kControlsHeight - 4);
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
