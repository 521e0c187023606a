// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/mesh/mesh_view.h"

#include <QEasingCurve>
#include <QToolTip>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/state/step/training_step.h"
#include "app/views/mesh/mesh_state.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

constexpr int kHeader = 40, kTools = 36, kSide = 250, kSideFrom = 560, kMoveMs = 450;
constexpr int kMeshLine = 18, kLeastGrid = 170, kBeside = 20;

ViewPicture mesh_picture(const Session& session, const PictureStyle& style,
                         const MeshChoice& choice) {
  return {mesh_picture_size(),
          [&session, dark = style.dark, choice](QPainter& painter, QSizeF size, TextLog* texts) {
            paint_mesh_picture(painter, size, session, dark, choice, texts);
          }};
}

// The part of resources/views.json.
MeshForm form_of_part(const QString& part) {
  return part == QLatin1String("nodes") ? MeshForm::kNodes : MeshForm::kAxes;
}

}  // namespace

MeshView::MeshView(Session& session, QWidget* parent)
    : View(session, parent), state_(std::make_unique<State>(session)) {
  State& s = *state_;
  speak_as(*this, {QAccessible::Canvas, [this] { return description(); }});
  setAccessibleName(tr("Mesh"));
  setAttribute(Qt::WA_OpaquePaintEvent);
  setFocusPolicy(Qt::StrongFocus);
  s.find = new QLineEdit(this);
  s.find->setPlaceholderText(tr("Find rank"));
  s.find->setTextMargins(6, 0, 6, 0);
  s.find->setAccessibleName(tr("Find a rank by its number"));
  connect(s.find, &QLineEdit::returnPressed, this, [this] {
    bool number = false;
    const int rank = state_->find->text().trimmed().toInt(&number);
    const int ranks = state_->session.subject().prediction()->setup.mesh.ranks();
    const bool there = number && rank >= 0 && rank < ranks;
    state_->find->setToolTip(there ? QString()
                                   : tr("Ranks go from 0 to %1.").arg(count_text(ranks - 1)));
    if (there)
      show_rank(rank);
    else
      QToolTip::showText(state_->find->mapToGlobal(QPoint(0, state_->find->height())),
                         state_->find->toolTip(), state_->find);
  });
  s.order = new Segments(
      tr("Order of the ranks"),
      {{QStringLiteral("dp-pp"), tr("DP before PP"), mesh_order_text(RankOrder::kTpCpEpDpPp)},
       {QStringLiteral("pp-dp"), tr("PP before DP"), mesh_order_text(RankOrder::kTpCpEpPpDp)}},
      this);
  connect(s.order, &Segments::chosen, this, [this](const QString& value) {
    Setup next = state_->session.setup();
    next.mesh.order =
        value == QLatin1String("dp-pp") ? RankOrder::kTpCpEpDpPp : RankOrder::kTpCpEpPpDp;
    state_->session.history().change(next, tr("Order of the ranks"));
  });
  s.forms = new Segments(
      tr("Arrangement"),
      {{QStringLiteral("axes"), tr("On axes"), tr("Stages beside each other, replicas below")},
       {QStringLiteral("nodes"), tr("On nodes"), tr("The nodes of the machine with their ranks")}},
      this);
  s.forms->set_value(QStringLiteral("axes"));
  connect(s.forms, &Segments::chosen, this,
          [this](const QString& value) { show_form(form_of_part(value)); });
  s.move.setStartValue(0.0);
  s.move.setEndValue(1.0);
  s.move.setDuration(kMoveMs);
  s.move.setEasingCurve(QEasingCurve::InOutCubic);
  connect(&s.move, &QVariantAnimation::valueChanged, this, [this] { update(); });
  connect(&s.move, &QVariantAnimation::finished, this, [this] {
    state_->before.reset();
    update();
  });
  s.list = new RankList(this);
  s.list->setAccessibleName(tr("The chosen rank"));
  for (const auto& [text, field] :
       {std::pair(QStringLiteral("DP 2"), "dp"), {QStringLiteral("PP 2"), "pp"}}) {
    auto* button = new QToolButton(this);
    button->setText(text);
    connect(button, &QToolButton::clicked, this, [this, text = text, field = field] {
      Setup next = state_->session.setup();
      if (set_field(next, field, "2").ok()) state_->session.history().change(next, text);
    });
    s.offers.push_back(button);
  }
  const auto again = [this] {
    if (isVisible()) refresh();
  };
  connect(&session, &Session::prediction_changed, this, again);
  connect(&session, &Session::run_changed, this, again);
  connect(&session, &Session::setup_changed, this, again);
  for (const auto signal : {&LessonLocks::hidden_changed, &LessonLocks::allowed_changed})
    connect(&session.locks(), signal, this, again);
  for (const auto signal :
       {&Playback::playhead_changed, &Playback::playing_changed, &Playback::motion_changed})
    connect(&session.playback(), signal, this, [this] {
      if (!isVisible()) return;
      if (!state_->session.playback().playing()) tell_shown();
      update(state_->grid.toAlignedRect().adjusted(-8, -8, 8, 30));
    });
}

