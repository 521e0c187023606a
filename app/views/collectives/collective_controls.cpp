// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of the Collectives view and what they change.
#include <QHBoxLayout>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <type_traits>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/collectives/collectives_state.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

QString text_of(std::string_view name) {
  return QString::fromUtf8(name.data(), qsizetype(name.size()));
}

// The first power of two above or below.
std::int64_t next_size(std::int64_t bytes, int direction) {
  std::int64_t power = 1;
  while (power * 2 <= bytes) power *= 2;
  if (direction > 0) return power == 0 ? 1 : power * 2;
  return power == bytes ? bytes / 2 : power;
}

QComboBox* make_combo(const QString& name, QWidget* parent) {
  auto* box = new ChoiceBox(parent);
  box->setAccessibleName(name);
  box->setToolTip(name);
  box->setFixedHeight(30);
  box->setFocusPolicy(Qt::StrongFocus);
  return box;
}

void choose_data(QComboBox* box, const QVariant& value) {
  const int index = box->findData(value);
  if (index >= 0) box->setCurrentIndex(index);
}

}  // namespace

std::optional<std::int64_t> bytes_from_text(const QString& text) {
  static const QRegularExpression form(
      QStringLiteral("^\\s*(\\d+(?:[.,]\\d+)?)\\s*([KMG]?)(i?)(B?)\\s*$"),
      QRegularExpression::CaseInsensitiveOption);
  const auto match = form.match(QString(text).replace(QChar(0x00a0), QLatin1Char(' ')));
  if (!match.hasMatch()) return std::nullopt;
  const double number = match.captured(1).replace(QLatin1Char(','), QLatin1Char('.')).toDouble();
  const QString unit = match.captured(2).toUpper();
  const bool decimal = match.captured(3).isEmpty() && !match.captured(4).isEmpty();
  double scale = 1;
  for (const char letter : {'K', 'M', 'G'}) {
    if (unit.isEmpty()) break;
    scale *= decimal ? 1000 : 1024;
    if (unit[0] == QLatin1Char(letter)) break;
  }
  if (number * scale > 1e15) return std::nullopt;
  return std::int64_t(std::llround(number * scale));
}

void CollectivesView::change(const QString& what,
                             const std::function<void(CollectiveChoice&)>& edit) {
  CollectiveChoice next = state_->collectives.choice();
  edit(next);
  next.spec.counts.clear();
  state_->collectives.change(next, what);
  refresh_controls();
}

void CollectivesView::build_controls() {
  state_->head = new QWidget(this);
  build_algorithm_controls();
  build_number_controls();
  build_word_controls();
  build_link_controls();
  build_look_controls();
  build_actions();
}

void CollectivesView::build_algorithm_controls() {
  State& s = *state_;
  s.kind = make_combo(tr("Operation"), s.head);
  for (int kind = 0; kind < kCollectiveKinds; ++kind)
    s.kind->addItem(title_of(CollectiveKind(kind)), kind);
  connect(s.kind, &QComboBox::activated, this, [this](int index) {
    const auto kind = CollectiveKind(state_->kind->itemData(index).toInt());
    change(title_of(kind), [kind](CollectiveChoice& choice) {
      choice.spec.kind = kind;
      if (find_algorithm(kind, choice.spec.algorithm)) return;
      choice.spec.algorithm = find_algorithm(kind, "ring") ? "ring" : "";
      choice.spec.segments = choice.spec.node_size = 0;
      for (const AlgorithmInfo& info : collective_algorithms())
        if (info.kind == kind && choice.spec.algorithm.empty()) choice.spec.algorithm = info.name;
    });
  });
  s.algorithm = make_combo(tr("Algorithm"), s.head);
  connect(s.algorithm, &QComboBox::activated, this, [this](int index) {
    const std::string name = state_->algorithm->itemData(index).toString().toStdString();
    change(state_->algorithm->itemText(index), [&](CollectiveChoice& choice) {
      choice.spec.algorithm = name;
      choice.spec.segments = choice.spec.node_size = 0;
    });
  });
}

