// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/cases/cases_sheet.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/look/scroll_hint.h"
#include "app/look/sentence.h"
#include "app/sheets/cases/case_scatter.h"

namespace parallelarium {

namespace {

// Lines of one source, one model and one figure; empty: of all.
class CaseFilter : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  void keep(const QString& source, const QString& model, const QString& metric) {
    source_ = source;
    model_ = model;
    metric_ = metric;
    invalidateFilter();
  }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    const auto is = [&](int column, const QString& wanted, int role = Qt::DisplayRole) {
      return wanted.isEmpty() || sourceModel()->index(row, column, parent).data(role) == wanted;
    };
    return is(CaseTable::kSource, source_) && is(CaseTable::kMetric, metric_) &&
           is(CaseTable::kRow, model_, CaseTable::kModelRole);
  }

 private:
  QString source_, model_, metric_;
};

// Its first entry stands for all; the box shows what there is in the order of the lines.
QComboBox* filter_box(const QString& name, const QString& all, const CaseTable& table, int column,
                      QWidget* parent, int role = Qt::DisplayRole) {
  auto* box = new QComboBox(parent);
  box->setAccessibleName(name);
  box->addItem(all);
  for (int row = 0; row < table.rowCount(); ++row) {
    const QString text = table.index(row, column).data(role).toString();
    if (!text.isEmpty() && box->findText(text) < 0) box->addItem(text, text);
  }
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(18);
  return box;
}

}  // namespace

CasesSheet::CasesSheet(std::vector<Case> cases, QWidget* parent)
    : Sheet(parent), model_(new CaseTable(std::move(cases), this)) {
  setWindowTitle(tr("Published runs"));
  const QSize wanted(1240, 700);
  resize(parent ? wanted.boundedTo(parent->window()->size() - QSize(32, 48)) : wanted);
  worker_.setMaxThreadCount(1);
  auto* column = new QVBoxLayout(this);
  column->addWidget(build_filters());
  build_table();
  scatter_ = new CaseScatter(this);
  auto* halves = new QSplitter(Qt::Horizontal, this);
  halves->setChildrenCollapsible(false);
  halves->addWidget(view_);
  halves->addWidget(scatter_);
  halves->setStretchFactor(1, 1);
  constexpr int kScrollBar = 24;
  const int table = view_->horizontalHeader()->length() + kScrollBar;
  halves->setSizes({table, std::max(scatter_->minimumWidth(), width() - table)});
  column->addWidget(halves, 1);
  details_ = new QLabel;
  details_->setWordWrap(true);
  details_->setTextFormat(Qt::RichText);
  details_->setAlignment(Qt::AlignTop);
  details_->setOpenExternalLinks(false);
  details_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* content = new QWidget;
  content->setObjectName(QStringLiteral("SelectionContent"));
  auto* lines = new QVBoxLayout(content);
  lines->setContentsMargins(8, 4, 8, 4);
  lines->addWidget(details_);
  auto* area = new QScrollArea(this);
  area->setWidgetResizable(true);
  area->setFixedHeight(112);
  area->setWidget(content);
  add_scroll_hint(*area);
  column->addWidget(area);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  open_ = buttons->addButton(tr("&Open as a setup"), QDialogButtonBox::ActionRole);
  column->addWidget(buttons);
  connect(open_, &QPushButton::clicked, this, &CasesSheet::open_chosen);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(scatter_, &CaseScatter::line_chosen, this, &CasesSheet::choose);
  refresh();
  choose(&model_->lines().front());
  predict_all();
}

CasesSheet::~CasesSheet() {
  stop_ = true;
  worker_.waitForDone();
}

QWidget* CasesSheet::build_filters() {
  auto* bar = new QWidget(this);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(0, 0, 0, 0);
  source_ = filter_box(tr("Source"), tr("All sources"), *model_, CaseTable::kSource, bar);
  model_box_ = filter_box(tr("Model"), tr("All models"), *model_, CaseTable::kRow, bar,
                          CaseTable::kModelRole);
  metric_ = filter_box(tr("Figure"), tr("All figures"), *model_, CaseTable::kMetric, bar);
  summary_ = new QLabel(bar);
  summary_->setProperty("role", "muted");
  summary_->setWordWrap(true);
  row->addWidget(source_);
  row->addWidget(model_box_);
  row->addWidget(metric_);
  row->addSpacing(8);
  row->addWidget(summary_, 1);
  for (QComboBox* box : {source_, model_box_, metric_})
    connect(box, &QComboBox::currentIndexChanged, this, [this] {
      view_->setColumnHidden(CaseTable::kSource, source_->currentIndex() > 0);
      refresh();
      view_->setCurrentIndex(sorted_->index(0, CaseTable::kRow));
    });
  return bar;
}

