// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/holders/holders_pane.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPushButton>
#include <QToolTip>
#include <algorithm>

#include "app/look/sentence.h"
#include "app/look/spoken.h"
#include "app/look/theme/focus_ring.h"
#include "app/views/memory/holders/holders_story.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/view_keys.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

constexpr int kRingBeside = 6;  // of the 16 pixels that the Memory view leaves

}  // namespace

HoldersPane::HoldersPane(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  speak_as(*this, {QAccessible::Canvas, [this] { return description(); }});
  setAccessibleName(tr("Who holds what"));
  if (parent) ring_focus_beside(*this, kRingBeside);
  setFocusPolicy(Qt::StrongFocus);
  more_ = new QPushButton(this);
  more_->hide();
  connect(more_, &QPushButton::clicked, this, [this] {
    Setup next = session_.setup();
    if (set_field(next, "dp", "4").ok()) session_.history().change(next, tr("DP 4"));
  });
  const auto key = [this](const QString& text, Qt::Key pressed, auto&& act) {
    auto* action = new QAction(text, this);
    action->setShortcut(pressed);
    // Never added to a widget: the key comes through keyPressEvent.
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, act);
    keys_.append(action);
  };
  connect(&session_.subject(), &Subject::selection_changed, this, [this] { follow_selection(); });
  key(tr("Next change of who holds what"), Qt::Key_N, [this] { step(1); });
  key(tr("Previous change of who holds what"), Qt::Key_P, [this] { step(-1); });
  key(tr("After the forward, after the backward, in the update"), Qt::Key_M,
      [this] { next_moment(); });
  key(tr("The next of the five steps of data parallelism"), Qt::Key_E, [this] { next_story(); });
  key(tr("The ranks that are not shown"), Qt::Key_Return, [this] { show_other_ranks(); });
}

HoldersLayout HoldersPane::geometry_now() const { return holders_layout(picture_, size()); }

void HoldersPane::refresh() {
  kept_ = {};
  move();
}

void HoldersPane::move() {
  const int rows = holders_rows(height(), session_.subject().prediction()->setup),
            first_row = picture_.first_row;
  picture_ = holders_picture(session_, kept_, page_, rows, rank_);
  page_ = picture_.first_row / rows;
  const bool has_cell = chosen_.first < static_cast<int>(picture_.rows.size()) &&
                        chosen_.second < static_cast<int>(picture_.columns.size());
  if (picture_.first_row != first_row || !has_cell) chosen_ = {-1, -1};
  if (picture_.story.empty() || chosen_story_ != picture_.story_step) chosen_story_ = -1;
  picture_.colours_above = true;
  const bool offers = picture_.instead && !picture_.instead->button.isEmpty() &&
                      session_.locks().allowed(QStringLiteral("mesh.dp"));
  more_->setVisible(offers);
  if (offers) {
    more_->setText(picture_.instead->button);
    more_->adjustSize();
    more_->move((width() - more_->width()) / 2, height() / 2);
  }
  // In most frames of a replay it reads as before.
  if (chosen_text() != told_) retell();
  update();
}

SelectionText HoldersPane::chosen_text() const {
  return chosen_story_ >= 0 ? holders_story_words(picture_, chosen_story_)
                            : holders_words(picture_, chosen_.first, chosen_.second);
}

void HoldersPane::retell() {
  told_ = chosen_text();
  Q_EMIT retold(told_);
}

void HoldersPane::tell() {
  told_ = chosen_text();
  Q_EMIT described(told_);
}

QString HoldersPane::description() const { return holders_description(picture_); }

QString HoldersPane::moment() const {
  const QString words = holders_moment(picture_);
  const SelectionText chosen = holders_words(picture_, chosen_.first, chosen_.second);
  return chosen.headline.isEmpty() ? words : words + QLatin1Char(' ') + selection_sentence(chosen);
}

