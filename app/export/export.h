// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of a view (PNG, SVG, PDF), and the figures of what it is about as trace or table.
#pragma once

#include <QSize>
#include <QString>
#include <optional>

#include "app/state/session.h"
#include "app/views/views.h"

namespace parallelarium {

// kTrace, kCsv: Topic::trace_text() and table_text(), or View::table().
enum class ExportKind { kPng, kSvg, kPdf, kTrace, kCsv };

struct ExportOptions {
  ExportKind kind = ExportKind::kPng;
  double scale = 1;  // PNG: pixels per logical pixel
  bool dark = false;
  bool whole_step = true;  // else the visible range
  QSize size;              // logical; empty: the picture's own
  const ViewInfo* view = &first_view();
  QString part;                 // of the view, as in resources/views.json; empty: its picture
  const View* shown = nullptr;  // its widget, whose choice of rank, layer and so on is taken
  bool figures() const { return kind == ExportKind::kTrace || kind == ExportKind::kCsv; }
};

// From a file's ending: .png .svg .pdf .json .csv.
std::optional<ExportKind> export_kind_of(const QString& path);

// The plan of the search that an export of this view is of; none: it is of what is set.
std::optional<Setup> plan_of(const Session& session, const ViewInfo& view);

// Writes the file atomically. Traces and tables hold the run if there is one of what is set, else
// the prediction; of a view that is about a plan they hold that plan's, and the table is the view's
// own where it has one. Refused while a lesson hides what the file would show.
Result<void> export_to(Session& session, const QString& path, const ExportOptions& options);

// Writes the file whole, or leaves the one that is there. Error: nothing to write, or it cannot be
// written.
Result<void> write_bytes(const QString& path, const QByteArray& bytes);

}  // namespace parallelarium
