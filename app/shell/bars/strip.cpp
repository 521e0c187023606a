// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/bars/strip.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <algorithm>
#include <array>

#include "app/look/spoken.h"

namespace parallelarium {

namespace {

constexpr int kFullStripHeight = 88, kCompactHeight = 54;
constexpr int kGap = 12;

QLabel* figure_label(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setProperty("role", "figure");
  label->setProperty("figure", true);
  label->setTextInteractionFlags(Qt::NoTextInteraction);
  return label;
}

ElidedLabel* small_label(QWidget* parent) {
  auto* label = new ElidedLabel({}, parent);
  label->setProperty("role", "small");
  return label;
}

}  // namespace

StripCell::StripCell(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("StripCell"));
  speak_as(*this, {QAccessible::PushButton, {}, true});
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  title_ = new ElidedLabel({}, this);
  make_caps(title_);
  predicted_ = figure_label(this);
  observed_ = figure_label(this);
  difference_ = figure_label(this);
  predicted_source_ = small_label(this);
  observed_source_ = small_label(this);
  difference_source_ = small_label(this);
  footnote_ = small_label(this);
}

void StripCell::show_quantity(const Quantity& quantity, StripSize size) {
  if (shown_ == quantity && size_ == size) return arrange();  // letters may have another size
  shown_ = quantity;
  key_ = quantity.key;
  size_ = size;
  const auto fill = [](QLabel* label, ElidedLabel* source, const Figure& figure) {
    label->setText(figure.text);
    label->setToolTip(figure.exact);
    label->setProperty("source", figure.source);
    set_style_property(label, "soft", figure.outdated);
    source->set_full_text(figure.source);
    source->set_tip(figure.exact);
  };
  fill(predicted_, predicted_source_, quantity.predicted);
  fill(observed_, observed_source_, quantity.observed);
  difference_->setText(quantity.difference);
  difference_->setProperty("source", tr("difference"));
  why_none_ = quantity.difference.isEmpty() || quantity.why_none.isEmpty()
                  ? QString()
                  : quantity.difference + QStringLiteral(": ") + quantity.why_none;
  setAccessibleDescription(why_none_);
  set_style_property(difference_, "soft", true);

  notes_.clear();
  if (!quantity.guess.isEmpty()) notes_ << tr("your guess: %1").arg(quantity.guess);
  if (!quantity.since_pin.isEmpty()) notes_ << quantity.since_pin;
  if (!quantity.note.isEmpty()) notes_ << quantity.note;

  for (QLabel* label : {predicted_, observed_, difference_})
    set_style_property(label, "compact", size != StripSize::kFull);
  QStringList spoken;
  if (!quantity.predicted.text.isEmpty())
    spoken << quantity.predicted.text + QLatin1Char(' ') + quantity.predicted.source;
  if (!quantity.observed.text.isEmpty())
    spoken << quantity.observed.text + QLatin1Char(' ') + quantity.observed.source;
  if (!quantity.difference.isEmpty()) spoken << tr("difference: %1").arg(quantity.difference);
  spoken << notes_;
  setAccessibleName(spoken.isEmpty() ? quantity.title
                                     : quantity.title + QStringLiteral(": ") +
                                           spoken.join(QStringLiteral(", ")));
  arrange();
}

void StripCell::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  arrange();
}

