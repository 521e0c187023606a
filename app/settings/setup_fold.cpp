// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/setup_fold.h"

#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/settings/controls.h"
#include "app/state/collective/collective_session.h"
#include "app/state/collective/step_collectives.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostShown = 8;

}  // namespace

SetupFold::SetupFold(Session& session, QWidget* parent) : QScrollArea(parent), session_(session) {
  setObjectName(QStringLiteral("SetupPanel"));
  setAccessibleName(tr("Training setup, folded"));
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(QFrame::NoFrame);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SetupContent"));
  column_ = new QVBoxLayout(content);
  column_->setContentsMargins(12, 12, 12, 12);
  column_->setSpacing(6);
  setWidget(content);
  const auto follow = [this] {
    if (isVisible() && session_.subject().prediction() != shown_) refresh();
  };
  connect(&session_, &Session::prediction_changed, this, follow);
  connect(&session_.locks(), &LessonLocks::hidden_changed, this, [this] {
    if (isVisible()) refresh();
  });
  // A lesson's locks.
  connect(&session_.locks(), &LessonLocks::allowed_changed, this, [this] {
    const bool open = session_.locks().allowed(QStringLiteral("collective.name"));
    for (QPushButton* button : findChildren<QPushButton*>())
      button->setEnabled(open && button->property("shows").toBool());
  });
}

void SetupFold::showEvent(QShowEvent* event) {
  QScrollArea::showEvent(event);
  refresh();
}

void SetupFold::add_label(const QString& text, const char* role) {
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  if (QLatin1String(role) == QLatin1String("caps"))
    make_caps(label);
  else
    label->setProperty("role", role);
  column_->addWidget(label);
}

void SetupFold::refresh() {
  shown_ = session_.subject().prediction();
  while (QLayoutItem* item = column_->takeAt(0)) {
    if (item->widget()) {
      item->widget()->hide();
      item->widget()->deleteLater();
    }
    delete item;
  }
  add_label(tr("Training setup").toUpper(), "caps");
  add_label(setup_footer(shown_->setup), "small");
  add_label(tr("A collective stands alone here: nothing of the training setup is used."), "muted");
  auto* unfold = new QToolButton;
  unfold->setObjectName(QStringLiteral("Link"));
  unfold->setText(tr("Show the training setup"));
  column_->addWidget(unfold);
  connect(unfold, &QToolButton::clicked, this, &SetupFold::setup_wanted);
  column_->addSpacing(8);
  add_label(tr("Collectives of its step").toUpper(), "caps");
  // Which there are, and in which order, tells what is sent.
  if (session_.locks().hidden_of_ops().bytes) {
    add_label(tr("The bytes are hidden until you answer."), "muted");
    column_->addStretch();
    return;
  }
  const std::vector<StepCollective> all = collectives_of_step(*shown_);
  if (all.empty())
    add_label(
        tr("This step has none: stages send to their neighbours. With Data DP or Tensor TP at "
           "2 or more, ranks combine gradients or activations."),
        "muted");
  for (std::size_t at = 0; at < std::min(all.size(), kMostShown); ++at) {
    const StepCollective& collective = all[at];
    auto* button = new QPushButton(title_of(collective));
    const Result<CollectiveChoice> choice = choice_of(collective, session_.collectives().choice());
    button->setProperty("shows", bool(choice));
    button->setEnabled(choice && session_.locks().allowed(QStringLiteral("collective.name")));
    button->setToolTip(choice ? tr("Show it in this view") : sentence(choice.error()));
    button->setAccessibleDescription(facts_of(collective));
    button->setAutoDefault(true);
    column_->addSpacing(4);
    column_->addWidget(button);
    add_label(facts_of(collective), "small");
    connect(button, &QPushButton::clicked, this, [this, collective] {
      CollectiveSession& collectives = session_.collectives();
      if (const Result<CollectiveChoice> now = choice_of(collective, collectives.choice()))
        collectives.change(*now, title_of(collective));
    });
  }
  if (all.size() > kMostShown)
    add_label(tr("and %1 smaller ones").arg(all.size() - kMostShown), "muted");
  column_->addStretch();
}

}  // namespace parallelarium