void CollectivesView::build_number_controls() {
  State& s = *state_;
  s.ranks = new StepBox(
      tr("Ranks"),
      [this](int direction) {
        // To the next number of ranks that the algorithm works with.
        CollectiveChoice next = state_->collectives.choice();
        for (next.spec.ranks += direction;
             next.spec.ranks >= 1 && next.spec.ranks <= kMostShownRanks;
             next.spec.ranks += direction) {
          next.spec.root = std::min(next.spec.root, next.spec.ranks - 1);
          if (make_collective(next.spec)) return QString::number(next.spec.ranks);
        }
        return QString();
      },
      s.head);
  connect(s.ranks, &StepBox::committed, this, [this](const QString& text) {
    bool number = false;
    const int ranks = text.trimmed().toInt(&number);
    if (number)
      change(tr("%1 ranks").arg(ranks), [ranks](CollectiveChoice& choice) {
        choice.spec.ranks = ranks;
        choice.spec.root = std::clamp(choice.spec.root, 0, std::max(0, ranks - 1));
        choice.spec.node_size = 0;
      });
    refresh_controls();
  });
  s.bytes = new StepBox(
      tr("Size of the array"),
      [this](int direction) {
        const CollectiveSpec& spec = state_->collectives.choice().spec;
        const std::int64_t next = next_size(spec.bytes, direction);
        return next < size_of(spec.type) || next > kMostBytes ? QString() : QString::number(next);
      },
      s.head);
  connect(s.bytes, &StepBox::committed, this, [this](const QString& text) {
    if (const auto bytes = bytes_from_text(text); bytes && *bytes <= kMostBytes)
      change(bytes_text(*bytes), [&](CollectiveChoice& choice) { choice.spec.bytes = *bytes; });
    refresh_controls();
  });
  s.root = new StepBox(
      tr("Root"),
      [this](int direction) {
        const CollectiveSpec& spec = state_->collectives.choice().spec;
        const int next = spec.root + direction;
        return next < 0 || next >= spec.ranks ? QString() : QString::number(next);
      },
      s.head);
  connect(s.root, &StepBox::committed, this, [this](const QString& text) {
    bool number = false;
    const int root = text.trimmed().toInt(&number);
    if (number)
      change(tr("Root %1").arg(root),
             [root](CollectiveChoice& choice) { choice.spec.root = root; });
    refresh_controls();
  });
  s.ranks_label = make_label(tr("Ranks"), s.ranks);
  s.bytes_label = make_label(tr("Size"), s.bytes);
  s.root_label = make_label(tr("Root"), s.root);
}

void CollectivesView::build_word_controls() {
  // A box of `values`, the chosen one of which `member` of the choice becomes.
  const auto make_box = [this](const QString& name, const auto& values, const auto& title_of_value,
                               const auto& member) {
    QComboBox* box = make_combo(name, state_->head);
    for (const auto value : values) box->addItem(title_of_value(value), int(value));
    connect(box, &QComboBox::activated, this, [this, box, member](int index) {
      change(box->itemText(index), [&](CollectiveChoice& choice) {
        auto& chosen = member(choice);
        chosen = std::decay_t<decltype(chosen)>(box->itemData(index).toInt());
      });
    });
    return box;
  };
  const auto name = [](auto value) { return text_of(name_of(value)); };
  State& s = *state_;
  s.type = make_box(tr("Type of the elements"),
                    std::array{DataType::kF32, DataType::kF64, DataType::kBf16, DataType::kI32},
                    name, [](CollectiveChoice& choice) -> DataType& { return choice.spec.type; });
  s.reduction =
      make_box(tr("How contributions are combined"),
               std::array{Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax,
                          Reduction::kAvg},
               name, [](CollectiveChoice& choice) -> Reduction& { return choice.spec.reduction; });
  s.topology = make_box(
      tr("Links between the ranks"),
      std::array{Topology::kMemory, Topology::kSwitch, Topology::kRing, Topology::kTorus,
                 Topology::kTwoLevel},
      [](Topology topology) { return title_of(topology); },
      [](CollectiveChoice& choice) -> Topology& { return choice.topology; });
}