// Three columns as wide as their figures; sources under them; a last line for guess and pin.
void StripCell::arrange() {
  const bool compact = size_ == StripSize::kCompact;
  const int margin = compact ? 10 : 14, wide = width() - 2 * margin;
  const int title_top = compact ? 2 : 9;
  const QString difference = difference_->text();
  difference_source_->set_full_text(difference.isEmpty() ? QString() : tr("difference"));
  const int top = title_top + (compact ? 16 : 19), below = top + (compact ? 18 : 24);
  const std::pair<QLabel*, ElidedLabel*> columns[] = {{predicted_, predicted_source_},
                                                      {observed_, observed_source_},
                                                      {difference_, difference_source_}};
  std::vector<int> figures, widths;
  for (const auto& [figure, source] : columns) {
    figures.push_back(figure->text().isEmpty() ? 0 : figure->sizeHint().width());
    widths.push_back(
        std::max(figures.back(), source->full_text().isEmpty() ? 0 : source->sizeHint().width()));
  }
  const auto asked = [&] {
    int sum = -kGap;
    for (const int column : widths) sum += column > 0 ? column + kGap : 0;
    return sum;
  };
  // A difference says what it is where there is room; one that has no room at all stands elsewhere:
  // in the last line, or where there is none beside the title.
  if (asked() > wide) {
    difference_source_->set_full_text({});
    widths[2] = figures[2];
  }
  if (asked() > wide) widths[2] = 0;
  const bool moved = widths[2] == 0 && !difference.isEmpty();
  QStringList notes = notes_;
  if (moved) notes.prepend(tr("difference: %1").arg(difference));
  footnote_->set_full_text(notes.join(QStringLiteral(" · ")));
  footnote_->setVisible(!compact && !notes.isEmpty());
  QStringList tips{compact ? footnote_->full_text() : QString(), why_none_};
  tips.removeAll(QString());
  setToolTip(tips.join(QLatin1Char('\n')));

  // A source without a figure goes before one that says where a figure comes from.
  if (asked() > wide && figures[1] == 0) widths[1] = 0;
  if (asked() > wide) {
    // Sources end in "…", figures never do; a column that needs less than its share leaves the
    // rest.
    std::array<std::size_t, 3> narrow_first{0, 1, 2};
    std::sort(narrow_first.begin(), narrow_first.end(),
              [&](std::size_t a, std::size_t b) { return widths[a] < widths[b]; });
    int left = int(widths.size() - std::size_t(std::count(widths.begin(), widths.end(), 0)));
    int room = wide - (left - 1) * kGap;
    for (const std::size_t at : narrow_first) {
      if (widths[at] == 0) continue;
      widths[at] = std::max(figures[at], std::min(widths[at], room / std::max(1, left--)));
      room -= widths[at];
    }
  }
  // There is no second line to take it: the title makes room for "not evidence of speed".
  const bool beside_title = compact && moved;
  if (beside_title) difference_source_->set_full_text(difference);
  const int beside =
      beside_title ? std::min(difference_source_->sizeHint().width(), wide * 2 / 3) : 0;
  const int title_wide = wide - (beside_title ? beside + 6 : 0);
  fit_title(title_wide);
  title_->setGeometry(margin, title_top, title_wide, 16);
  difference_->setVisible(widths[2] > 0);
  difference_source_->setVisible(widths[2] > 0 || beside_title);
  int left = margin;
  for (std::size_t at = 0; at < widths.size(); ++at) {
    const int column = std::min(widths[at], std::max(0, margin + wide - left));
    columns[at].first->setGeometry(left, top, column, compact ? 18 : 24);
    columns[at].second->setGeometry(left, below, column, 15);
    if (column > 0) left += column + kGap;
  }
  if (beside_title) difference_source_->setGeometry(margin + wide - beside, title_top, beside, 16);
  footnote_->setGeometry(margin, below + 15, wide, 15);
}

// The letters of a long title stand closer, and those of a longer one are small.
void StripCell::fit_title(int wide) {
  if (!shown_) return;
  make_caps(title_);
  title_->set_full_text(shown_->title.toUpper());
  if (title_->sizeHint().width() <= wide) return;
  QFont font = title_->font();
  font.setLetterSpacing(QFont::AbsoluteSpacing, 0);
  title_->setFont(font);
  if (title_->sizeHint().width() > wide) title_->set_full_text(shown_->title);
}

void StripCell::mousePressEvent(QMouseEvent* event) {
  QFrame::mousePressEvent(event);
  Q_EMIT activated(key_);
}

void StripCell::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter ||
      event->key() == Qt::Key_Space) {
    Q_EMIT activated(key_);
    return;
  }
  QFrame::keyPressEvent(event);
}

Strip::Strip(Session& session, QWidget* parent) : QFrame(parent), session_(session) {
  setObjectName(QStringLiteral("Strip"));
  setAccessibleName(tr("Predicted beside observed"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  for (int at = 0; at < kStripCells; ++at) {
    auto* cell = new StripCell(this);
    row->addWidget(cell, 1);
    cells_.push_back(cell);
    connect(cell, &StripCell::activated, this, &Strip::quantity_chosen);
  }
  connect(&session_, &Session::prediction_changed, this, &Strip::refresh);
  connect(&session_, &Session::run_changed, this, &Strip::refresh);
  connect(&session_.locks(), &LessonLocks::hidden_changed, this, &Strip::refresh);
  connect(&session_.locks(), &LessonLocks::guesses_changed, this, &Strip::refresh);
  // A run under way tells of its loss, step by step.
  connect(&session_, &Session::run_state_changed, this, [this] {
    if (session_.jobs().live_losses().size() == live_steps_) return;
    live_steps_ = session_.jobs().live_losses().size();
    refresh();
  });
  set_size(StripSize::kFull);
}

void Strip::set_size(StripSize size) {
  size_ = size;
  setFixedHeight(size == StripSize::kCompact ? kCompactHeight : kFullStripHeight);
  refresh();
}

void Strip::set_quantities(std::function<std::vector<Quantity>()> quantities) {
  quantities_ = std::move(quantities);
  refresh();
}

void Strip::refresh() {
  if (!quantities_) return;  // no view is in front yet
  const std::vector<Quantity> quantities = quantities_();
  QString said;  // why there is no figure: once for all cells that lack one for it
  for (std::size_t at = 0; at < cells_.size() && at < quantities.size(); ++at) {
    Quantity quantity = quantities[at];
    if (quantity.predicted.text.isEmpty()) {
      if (quantity.predicted.source == said)
        quantity.predicted.source.clear();
      else
        said = quantity.predicted.source;
    }
    cells_[at]->show_quantity(quantity, size_);
  }
}

}  // namespace parallelarium