MeshView::~MeshView() = default;

ViewInfo MeshView::info() {
  return {.id = "mesh",
          .room = Room::kExplore,
          .title = [] { return tr("Mesh"); },
          .command = [] { return tr("Mes&h view"); },
          .menu = nullptr,
          .question = [] { return tr("Who talks to whom"); },
          .about =
              [] {
                return tr(
                    "Each square is one **rank**; links between them redden with the bytes that "
                    "they carry. Choose a rank to see its groups and what it sends to whom, or a "
                    "row of the table to see the ways of one group: dashed ones leave their node. "
                    "The order of the axes says which groups stay inside a node.");
              },
          .selects =
              [] {
                return tr(
                    "Click a rank to see its layers and its memory; click a row of the table to "
                    "see the ways of its group.");
              },
          .formula = "traffic.sent_bytes",
          .file = "mesh",
          .shows_range = false,
          .why_not = nullptr,
          .topic = [](Session& session) -> Topic& { return session.training_step(); },
          .picture =
              [](const Session& session, const PictureStyle& style) {
                return mesh_picture(session, style, {.form = form_of_part(style.part)});
              },
          .make = [](Session& session, QWidget* parent) -> View* {
            return new MeshView(session, parent);
          }};
}

std::vector<Quantity> MeshView::quantities() const {
  return mesh_quantities(state_->session, rank_index());
}

ViewPicture MeshView::exported(const PictureStyle& style) const {
  return mesh_picture(state_->session, style, {rank(), group(), form()});
}

bool MeshView::open_search() {
  if (!state_->find->isVisible()) return false;
  state_->find->setFocus(Qt::ShortcutFocusReason);
  state_->find->selectAll();
  return true;
}

int MeshView::rank() const {
  return std::clamp(state_->rank, 0,
                    state_->session.subject().prediction()->setup.mesh.ranks() - 1);
}

int MeshView::rank_index() const {
  const Prediction& prediction = *state_->session.subject().prediction();
  return prediction.program.ranks.empty()
             ? 0
             : representative_of(prediction.program, prediction.setup.mesh, rank());
}

void MeshView::show_rank(int rank) {
  State& s = *state_;
  s.rank = rank;
  refresh_facts();
  s.layout = laid_out();
  update();
  s.tells = true;
  Q_EMIT described(s.text());
  Q_EMIT quantities_changed();
}

void MeshView::retell() { Q_EMIT retold(state_->tells ? state_->text() : SelectionText()); }

void MeshView::show_group(Axis axis) {
  state_->chosen = axis;
  state_->find_ways();
  tell_shown();
  update();
}

Axis MeshView::group() const { return state_->axis(); }

MeshForm MeshView::form() const { return state_->form; }

void MeshView::show_form(MeshForm form) {
  State& s = *state_;
  if (s.form == form) return;
  s.form = form;
  s.forms->set_value(form == MeshForm::kNodes ? QStringLiteral("nodes") : QStringLiteral("axes"));
  const MeshLayout before = s.layout;
  place_parts();
  move_from(before);
  tell_shown();
  update();
}

// A name asks for the arrangement itself: the ranks do not move there first.
void MeshView::show_part(const QString& part) {
  show_form(form_of_part(part));
  state_->move.stop();
  state_->before.reset();
}