void HoldersPane::step(int direction) {
  if (picture_.rows.empty()) return;
  const std::vector<Nanoseconds> changes = kept_.holdings.at(picture_.rows.front().rank).changes();
  const Nanoseconds now = session_.playback().playhead();
  session_.playback().set_playing(false);
  if (direction > 0) {
    const auto next = std::upper_bound(changes.begin(), changes.end(), now);
    if (next != changes.end()) return session_.playback().set_playhead(*next);
    setAccessibleDescription(tr("Nothing changes any more in this step."));
  } else {
    const auto next = std::lower_bound(changes.begin(), changes.end(), now);
    if (next != changes.begin()) return session_.playback().set_playhead(*(next - 1));
    setAccessibleDescription(tr("Nothing has changed before in this step."));
  }
}

void HoldersPane::next_moment() {
  if (picture_.rows.empty()) return;
  const auto moments = kept_.holdings.at(picture_.rows.front().rank).moments();
  const auto next =
      std::upper_bound(moments.begin(), moments.end(), session_.playback().playhead());
  session_.playback().set_playing(false);
  session_.playback().set_playhead(next != moments.end() ? *next : moments.front());
}

void HoldersPane::next_story() {
  if (picture_.story.empty()) return;
  const Nanoseconds now = session_.playback().playhead();
  const auto later = std::find_if(picture_.story.begin(), picture_.story.end(),
                                  [&](const HoldersStep& step) { return step.at > now; });
  show_story(later == picture_.story.end() ? 0 : static_cast<int>(later - picture_.story.begin()));
}

void HoldersPane::show_story(int step) {
  session_.playback().set_playing(false);
  session_.playback().set_playhead(picture_.story[static_cast<std::size_t>(step)].at);
  chosen_story_ = step;
  tell();
}

void HoldersPane::show_other_ranks() {
  if (picture_.rows.empty()) return;
  const int last = picture_.first_row + static_cast<int>(picture_.rows.size());
  page_ = last < picture_.all_rows ? page_ + 1 : 0;
  rank_ = -1;
  chosen_ = {-1, -1};
  chosen_story_ = -1;
  move();
  told_ = {
      tr("Shown: %1 to %2").arg(picture_.rows.front().name, in_sentence(picture_.rows.back().name)),
      {}};
  Q_EMIT described(told_);
}

void HoldersPane::show_rank(int rank) {
  rank_ = rank;
  if (isVisible()) move();
}

void HoldersPane::follow_selection() {
  const int index = session_.subject().selected().rank;
  const std::vector<RankProgram>& ranks = session_.subject().prediction()->program.ranks;
  if (index < 0 || index >= static_cast<int>(ranks.size())) return;
  // A built rank may stand for several, of which one is shown.
  const bool shown =
      isVisible() && std::any_of(picture_.rows.begin(), picture_.rows.end(),
                                 [&](const HoldersRow& row) { return row.index == index; });
  if (!shown) show_rank(ranks[static_cast<std::size_t>(index)].rank);
}

void HoldersPane::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = theme_for(palette());
  painter.fillRect(rect(), theme.surface);
  paint_holders(painter, picture_, geometry_now(), size(), chosen_, theme, nullptr);
}

void HoldersPane::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  more_->move((width() - more_->width()) / 2, height() / 2);
}

std::pair<int, int> HoldersPane::cell_at(QPointF point) const {
  const HoldersLayout at = geometry_now();
  if (picture_.instead) return {-1, -1};
  for (int row = 0; row < static_cast<int>(picture_.rows.size()); ++row)
    for (int column = 0; column < static_cast<int>(picture_.columns.size()); ++column)
      if (at.cell(row, column).adjusted(-2, -4, 2, 4).contains(point)) return {row, column};
  for (int row = 0; row < static_cast<int>(picture_.rows.size()); ++row) {
    const QRectF cells = at.cell(row, 0);
    if (point.x() > at.right && point.y() >= cells.top() && point.y() < cells.bottom())
      return {row, -1};
  }
  return {-1, -1};
}

