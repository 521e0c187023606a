// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/mesh/mesh_view.h"

#include <QHelpEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>

#include "app/look/figures.h"
#include "app/settings/controls.h"
#include "app/state/step/training_step.h"
#include "app/views/mesh/mesh_paint.h"
#include "app/views/mesh/rank_list.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/words.h"

namespace parallelarium {
namespace {

constexpr int kHeader = 40, kTools = 36, kSide = 250, kSideFrom = 560;

// `rank`: global.
ViewPicture mesh_picture(const Session& session, const PictureStyle& style, int rank) {
  return {mesh_picture_size(),
          [&session, dark = style.dark, rank](QPainter& painter, QSizeF size, TextLog* texts) {
            paint_mesh_picture(painter, size, session, dark, rank, texts);
          }};
}

}  // namespace

struct MeshView::State {
  explicit State(Session& s) : session(s) {}
  Session& session;
  int rank = 0;
  RankFacts facts;
  std::vector<RankClass> classes;
  std::shared_ptr<const Prediction> of;  // whose Program the motion walks over
  const Timeline* timeline = nullptr;
  MeshMotion motion;
  QLineEdit* find = nullptr;
  Segments* order = nullptr;
  RankList* list = nullptr;
  QRectF grid;
  MeshPicture picture() const {
    MeshPicture picture;
    picture.prediction = session.subject().prediction().get();
    picture.program = &of->program;
    picture.motion = &motion;
    picture.classes = classes;
    picture.selected = rank;
    picture.playhead = session.playback().playhead();
    picture.tweened = !session.playback().reduced_motion();
    picture.dimmed = !session.problems().empty();
    picture.hides_traffic = mesh_hides_traffic(session);
    return picture;
  }
};

MeshView::MeshView(Session& session, QWidget* parent)
    : View(session, parent), state_(std::make_unique<State>(session)) {
  State& s = *state_;
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
  s.list = new RankList(this);
  s.list->setAccessibleName(tr("The chosen rank"));
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
      if (!state_->session.playback().playing()) setAccessibleDescription(description());
      update(state_->grid.toAlignedRect().adjusted(-8, -8, 8, 8));
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
                    "Each square is one **rank**. Ranks of one group share a piece of work, and "
                    "links between them redden with the bytes that they carry. Choose a rank to "
                    "see its groups, what it sends and to whom; the order of the axes says which "
                    "groups stay inside a node.");
              },
          .formula = "traffic.sent_bytes",
          .file = "mesh",
          .shows_range = false,
          .why_not = nullptr,
          .topic = [](Session& session) -> Topic& { return session.training_step(); },
          .picture = [](const Session& session,
                        const PictureStyle& style) { return mesh_picture(session, style, 0); },
          .make = [](Session& session) -> View* { return new MeshView(session); }};
}

std::vector<Quantity> MeshView::quantities() const {
  return mesh_quantities(state_->session, rank_index());
}

ViewPicture MeshView::exported(const PictureStyle& style) const {
  return mesh_picture(state_->session, style, rank());
}

bool MeshView::open_search() {
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
  state_->rank = rank;
  refresh_facts();
  update();
  SelectionText text;
  text.headline = rank_headline(state_->facts, state_->session.subject().prediction()->setup.mesh);
  text.facts = {{tr("layers"), layers_text(state_->facts.layers)},
                {tr("most memory"), bytes_text(state_->facts.peak_bytes)}};
  Q_EMIT described(text);
  Q_EMIT quantities_changed();
}

// The chosen rank's groups, memory and links.
void MeshView::refresh_facts() {
  State& s = *state_;
  const Prediction& prediction = *s.session.subject().prediction();
  if (prediction.program.ranks.empty()) return;
  s.rank = rank();
  s.facts = rank_facts(prediction, mesh_run(s.session), s.rank);
  s.list->set_lines(rank_lines(s.facts,
                               s.session.locks().hidden(QStringLiteral("memory.peak_bytes")),
                               mesh_hides_traffic(s.session)));
  setAccessibleDescription(description());
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
  refresh_facts();
  place_parts();
  update();
}

void MeshView::place_parts() {
  State& s = *state_;
  const int w = width(), h = height();
  const bool beside = w >= kSideFrom;
  const int order = s.order->sizeHint().width();
  s.order->setGeometry(16, kHeader - 4, std::min(order, w - 140), 28);
  s.find->setGeometry(w - 16 - 104, kHeader - 5, 104, 30);
  const int top = kHeader + kTools;
  const int side = beside ? std::min(kSide, w * 38 / 100) : 0;
  s.list->setVisible(beside);
  s.list->setGeometry(w - side - 12, top + 20, side, h - top - 28);
  s.grid = QRectF(16, top, w - 32 - (beside ? side + 12 : 0), h - top - 30);
}

