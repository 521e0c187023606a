// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/search_view.h"

#include <QAction>
#include <QFrame>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <array>

#include "app/look/figures.h"
#include "app/sheets/recipes/recipe_sheet.h"
#include "app/state/step/training_step.h"
#include "app/views/search/column/search_axes.h"
#include "app/views/search/column/search_column.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/search/picture/search_picture.h"
#include "app/views/search/search_csv.h"
#include "app/views/search/search_words.h"

namespace parallelarium {

namespace {

constexpr int kButton = 30, kButtonRow = kButton + 8, kColumnWidth = 268;

}  // namespace

struct SearchView::State {
  explicit State(Session& of) : session(of), search(PlanSearch::of(of)) {}
  Session& session;
  PlanSearch& search;
  SearchColumn* column = nullptr;
  QPushButton *use = nullptr, *changes = nullptr, *recipe = nullptr;
  QPushButton* search_now = nullptr;  // where the column, which has it, has no place
  QPushButton* value = nullptr;       // asks of a value of an axis
  QPushButton* change = nullptr;      // opens the column where it has no place of its own
  QFrame* popup = nullptr;
  QAction *go = nullptr, *take = nullptr, *vary = nullptr, *write = nullptr;
  int opened = -1;
  bool dragging = false;  // the limit
  SearchHits hits;
  std::optional<std::size_t> pointed;  // of PlanAnswer::points, until something else is chosen
  // The dot at a place whose plan was not kept.
  std::optional<std::size_t> point_at(QPointF at) const;

  int button_rows = 0;  // below the title; 0: they stand beside it

