// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/selection/line_column.h"

#include <QEvent>
#include <QLabel>
#include <algorithm>
#include <map>

#include "app/settings/controls.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostSpare = 40;

// It is asked for its height again and again, which depends on its width and letters alone.
class LineLabel : public QLabel {
 public:
  int heightForWidth(int width) const override {
    auto known = heights_.find(width);
    if (known == heights_.end())
      known = heights_.emplace(width, QLabel::heightForWidth(width)).first;
    return known->second;
  }

 protected:
  void changeEvent(QEvent* event) override {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
      heights_.clear();
  }

 private:
  mutable std::map<int, int> heights_;  // by width
};

QWidget* heading_of(const LineColumn::Line& line) {
  auto* label = new QLabel(line.text.toUpper());
  make_caps(label);
  return label;
}

QWidget* text_of(const LineColumn::Line& line) {
  auto* label = new LineLabel;
  label->setTextFormat(Qt::RichText);
  label->setText(line.text);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  if (!line.role.isEmpty()) label->setProperty("role", line.role);
  return label;
}

}  // namespace

bool LineColumn::show_added() {
  const std::vector<Line> lines = std::exchange(added_, {});
  if (lines == shown_) return false;
  std::size_t same = 0;
  int kept = 0;  // items of the layout; a heading has a space before it, if it is not the first
  for (; same < std::min(lines.size(), shown_.size()) && lines[same] == shown_[same]; ++same)
    kept += lines[same].caps && same > 0 ? 2 : 1;
  std::size_t gone = same;
  while (QLayoutItem* item = takeAt(kept)) {
    if (QWidget* label = item->widget()) {
      label->hide();
      spare_.emplace_back(shown_[gone++], label);
    }
    delete item;
  }
  for (shown_ = lines; same < lines.size(); ++same) {
    if (lines[same].caps && count() > 0) addSpacing(8);
    addWidget(label_of(lines[same]));
  }
  addStretch();
  for (; spare_.size() > kMostSpare; spare_.pop_front()) spare_.front().second->deleteLater();
  return true;
}

void LineColumn::forget_spare() {
  for (const auto& [line, label] : spare_) label->deleteLater();
  spare_.clear();
}

// One that is there and not shown, or a new one.
QWidget* LineColumn::label_of(const Line& line) {
  const auto spare = std::find_if(spare_.begin(), spare_.end(),
                                  [&](const auto& one) { return one.first == line; });
  if (spare == spare_.end()) return line.caps ? heading_of(line) : text_of(line);
  QWidget* label = spare->second;
  spare_.erase(spare);
  return label;
}

}  // namespace parallelarium
