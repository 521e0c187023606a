// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/setup_chips.h"

#include <QHBoxLayout>

#include "app/look/sentence.h"
#include "app/settings/setup_fields.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {

SetupChips::SetupChips(Session& session, QWidget* parent) : QFrame(parent), session_(session) {
  setObjectName(QStringLiteral("SetupChips"));
  setAccessibleName(tr("Setup, in short"));
  setFixedHeight(40);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 6, 12, 6);
  row->setSpacing(6);
  for (int at = 0; at < 5; ++at) {
    auto* chip = new QToolButton(this);
    chip->setObjectName(QStringLiteral("Chip"));
    row->addWidget(chip);
    chips_.push_back(chip);
    connect(chip, &QToolButton::clicked, this, &SetupChips::opened);
  }
  row->addStretch();
  connect(&session_, &Session::setup_changed, this, &SetupChips::refresh);
  refresh();
}

void SetupChips::refresh() {
  const Setup& setup = session_.setup();
  QStringList degrees;
  for (const std::string& option : options_of(Section::kParallelism)) {
    const SetupSetting& row = setting_of(option);
    if (row.value.range.low != 1 || field_text(setup, option).toInt() == 1) continue;  // no degree
    degrees << field_title(option) + QLatin1Char(' ') + field_text(setup, option);
  }
  if (degrees.isEmpty()) degrees << tr("1 rank");
  if (setup.zero > 0) degrees << tr("ZeRO %1").arg(setup.zero);
  const QString schedule = schedule_title(setup.schedule);
  const QString texts[] = {
      QStringLiteral("%1 · %2").arg(sentence(title_of(setup.model)),
                                    QString::fromStdString(session_.resolved().precision.name)),
      sentence(title_of(session_.machine())), degrees.join(QStringLiteral(" · ")),
      (setup.microbatches == 1 ? tr("%1 · %2 micro-batch") : tr("%1 · %2 micro-batches"))
          .arg(schedule)
          .arg(setup.microbatches),
      tr("Settings …")};
  for (std::size_t at = 0; at < chips_.size(); ++at) {
    chips_[at]->setText(texts[at]);
    chips_[at]->setAccessibleName(tr("Setup: %1").arg(texts[at]));
  }
}

}  // namespace parallelarium