int HoldersPane::story_at(QPointF point) const {
  const std::vector<QRectF> steps = geometry_now().story;
  for (std::size_t step = 0; step < steps.size(); ++step)
    if (steps[step].contains(point)) return static_cast<int>(step);
  return -1;
}

void HoldersPane::choose(std::pair<int, int> cell) {
  chosen_ = cell;
  chosen_story_ = -1;
  // The collective under way is the op that other views show as selected.
  if (cell.first >= 0 && cell.second >= 0) {
    const HoldersRow& row = picture_.rows[static_cast<std::size_t>(cell.first)];
    for (const HeldBucket& held : row.cells[static_cast<std::size_t>(cell.second)])
      for (const HeldState* state : {&held.parameters, &held.gradients})
        if (state->op >= 0) session_.subject().select({row.index, state->op}, picture_.from_run);
  }
  tell();  // behind the selection, of which the panel would say what the op is
  update();
}

void HoldersPane::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  if (event->button() != Qt::LeftButton) return;
  if (!picture_.instead && geometry_now().other_rows.contains(event->position()))
    return show_other_ranks();
  if (const int step = story_at(event->position()); step >= 0) return show_story(step);
  choose(cell_at(event->position()));
}

bool HoldersPane::take_key(const QKeyEvent& event) {
  if (picture_.instead || picture_.rows.empty() || !single_keys_act()) return false;
  if ((event.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return false;
  const int key = event.key() == Qt::Key_Enter ? int(Qt::Key_Return) : event.key();
  for (QAction* action : keys_) {
    if (action->shortcut() != QKeySequence(key)) continue;
    action->trigger();
    return true;
  }
  return false;
}

void HoldersPane::keyPressEvent(QKeyEvent* event) {
  const int rows = static_cast<int>(picture_.rows.size()),
            columns = static_cast<int>(picture_.columns.size());
  if (take_key(*event)) return;
  if (picture_.instead || rows == 0) return QWidget::keyPressEvent(event);
  std::pair<int, int> to = chosen_;
  switch (event->key()) {
    case Qt::Key_Left:
      --to.second;
      break;
    case Qt::Key_Right:
      ++to.second;
      break;
    case Qt::Key_Up:
      --to.first;
      break;
    case Qt::Key_Down:
      ++to.first;
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  choose({std::clamp(to.first, 0, rows - 1), std::clamp(to.second, 0, columns - 1)});
}

bool HoldersPane::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto [row, column] = cell_at(help->pos());
  const int step = story_at(help->pos());
  const SelectionText text =
      step >= 0 ? holders_story_words(picture_, step) : holders_words(picture_, row, column);
  if (text.headline.isEmpty()) {
    QToolTip::hideText();
    return true;
  }
  QString words = text.headline;
  for (const FactLine& fact : text.facts)
    words += QLatin1Char('\n') +
             (fact.word.isEmpty() ? QString() : fact.word + QStringLiteral(": ")) + fact.value;
  QToolTip::showText(help->globalPos(), words, this);
  return true;
}

ViewPicture holders_export(const Session& session, bool dark) {
  return {QSize(1100, 560), [&session, dark](QPainter& painter, QSizeF size, TextLog* texts) {
            const Theme& theme = dark ? dark_theme() : light_theme();
            painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
            HoldersKept kept;
            const HoldersPicture picture = holders_picture(session, kept);
            const QSizeF inside(size.width() - 32, size.height() - 56);
            painter.save();
            painter.translate(16, 12);
            paint_holders(painter, picture, holders_layout(picture, inside), inside, {-1, -1},
                          theme, texts);
            painter.restore();
            put_elided(painter, QRectF(16, size.height() - 24, inside.width(), 16),
                       Qt::AlignVCenter, setup_footer(session.subject().prediction()->setup),
                       theme.font(11), theme.muted, texts);
          }};
}

}  // namespace parallelarium