void CollectivesView::build_look_controls() {
  State& s = *state_;
  s.look = new QWidget(s.head);
  s.content = new Segments(
      tr("What chunks show"),
      {{name_of(ChunkContent::kContributions), tr("Contributions"),
        tr("Whose contributions are in each chunk")},
       {name_of(ChunkContent::kValues), tr("Values"),
        tr("The first number of each chunk, from the run")},
       {name_of(ChunkContent::kRounding), tr("Last bits"),
        tr("How many elements of the run's result differ from those of another algorithm, both on "
           "the same inexact inputs")}},
      s.look);
  s.shape = new Segments(tr("Picture or table"),
                         {{QStringLiteral("picture"), tr("Picture"), {}},
                          {QStringLiteral("table"), tr("Moves"), tr("Every move, as a table")}},
                         s.look);
  auto* look = new QHBoxLayout(s.look);
  look->setContentsMargins(0, 0, 0, 0);
  look->setSpacing(8);
  look->addWidget(s.content);
  look->addWidget(s.shape);
  s.content->set_value(name_of(ChunkContent::kContributions));
  s.shape->set_value(QStringLiteral("picture"));
}

void CollectivesView::build_actions() {
  State& s = *state_;
  s.show_table = new QAction(tr("&Moves as a table"), this);
  s.show_values = new QAction(tr("Chunks show the &values of the run"), this);
  s.show_rounding = new QAction(tr("Chunks show the &last bits against another algorithm"), this);
  s.show_parts = new QAction(tr("All-reduce as reduce-scatter and all-&gather"), this);
  s.measure = new QAction(tr("Measure every si&ze"), this);
  s.measure->setToolTip(tr("Run the algorithms of the plot at sizes from 4 KiB to 64 MiB"));
  for (QAction* action : {s.show_table, s.show_values, s.show_rounding, s.show_parts})
    action->setCheckable(true);
  connect(s.shape, &Segments::chosen, this, [this](const QString& value) {
    state_->show_table->setChecked(value == QLatin1String("table"));
  });
  connect(s.content, &Segments::chosen, this, [this](const QString& value) {
    state_->collectives.set_content(
        chunk_content_by_name(value).value_or(ChunkContent::kContributions));
  });
  connect(s.show_table, &QAction::toggled, this, [this](bool on) {
    state_->shape->set_value(on ? QStringLiteral("table") : QStringLiteral("picture"));
    refresh();
  });
  const std::pair<QAction*, ChunkContent> contents[] = {{s.show_values, ChunkContent::kValues},
                                                        {s.show_rounding, ChunkContent::kRounding}};
  for (const auto& [action, content] : contents)
    connect(action, &QAction::triggered, this, [this, content = content](bool on) {
      state_->collectives.set_content(on ? content : ChunkContent::kContributions);
    });
  connect(s.show_parts, &QAction::triggered, &s.collectives, &CollectiveSession::set_shows_parts);
  connect(s.measure, &QAction::triggered, this, [this] {
    state_->session.start_sweep(sweep_specs(state_->collectives.plan()->choice.spec));
  });
}

void CollectivesView::refresh_controls() {
  State& s = *state_;
  const CollectiveChoice& choice = s.collectives.choice();
  const CollectiveSpec& spec = choice.spec;
  choose_data(s.kind, int(spec.kind));
  s.algorithm->clear();
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind != spec.kind) continue;
    s.algorithm->addItem(algorithm_title(info.kind, info.name), QString::fromStdString(info.name));
    s.algorithm->setItemData(s.algorithm->count() - 1, sentence(summary_of(info)), Qt::ToolTipRole);
  }
  choose_data(s.algorithm, QString::fromStdString(spec.algorithm));
  s.ranks->set_text(QString::number(spec.ranks));
  s.bytes->set_text(bytes_text(spec.bytes));
  s.root->set_text(QString::number(spec.root));
  choose_data(s.type, int(spec.type));
  choose_data(s.reduction, int(spec.reduction));
  choose_data(s.topology, int(choice.topology));
  const bool rooted = has_root(spec.kind);
  s.root->setVisible(rooted);
  s.root_label->setVisible(rooted);
  s.reduction->setVisible(reduces(spec.kind));
  const std::string wrong =
      s.collectives.problem() ? s.collectives.problem()->field : std::string();
  s.ranks->set_invalid(wrong == "collective.ranks");
  s.bytes->set_invalid(wrong == "collective.bytes");
  s.root->set_invalid(wrong == "collective.root");
  const std::pair<QWidget*, const char*> locks[] = {
      {s.kind, "name"},           {s.algorithm, "algorithm"}, {s.ranks, "ranks"},
      {s.bytes, "bytes"},         {s.root, "root"},           {s.type, "type"},
      {s.reduction, "operation"}, {s.topology, "topology"}};
  for (const auto& [control, key] : locks)
    control->setEnabled(
        s.session.locks().allowed(QStringLiteral("collective.") + QLatin1String(key)));
  refresh_link_controls();
  place_parts();
}