bool MeshView::moving() const { return state_->before.has_value(); }

// From where ranks lay until now; not where motion is reduced, or cards stand for them.
void MeshView::move_from(const MeshLayout& before) {
  State& s = *state_;
  s.move.stop();
  s.before.reset();
  const bool same_ranks = before.mesh.ranks() == s.layout.mesh.ranks() && !before.rect.isEmpty();
  if (!isVisible() || !same_ranks || before.by_class || s.layout.by_class ||
      s.session.playback().reduced_motion())
    return;
  s.before = before;
  s.move.start();
}

// The chosen rank's groups, memory and links.
void MeshView::refresh_facts() {
  State& s = *state_;
  const Prediction& prediction = *s.session.subject().prediction();
  if (prediction.program.ranks.empty()) return;
  s.rank = rank();
  s.find_ways();
  s.facts = rank_facts(prediction, mesh_run(s.session), s.rank);
  const bool hides_traffic = mesh_hides_traffic(s.session);
  std::vector<RankLine> lines = rank_lines(
      s.facts, s.session.locks().hidden(QStringLiteral("memory.peak_bytes")), hides_traffic);
  if (!s.with_table) {
    // Behind the rank's groups, before what it sends.
    const auto sends = std::find_if(lines.begin() + 1, lines.end(), [&](const RankLine& line) {
      return !line.section.isEmpty() && (s.facts.groups.empty() || &line > &lines[3]);
    });
    const std::vector<RankLine> more = wires_lines(s.wires, prediction.setup.mesh);
    lines.insert(sends, more.begin(), more.end());
  }
  s.list->set_lines(std::move(lines));
  s.list->set_dimmed(!s.session.problems().empty());
  tell_shown();
}

void MeshView::refresh() {
  State& s = *state_;
  const std::shared_ptr<const Prediction> prediction = s.session.subject().prediction();
  if (prediction->program.ranks.empty()) return;
  const RunRecord* run = mesh_run(s.session);
  const std::shared_ptr<const Prediction> of = run ? run->prediction : prediction;
  const Timeline* timeline = run ? &run->observation.timeline : &of->timeline;
  if (s.of != of || s.timeline != timeline) {
    s.of = of;
    s.timeline = timeline;
    s.motion = MeshMotion(of->program, *timeline);
    s.classes = rank_classes(*prediction);
  }
  s.order->set_value(s.session.setup().mesh.order == RankOrder::kTpCpEpDpPp
                         ? QStringLiteral("dp-pp")
                         : QStringLiteral("pp-dp"));
  s.order->setEnabled(s.session.locks().allowed(QStringLiteral("mesh.order")));
  if (s.wired != prediction) {
    s.wired = prediction;
    s.wires = mesh_wires(*prediction);
  }
  refresh_facts();
  const MeshLayout before = s.layout;
  place_parts();
  Mesh turned = before.mesh;
  turned.order = s.layout.mesh.order;
  if (before.mesh.order != turned.order && turned == s.layout.mesh)
    move_from(before);
  else if (s.layout.mesh != before.mesh)
    s.before.reset();
  retell();
  update();
}

MeshLayout MeshView::laid_out() const {
  const State& s = *state_;
  const Mesh& mesh = s.session.subject().prediction()->setup.mesh;
  const Theme& theme = theme_for(palette());
  return s.form == MeshForm::kNodes ? node_layout(mesh, s.wires, rank(), s.grid, theme)
                                    : mesh_layout(mesh, s.grid, theme);
}

