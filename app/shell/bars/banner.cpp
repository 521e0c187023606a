// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/bars/banner.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QPushButton>

#include "app/look/figures.h"
#include "app/settings/controls.h"

namespace parallelarium {

Banner::Banner(QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("Banner"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 6, 12, 6);
  row->setSpacing(8);
  label_ = new QLabel(this);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  row->addWidget(label_, 1);
  buttons_ = new QHBoxLayout;
  buttons_->setSpacing(6);
  row->addLayout(buttons_);
  hide();
}

void Banner::say(const QString& sentence, Kind kind, std::vector<Choice> choices) {
  QString texts;
  for (const Choice& choice : choices) texts += choice.text + QLatin1Char('\n');
  const bool same = sentence == sentence_ && texts == choice_texts_;
  set_style_property(this, "kind",
                     kind == Kind::kPlain ? QStringLiteral("plain") : QStringLiteral("warning"));
  if (!same) {
    while (QLayoutItem* item = buttons_->takeAt(0)) {
      item->widget()->hide();
      item->widget()->deleteLater();  // a button may be the sender of what leads here
      delete item;
    }
    for (Choice& choice : choices) {
      auto* button = new QPushButton(choice.text, this);
      button->setAccessibleName(choice.accessible_name.isEmpty() ? choice.text
                                                                 : choice.accessible_name);
      connect(button, &QPushButton::clicked, this, std::move(choice.act));
      buttons_->addWidget(button);
    }
    const bool news = !sentence.isEmpty() && sentence != sentence_;
    sentence_ = sentence;
    choice_texts_ = texts;
    label_->setText(with_firm_units(sentence));
    label_->setAccessibleName(sentence);
    if (news) {
      QAccessibleEvent event(label_, QAccessible::Alert);
      QAccessible::updateAccessibility(&event);
    }
  }
  setVisible(!sentence.isEmpty());
}

}  // namespace parallelarium
