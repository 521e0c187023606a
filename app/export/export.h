// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of a view (PNG, SVG, PDF), and the timeline as Chrome trace or CSV.
#pragma once

#include <QSize>
#include <QString>
#include <optional>

#include "app/shell/view_kind.h"
#include "app/state/session.h"
#include "app/views/experts/expert_data.h"

namespace parallelarium {

// kTrace: of a collective, what `collective --json` prints.
enum class ExportKind { kPng, kSvg, kPdf, kTrace, kCsv };

struct ExportOptions {
  ExportKind kind = ExportKind::kPng;
  double scale = 1;  // PNG: pixels per logical pixel
  bool dark = false;
  bool whole_step = true;  // else the visible range
  QSize size;              // logical; empty: the picture's own
  ViewKind view = ViewKind::kPipeline;
  ExpertChoice experts;  // Experts: which layer, micro-batch and group
  int rank = -1;  // Memory: index of the built rank; Mesh: global rank; -1: the view's own choice
};

// From a file's ending: .png .svg .pdf .json (Chrome trace) .csv.
std::optional<ExportKind> export_kind_of(const QString& path);

// Writes the file atomically. Traces and tables hold the run if there is one of the present Setup,
// else the prediction. Refused while a lesson hides what the file would show.
Result<void> export_to(const Session& session, const QString& path, const ExportOptions& options);

}  // namespace parallelarium