void MeshView::place_parts() {
  State& s = *state_;
  const int w = width(), h = height();
  const bool beside = w >= kSideFrom;
  const int order = s.order->sizeHint().width(), forms = s.forms->sizeHint().width();
  const int left = std::max(0, w - 32 - 12);  // for both
  const int shorter = std::min(order, left * order / std::max(1, order + forms));
  s.order->setGeometry(16, kHeader - 4, order + forms <= left ? order : shorter, 28);
  s.forms->setGeometry(s.order->geometry().right() + 12, kHeader - 4,
                       std::min(forms, left - s.order->width()), 28);
  s.find->setGeometry(w - 16 - 104, 4, 104, 28);
  const int top = kHeader + kTools;
  const int side = beside ? std::min(kSide, w * 38 / 100) : 0;
  s.list->setVisible(beside);
  s.list->setGeometry(w - side - 12, top + 20, side, h - top - 28);
  const double wide = w - 32 - (beside ? side + 12 : 0), table = wires_height(s.wires);
  const double below = 2 * kMeshLine + 8;
  const bool had_table = s.with_table;
  s.with_table = h - top - below - table >= kLeastGrid &&
                 (!s.wired || wires_fit(s.wires, s.wired->setup.mesh, wide, theme_for(palette())));
  s.grid = QRectF(16, top, wide, h - top - below - (s.with_table ? table + 10 : 0));
  s.key = QRectF(16, s.grid.bottom() + 4, wide, kMeshLine);
  s.links = QRectF(16, s.key.bottom() + 6, wide, s.with_table ? table : 0);
  if (s.wired) s.layout = laid_out();
  // Cards have no key: the table takes its place, and the legend has a second line below.
  if (s.layout.by_class) s.links.moveTop(s.key.top());
  if (s.wired && had_table != s.with_table) refresh_facts();
  // What is said of a single rank stands right of its cell.
  const bool alone = s.wired && s.layout.mesh.ranks() == 1;
  const double free_from = alone ? s.layout.cell_of(0).right() + kBeside : s.grid.left();
  int x = int(free_from);
  for (QToolButton* offer : s.offers) {
    const QString field = QStringLiteral("mesh.") + offer->text().left(2).toLower();
    offer->setVisible(alone && s.session.locks().allowed(field));
    offer->setGeometry(x, top + 66, offer->sizeHint().width(), 28);
    x += offer->width() + 8;
  }
  s.alone = QRectF(free_from, top + 22, s.grid.right() - free_from, 38);
}

void MeshView::paintEvent(QPaintEvent*) {
  State& s = *state_;
  QPainter painter(this);
  const Theme& theme = theme_for(palette());
  painter.fillRect(rect(), theme.surface);
  const Setup& setup = s.session.subject().prediction()->setup;
  // While the settings are not valid all of it is of the last ones that were.
  if (!s.session.problems().empty()) painter.setOpacity(kDimmed);
  put_elided(painter, QRectF(16, 6, width() - 32 - 112, 22), Qt::AlignVCenter, mesh_title(setup),
             theme.font(13, true), theme.text, nullptr);
  if (!s.of || !s.wired) return;
  // A run that was made before belongs to the same Setup; its mesh is this one.
  const MeshPicture picture = s.picture();
  paint_mesh(painter, picture, s.layout, theme, nullptr);
  if (s.layout.mesh.ranks() == 1) {
    painter.setFont(theme.font(12));
    painter.setPen(theme.muted);
    painter.drawText(s.alone, Qt::AlignBottom | Qt::TextWordWrap, tr("One rank sends nothing."));
  }
  paint_mesh_key(painter, s.key, picture, s.layout, theme, nullptr);
  if (s.with_table)
    s.table = paint_wires(painter, s.links, s.wires, setup.mesh, s.axis(), picture.hides_traffic,
                          theme, nullptr);
  paint_mesh_legend(painter, QRectF(16, height() - kMeshLine - 6, s.grid.width(), kMeshLine),
                    picture.hides_traffic ? tr("The bytes are hidden until you answer.")
                                          : mesh_legend(s.session, s.layout, false),
                    s.layout, theme);
  if (s.list->isVisible())
    put_elided(painter, QRectF(s.list->x(), s.list->y() - 24, s.list->width(), 20),
               Qt::AlignVCenter, rank_headline(s.facts, setup.mesh), theme.font(12, true),
               theme.text, nullptr);
  painter.setOpacity(1);
  if (!hasFocus()) return;
  painter.setPen(QPen(theme.accent_line, 1, Qt::DotLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(s.grid.adjusted(-5, -3, 5, 3));
}

void MeshView::resizeEvent(QResizeEvent*) {
  state_->move.stop();
  state_->before.reset();
  place_parts();
}

void MeshView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refresh();
}

void MeshView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) refresh();
}

}  // namespace parallelarium