void MeshView::paintEvent(QPaintEvent*) {
  State& s = *state_;
  QPainter painter(this);
  const Theme& theme = theme_for(palette());
  painter.fillRect(rect(), theme.surface);
  const Setup& setup = s.session.subject().prediction()->setup;
  put_elided(painter, QRectF(16, 6, width() - 32, 22), Qt::AlignVCenter, mesh_title(setup),
             theme.font(13, true), theme.text, nullptr);
  if (!s.of) return;
  const MeshLayout layout = mesh_layout(setup.mesh, s.grid, theme);
  // A run that was made before belongs to the same Setup; its mesh is this one.
  paint_mesh(painter, s.picture(), layout, theme, nullptr);
  put_elided(painter, QRectF(16, height() - 24, s.grid.width(), 18), Qt::AlignVCenter,
             mesh_hides_traffic(s.session) ? tr("The bytes are hidden until you answer.")
                                           : mesh_legend(s.session, layout.by_class, false),
             theme.font(11), theme.muted, nullptr);
  if (s.list->isVisible())
    put_elided(painter, QRectF(s.list->x(), s.list->y() - 24, s.list->width(), 20),
               Qt::AlignVCenter, rank_headline(s.facts, setup.mesh), theme.font(12, true),
               theme.text, nullptr);
  if (!hasFocus()) return;
  painter.setPen(QPen(theme.accent_line, 1, Qt::DotLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(s.grid.adjusted(-5, -3, 5, 3));
}

void MeshView::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  const MeshLayout layout = mesh_layout(state_->session.subject().prediction()->setup.mesh,
                                        state_->grid, theme_for(palette()));
  const int rank = layout.rank_at(event->position());
  if (rank >= 0 && event->button() == Qt::LeftButton) show_rank(rank);
}

// Arrows walk along TP and DP (or CP), Page Up and Page Down along the stages.
void MeshView::keyPressEvent(QKeyEvent* event) {
  const Mesh& mesh = state_->session.subject().prediction()->setup.mesh;
  Coordinates at = coordinates_of(mesh, rank());
  const auto step = [](int value, int by, int count) { return (value + by + count) % count; };
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
      const int by = event->key() == Qt::Key_Left ? -1 : 1;
      const bool wraps = by > 0 ? at.tp + 1 == mesh.tp : at.tp == 0;
      at.tp = step(at.tp, by, mesh.tp);
      if (wraps) at.pp = step(at.pp, by, mesh.pp);
      break;
    }
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const int by = event->key() == Qt::Key_Up ? -1 : 1;
      const bool wraps = by > 0 ? at.cp + 1 == mesh.cp : at.cp == 0;
      at.cp = step(at.cp, by, mesh.cp);
      if (wraps) at.dp = step(at.dp, by, mesh.dp);
      break;
    }
    case Qt::Key_PageUp:
      at.pp = step(at.pp, -1, mesh.pp);
      break;
    case Qt::Key_PageDown:
      at.pp = step(at.pp, 1, mesh.pp);
      break;
    default:
      QWidget::keyPressEvent(event);
      return;
  }
  show_rank(rank_of(mesh, at));
}

bool MeshView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || !state_->of) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const Prediction& prediction = *state_->session.subject().prediction();
  const MeshLayout layout = mesh_layout(prediction.setup.mesh, state_->grid, theme_for(palette()));
  const int rank = layout.rank_at(help->pos());
  if (rank < 0) {
    QToolTip::hideText();
    return true;
  }
  const RankFacts facts = rank_facts(prediction, mesh_run(state_->session), rank);
  QStringList lines{rank_headline(facts, prediction.setup.mesh),
                    tr("layers %1").arg(layers_text(facts.layers))};
  if (!state_->session.locks().hidden(QStringLiteral("memory.peak_bytes")))
    lines << tr("at most %1").arg(bytes_text(facts.peak_bytes));
  if (!mesh_hides_traffic(state_->session))
    lines << tr("sends %1 in a step").arg(bytes_text(facts.sent));
  QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
  return true;
}

QString MeshView::description() const {
  const State& s = *state_;
  if (!s.of) return {};
  const Setup& setup = s.session.subject().prediction()->setup;
  QString text = mesh_title(setup) + QStringLiteral(". ") + mesh_order_text(setup.mesh.order) +
                 QStringLiteral(". ");
  if (!mesh_hides_traffic(s.session))
    text +=
        mesh_sentence(s.of->program, s.motion, s.session.playback().playhead()) + QLatin1Char(' ');
  return text + rank_headline(s.facts, setup.mesh) + QLatin1Char('.');
}

void MeshView::resizeEvent(QResizeEvent*) { place_parts(); }

void MeshView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refresh();
}

void MeshView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) refresh();
}

}  // namespace parallelarium