void CasesSheet::build_table() {
  sorted_ = new CaseFilter(this);
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(CaseTable::kSortRole);
  view_ = new QTableView(this);
  view_->setAccessibleName(tr("Published figures"));
  view_->setModel(sorted_);
  view_->setSortingEnabled(true);
  view_->sortByColumn(-1, Qt::AscendingOrder);  // as the sources have them
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setSelectionMode(QAbstractItemView::SingleSelection);
  view_->setShowGrid(false);
  view_->setWordWrap(false);
  view_->verticalHeader()->hide();
  view_->verticalHeader()->setDefaultSectionSize(24);
  QHeaderView* header = view_->horizontalHeader();
  const int widths[] = {150, 196, 148, 96, 96, 68, 84};
  for (int column = 0; column < CaseTable::kCaseColumns; ++column)
    view_->setColumnWidth(column, std::max(widths[column], header->sectionSizeHint(column)));
  header->setStretchLastSection(true);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &CasesSheet::show_details);
  connect(view_, &QTableView::activated, this, &CasesSheet::open_chosen);
}

// Row by row on the thread; each answer comes back by itself, so that the table fills.
void CasesSheet::predict_all() {
  std::vector<const CaseRow*> rows;
  for (const Case& of : model_->cases())
    for (const CaseRow& row : of.rows)
      if (row.impossible.empty()) rows.push_back(&row);
  left_ = rows.size();
  worker_.start([this, rows = std::move(rows)] {
    for (const CaseRow* row : rows) {
      if (stop_) return;
      const Result<CasePrediction> made = predict_case(*row);
      QMetaObject::invokeMethod(
          this,
          [this, row, found = made ? *made : CasePrediction()] {
            model_->set_predicted(row, found);
            --left_;
            // Points and sums follow at every tenth row: each replot costs more than a row.
            if (left_ % 10 == 0) refresh();
          },
          Qt::QueuedConnection);
    }
  });
}

void CasesSheet::wait() {
  while (left_ > 0) {
    worker_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

void CasesSheet::refresh() {
  static_cast<CaseFilter*>(sorted_)->keep(source_->currentData().toString(),
                                          model_box_->currentData().toString(),
                                          metric_->currentData().toString());
  std::vector<const CaseLine*> shown;
  int impossible = 0;
  for (int row = 0; row < sorted_->rowCount(); ++row) {
    const int line = sorted_->mapToSource(sorted_->index(row, 0)).row();
    shown.push_back(&model_->lines()[std::size_t(line)]);
    if (!shown.back()->row->impossible.empty()) ++impossible;
  }
  scatter_->show_lines(std::move(shown));
  QString text = scatter_->description();
  if (impossible > 0)
    text += QLatin1Char(' ') + tr("%1 cannot be said as a setup.").arg(impossible);
  if (left_ > 0) text = tr("Predicting, %1 rows left …").arg(left_);
  summary_->setText(text);
  if (!view_->currentIndex().isValid() && sorted_->rowCount() > 0) view_->selectRow(0);
  show_details();
}

const CaseLine* CasesSheet::chosen() const {
  const QModelIndex at = view_->currentIndex();
  if (!at.isValid()) return nullptr;
  return &model_->lines()[std::size_t(sorted_->mapToSource(at).row())];
}

void CasesSheet::choose(const CaseLine* line) {
  const auto at = int(line - model_->lines().data());
  const QModelIndex shown = sorted_->mapFromSource(model_->index(at, 0));
  if (!shown.isValid()) return;
  view_->setCurrentIndex(shown);
  view_->scrollTo(shown);
}

void CasesSheet::show_model(const QString& title) {
  model_box_->setCurrentIndex(std::max(0, model_box_->findData(title)));
}

void CasesSheet::show_details() {
  const CaseLine* line = chosen();
  scatter_->mark(line);
  open_->setEnabled(line && line->row->impossible.empty());
  if (!line) return details_->clear();
  const auto text = [](const std::string& words) {
    return QString::fromStdString(words).toHtmlEscaped();
  };
  const auto translated = [](const std::string& words) { return case_text(words).toHtmlEscaped(); };
  QString html =
      QStringLiteral("<b>%1</b>, %2. %3<br>")
          .arg(translated(line->of->title), text(line->row->name), text(line->of->source));
  if (!line->of->url.empty()) html += text(line->of->url) + QStringLiteral("<br>");
  if (!line->row->impossible.empty())
    html += tr("Cannot be said as a setup: %1").arg(translated(line->row->impossible)) +
            QStringLiteral("<br>");
  if (line->too_large) html += sentence(*line->too_large).toHtmlEscaped() + QStringLiteral("<br>");
  if (!line->of->assumed.empty()) {
    html += QStringLiteral("<b>%1</b>").arg(tr("What the source does not say"));
    for (const std::string& sentence : line->of->assumed)
      html += QStringLiteral("<br>– ") + translated(sentence);
  }
  details_->setText(html);
}

void CasesSheet::open_chosen() {
  const CaseLine* line = chosen();
  if (!line || !line->row->impossible.empty()) return;
  const Result<Setup> setup = setup_from_json(line->row->asked);
  if (setup) Q_EMIT setup_chosen(*setup);
}

}  // namespace parallelarium