  std::array<QPushButton*, 6> buttons() const {
    return {search_now, use, recipe, changes, value, change};
  }
  int buttons_width() const {
    int width = 0;
    for (const QPushButton* button : buttons())
      if (!button->isHidden()) width += button->width() + 8;
    return width;
  }
  SearchPicture picture() const;
};

SearchPicture SearchView::State::picture() const {
  SearchPicture picture = picture_of(search, opened);
  picture.pointed = pointed;
  // The column beside it counts the candidates.
  if (search.searching() && change->isHidden() && !picture.status.isEmpty())
    picture.status = SearchView::tr("Searching …");
  picture.limit_focus = dragging || use->parentWidget()->hasFocus();
  (button_rows > 0 ? picture.under_head : picture.beside_head) =
      button_rows > 0 ? button_rows * kButtonRow : buttons_width() + 16;
  return picture;
}

std::optional<std::size_t> SearchView::State::point_at(QPointF at) const {
  if (!search.answer()) return std::nullopt;
  for (const auto& [rect, index] : hits.others)
    if (rect.contains(at) && index < search.answer()->points.size()) return index;
  return std::nullopt;
}

ViewInfo SearchView::info() {
  return {.id = "search",
          .room = Room::kPlan,
          .title = [] { return tr("Search"); },
          .command = [] { return tr("&Search view"); },
          .menu = [] { return tr("In sea&rch"); },
          .question = [] { return tr("Which setup is best"); },
          .about =
              [] {
                return tr(
                    "Every way to place this model on these GPUs with this batch is refused, too "
                    "large, ruled out or simulated, and the funnel counts them. A dot is a plan, "
                    "with its step time and memory. Choose one to see what a single change would "
                    "do, and **Use it** to open it in Explore.");
              },
          .selects = [] { return tr("Click a row or a dot to see its plan."); },
          .formula = "plan.seconds",
          .file = "search",
          .shows_range = false,
          .why_not = nullptr,
          .topic = [](Session& session) -> Topic& { return session.training_step(); },
          .picture =
              [](const Session& session, const PictureStyle& style) {
                return exported_search(search_in(session), style, -1);
              },
          .make = [](Session& session, QWidget* parent) -> View* {
            return new SearchView(session, parent);
          },
          .ask = [](Session& session) { PlanSearch::of(session).start(); },
          .plan = selected_plan,
          .table = searched_table};
}

std::optional<ViewTable> SearchView::table() const { return searched_table(state_->session); }

SearchView::SearchView(Session& session, QWidget* parent)
    : CanvasView(session, tr("Picture of the search"), parent),
      state_(std::make_unique<State>(session)) {
  State& s = *state_;
  setAccessibleName(tr("Search"));
  setObjectName(QStringLiteral("SearchView"));
  s.column = new SearchColumn(s.search, this);
  s.column->hide();
  s.column->installEventFilter(this);
  // The window puts it into the place of the setup panel where there is room.
  setProperty("left_column", QVariant::fromValue<QWidget*>(s.column));
  s.use = new QPushButton(tr("Use it"), &canvas());
  s.recipe = new QPushButton(tr("Launch line …"), &canvas());
  s.value = new QPushButton(tr("Why not …"), &canvas());
  s.value->setToolTip(
      tr("Choose a value of an axis: what the best plan with it is, and why it is not the best"));
  s.value->setMenu(new QMenu(s.value));
  connect(s.value->menu(), &QMenu::aboutToShow, this, &SearchView::fill_values);
  s.change = new QPushButton(tr("Change the search …"), &canvas());
  s.changes = new QPushButton(tr("Try one change"), &canvas());
  s.search_now = new QPushButton(&canvas());
  s.search_now->setProperty("primary", true);
  for (QPushButton* button : s.buttons()) button->setAutoDefault(true);
  s.popup = new QFrame(this, Qt::Popup);
  s.popup->setObjectName(QStringLiteral("SetupPopup"));
  (new QVBoxLayout(s.popup))->setContentsMargins(1, 1, 1, 1);
  connect(s.change, &QPushButton::clicked, this, [this] {
    State& s = *state_;
    s.popup->layout()->addWidget(s.column);
    s.column->show();
    QPoint below = s.change->mapToGlobal(
        QPoint(s.change->width() - kColumnWidth - 16, s.change->height() + 4));
    below.setX(std::max(below.x(), mapToGlobal(QPoint(0, 0)).x()));
    s.popup->setGeometry(QRect(below, QSize(kColumnWidth + 16, std::max(200, height() - 60))));
    s.popup->show();
    s.column->take_focus();
  });
  build_actions();
  connect(s.search_now, &QPushButton::clicked, s.go, &QAction::trigger);
  connect(s.use, &QPushButton::clicked, s.take, &QAction::trigger);
  connect(s.changes, &QPushButton::clicked, s.vary, &QAction::trigger);
  connect(s.recipe, &QPushButton::clicked, s.write, &QAction::trigger);
  connect(&s.search, &PlanSearch::changed, this, &SearchView::refresh);
  refresh();
}

SearchView::~SearchView() { state_->column->removeEventFilter(this); }

PlanSearch& SearchView::search() const { return state_->search; }
const SearchHits& SearchView::hits() const { return state_->hits; }

void SearchView::build_actions() {
  State& s = *state_;
  const auto action = [this](const QString& text, const auto& act) {
    auto* made = new QAction(text, this);
    connect(made, &QAction::triggered, this, act);
    return made;
  };
  s.go = action(tr("&Search"), [this] {
    if (state_->search.searching())
      state_->search.cancel();
    else
      state_->search.start();
  });
  s.take = action(tr("&Use the selected plan"), [this] { state_->search.use(); });
  s.vary = action(tr("&Try one change of it"), [this] { state_->search.try_neighbours(); });
  s.write = action(tr("&Launch line of the selected plan …"), [this] {
    const Setup plan = state_->search.selected()->setup;
    auto* sheet =
        new RecipeSheet(state_->session.resolved(plan), whose_text(state_->session, plan), this,
                        QString::fromStdString(framework_of(state_->search.wish())));
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    sheet->show();
  });
}

std::vector<ViewActions> SearchView::commands() const {
  return {{{state_->go, state_->take, state_->write}}};
}

std::vector<Quantity> SearchView::quantities() const { return plan_quantities(state_->search); }

QString SearchView::origin(const QString& quantity) const { return quantity_origin(quantity); }

ViewPicture SearchView::exported(const PictureStyle& style) const {
  return exported_search(state_->search, style, state_->opened);
}

QString SearchView::description() const { return search_description(state_->search); }

void SearchView::refresh() {
  State& s = *state_;
  s.pointed.reset();
  const bool chosen = s.search.selected() != nullptr, usable = chosen && !s.search.is_outdated();
  for (QPushButton* button : {s.use, s.recipe}) button->setEnabled(usable);
  s.take->setEnabled(usable);
  s.write->setEnabled(usable);
  s.use->setToolTip(s.search.is_outdated()
                        ? outdated_plan_text()
                        : tr("Makes the selected plan the setup, and opens it in Explore"));
  s.recipe->setToolTip(
      s.search.is_outdated()
          ? outdated_plan_text()
          : tr("The selected plan as Megatron-LM, torchtitan, DeepSpeed and others say it"));
  s.use->setVisible(s.search.answer().has_value());
  s.recipe->setVisible(chosen);
  s.value->setVisible(s.search.best() != nullptr);
  s.value->setEnabled(s.search.can_ask_value());
  s.vary->setEnabled(s.search.can_try_neighbours());
  s.changes->setEnabled(s.vary->isEnabled());
  s.changes->setVisible(chosen);
  s.changes->setToolTip(
      s.search.is_outdated() ? outdated_plan_text()
      : s.search.neighbours()
          ? tr("What one change of the selected plan would do stands beside the plot.")
          : tr("Predicts every plan that differs from the selected one in one axis"));
  if (s.search.searching()) s.popup->hide();  // what is found stands behind it
  s.go->setText(s.search.searching() ? tr("Cancel the &search") : tr("&Search"));
  s.go->setEnabled(s.search.refusal().isEmpty());
  s.search_now->setText(s.search.searching() ? tr("Cancel") : tr("Search"));
  s.search_now->setEnabled(s.go->isEnabled());
  s.search_now->setToolTip(s.search.refusal());
  if (s.opened >= 0 && (!s.search.answer() || s.search.answer()->losses[s.opened].empty()))
    s.opened = -1;
  if (isVisible()) place_parts();
  tell_shown();
  canvas().update();
  if (isVisible()) describe_selected();
  Q_EMIT quantities_changed();
}

void SearchView::place_parts() {
  State& s = *state_;
  const bool in_window = s.column->parentWidget() != this && s.column->parentWidget() != s.popup;
  s.change->setVisible(!in_window);
  const bool answered = s.search.answer() && !s.search.is_stale() && !s.search.is_limited();
  s.search_now->setVisible(!in_window && (s.search.searching() || !answered));
  const int width = canvas_width();
  for (QPushButton* button : s.buttons()) button->resize(button->sizeHint().width(), kButton);
  // Beside the title, or below it where they would leave too little of the line to it.
  const int taken = s.buttons_width();
  s.button_rows = taken <= width * 0.6 ? 0 : taken <= width - 32 ? 1 : 2;
  const int top = s.button_rows == 0
                      ? 10
                      : int(search_title_bottom(width, s.picture(), theme_for(palette()))) + 4;
  const double tall = search_height(width, s.picture(), theme_for(palette()));
  set_height(tall);
  int right = width - 16, y = top;
  for (QPushButton* button : s.buttons()) {
    if (button->isHidden()) continue;
    if (right - button->width() < 16) {
      right = width - 16;
      y += kButtonRow;
    }
    right -= button->width();
    button->move(right, y);
    right -= 8;
  }
}

// Every value that the left column offers.
void SearchView::fill_values() {
  State& s = *state_;
  QMenu& menu = *s.value->menu();
  menu.clear();
  for (const SearchAxis& axis : search_axes()) {
    const bool of_experts =
        axis.option == QLatin1String("ep") || axis.option == QLatin1String("expert-tensor");
    if (of_experts && !s.search.has_experts()) continue;
    QMenu* values = menu.addMenu(axis.label);
    for (qsizetype at = 0; at < axis.values.size(); ++at)
      connect(values->addAction(axis.words[at]), &QAction::triggered, this,
              [this, option = axis.option, value = axis.values[at]] {
                state_->search.ask_value(option, value);
              });
  }
}

bool SearchView::take_file(const QString& path) { return state_->column->take_file(path); }

void SearchView::showEvent(QShowEvent* event) {
  state_->search.begin_with(state_->session.setup());
  place_parts();
  CanvasView::showEvent(event);
}

void SearchView::paint(QPainter& painter) {
  State& s = *state_;
  s.hits = {};
  paint_search(painter, canvas().width(), s.picture(), theme_for(palette()), &s.hits, nullptr);
}

void SearchView::press(QPointF at) {
  State& s = *state_;
  s.dragging = s.hits.limit.contains(at);
  if (s.dragging) return;
  for (const auto& [rect, of] : s.hits.losses)
    if (rect.contains(at)) {
      s.opened = s.opened == of ? -1 : int(of);
      return refresh();
    }
  if (s.hits.published.contains(at))
    return Q_EMIT s.search.published_wanted(model_title(*s.search.answer()));
  for (const auto& [rect, example] : s.hits.examples)
    if (rect.contains(at)) return s.search.open_example(Setup(*example));
  for (const SearchHits::Plan& hit : s.hits.plans)
    if (hit.rect.contains(at)) {
      s.search.select(Setup(hit.plan->setup));
      return refresh();  // also where it was selected already
    }
  s.pointed = s.point_at(at);
  if (!s.pointed) return;
  const auto& [seconds, bytes] = s.search.answer()->points[*s.pointed];
  Q_EMIT described(describe_point(s.search, seconds, bytes));
  canvas().update();
}

void SearchView::drag(QPointF at) {
  if (state_->dragging) limit_to(state_->hits.bytes_at(at.x()));
}

void SearchView::release() { state_->dragging = false; }

// To whole GiB, from one to what a device has.
void SearchView::limit_to(std::int64_t bytes) {
  PlanSearch& search = state_->search;
  const std::int64_t all = search.device_bytes();
  PlanWish wish = search.wish();
  const std::int64_t rounded = (bytes + kGib / 2) / kGib * kGib;
  wish.memory_bytes = rounded >= all ? 0 : std::max(kGib, rounded);
  search.set_wish(wish);
}

bool SearchView::press_key(int key) {
  State& s = *state_;
  if ((key == Qt::Key_Left || key == Qt::Key_Right) && s.search.answer()) {
    limit_to(s.search.limit_bytes() + (key == Qt::Key_Left ? -kGib : kGib));
    return true;
  }
  if (key == Qt::Key_Up || key == Qt::Key_Down) {
    s.search.select_next(key == Qt::Key_Down ? 1 : -1);
    return true;
  }
  if ((key == Qt::Key_Return || key == Qt::Key_Enter) && s.take->isEnabled()) {
    s.take->trigger();
    return true;
  }
  return false;
}

bool SearchView::show_tip(QPointF at, QPoint global) {
  for (const SearchHits::Plan& hit : state_->hits.plans) {
    if (!hit.rect.contains(at)) continue;
    QToolTip::showText(global, plan_tip(state_->search, *hit.plan), &canvas());
    return true;
  }
  const auto show = [&](const QString& text) {
    QToolTip::showText(global, text, &canvas());
    return true;
  };
  for (const auto& [rect, rule] : state_->hits.rules)
    if (rect.contains(at)) return show(rule_tip(*rule));
  for (const auto& [rect, example] : state_->hits.examples)
    if (rect.contains(at)) return show(example_tip(*example));
  if (const auto point = state_->point_at(at)) {
    const auto& [seconds, bytes] = state_->search.answer()->points[*point];
    QToolTip::showText(global, point_tip(state_->search, seconds, bytes), &canvas());
    return true;
  }
  QToolTip::hideText();
  return true;
}

bool SearchView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == state_->column && event->type() == QEvent::ParentChange) place_parts();
  return CanvasView::eventFilter(watched, event);
}

void SearchView::describe_selected() { Q_EMIT described(describe_plan(state_->search)); }

}  // namespace parallelarium