int CollectivesView::look_controls_width() const { return state_->look->sizeHint().width(); }

void CollectivesView::put_look_controls(QLayout* where) {
  State& s = *state_;
  QWidget* parent = where ? where->parentWidget() : s.head;
  if (s.look->parentWidget() == parent) return;
  if (where)
    where->addWidget(s.look);
  else
    s.look->setParent(parent);  // which takes it out of the layout it was in
  s.look->show();
  place_parts();
}

// Controls from left to right, in as many rows as they need.
void CollectivesView::place_parts() {
  State& s = *state_;
  constexpr int kGap = 8, kRow = 36, kMargin = 16, kChoiceFrame = 40;
  struct Unit {
    QLabel* label;
    QWidget* control;
    int width;
  };
  // As wide as their longest choice.
  const auto wide = [](const QComboBox* box, int least) {
    int text = 0;
    for (int item = 0; item < box->count(); ++item)
      text = std::max(text, box->fontMetrics().horizontalAdvance(box->itemText(item)));
    return std::max(least, text + kChoiceFrame);
  };
  std::vector<Unit> units{
      {nullptr, s.kind, wide(s.kind, 126)}, {nullptr, s.algorithm, wide(s.algorithm, 152)},
      {s.ranks_label, s.ranks, 66},         {s.bytes_label, s.bytes, 100},
      {s.root_label, s.root, 60},           {nullptr, s.type, 96},
      {nullptr, s.reduction, 70},           {nullptr, s.topology, wide(s.topology, 132)}};
  for (const LinkControl& link : s.links)
    units.push_back({link.label, link.box, link.is_latency ? 104 : 112});
  units.push_back({nullptr, s.links_word, s.links_word->sizeHint().width()});
  if (s.look->parentWidget() == s.head)
    units.push_back({nullptr, s.look, s.look->sizeHint().width()});
  int x = kMargin, y = 8;
  for (const Unit& unit : units) {
    if (!unit.control->isVisibleTo(s.head)) continue;
    const bool labelled = unit.label && unit.label->isVisibleTo(s.head);
    const int label = labelled ? unit.label->sizeHint().width() + 5 : 0;
    const int whole = label + unit.width;
    if (x > kMargin && x + whole > width() - kMargin) x = kMargin, y += kRow;
    if (labelled) unit.label->setGeometry(x, y, label - 5, 30);
    const int height = unit.control->minimumHeight() > 0 ? unit.control->minimumHeight() : 30;
    unit.control->setGeometry(x + label, y + (30 - height) / 2, unit.width, height);
    x += whole + kGap;
  }
  y += kRow + 2;
  s.head->setGeometry(0, 0, width(), y);
  const QRect below(0, y, width(), std::max(60, height() - y));
  s.scroll->setGeometry(below);
  s.table->setGeometry(below.adjusted(8, 0, -8, -4));
  s.scroll->setVisible(!s.show_table->isChecked());
  s.table->setVisible(s.show_table->isChecked());
  const int inner = below.width() - 2;
  const int wanted = int(std::ceil(collective_height(picture(), inner)));
  const bool scrolls = wanted > below.height();
  s.canvas->resize(inner - (scrolls ? 10 : 0), std::max(wanted, below.height()));
  const QRectF head = layout_now().plot_head;
  const int button = s.sweep->sizeHint().width();
  s.sweep->setGeometry(int(head.right()) - button, int(head.top()) - 4, button, 24);
}

}  // namespace parallelarium
