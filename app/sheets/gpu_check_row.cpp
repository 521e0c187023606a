// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/gpu_check_row.h"

#include <QBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>

#include "app/look/sentence.h"

namespace parallelarium {

GpuCheckRow::GpuCheckRow(EngineProcess& engine, QWidget* parent)
    : QWidget(parent),
      engine_(engine),
      button_(new QPushButton(this)),
      bar_(new QProgressBar(this)),
      doing_(new QLabel(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(12);
  row->addWidget(button_);
  auto* told = new QVBoxLayout;
  told->setSpacing(2);
  told->addWidget(doing_);
  told->addWidget(bar_);
  row->addLayout(told, 1);
  button_->setObjectName(QStringLiteral("CheckGpus"));
  button_->setAutoDefault(false);
  bar_->setTextVisible(false);
  bar_->setRange(0, 1000);
  bar_->setAccessibleName(tr("Progress of the check"));
  doing_->setProperty("role", "muted");
  doing_->setTextFormat(Qt::PlainText);
  doing_->setWordWrap(true);
  connect(button_, &QPushButton::clicked, this, &GpuCheckRow::press);
  connect(&engine_, &EngineProcess::progressed, this,
          [this](int id, const QString&, double share, const QString& what) {
            if (request_ == 0 || id != request_) return;
            bar_->setValue(int(1000 * share));
            doing_->setText(what);
          });
  button_->setEnabled(false);
  show_idle({});
}

GpuCheckRow::~GpuCheckRow() {
  if (request_ != 0) engine_.cancel(request_);
}

void GpuCheckRow::set_gpus(int count) {
  button_->setEnabled(count > 0);
  const QString why = tr("There is no GPU here to check.");
  button_->setToolTip(count > 0 ? tr("Kernels, messages, collectives and bandwidth; at most 15 s")
                                : why);
  show_idle(count > 0 ? tr("Are their numbers right, and what they send each other? At most 15 s.")
                      : why);
}

void GpuCheckRow::show_idle(const QString& sentence) {
  request_ = 0;
  button_->setText(tr("Chec&k the GPUs"));
  bar_->hide();
  doing_->setText(sentence);
}

void GpuCheckRow::press() {
  if (request_ != 0) {
    doing_->setText(tr("Cancelling …"));
    engine_.cancel(request_);
    return;
  }
  button_->setText(tr("Cancel the chec&k"));
  bar_->setValue(0);
  bar_->show();
  doing_->setText(tr("Starting …"));
  const QPointer<GpuCheckRow> self(this);
  request_ =
      engine_.request("check", nlohmann::json::object(), [self](Result<nlohmann::json> result) {
        if (!self) return;
        if (!result) return self->show_idle(sentence(result.error()));
        self->show_idle(result->value("passed", false)
                            ? tr("The GPUs passed their check.")
                            : tr("Not all passed: see above. Copy has a report to send."));
        Q_EMIT self->answered(*result);
      });
}

}  // namespace parallelarium
