// SPDX-License-Identifier: GPL-3.0-or-later
// The sweep of the room Plan: which settings vary, which figure is shown, and what was found. Each
// Session has one.
#pragma once

#include <QObject>
#include <QString>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

class Session;

struct SweepWish {
  QString first = QStringLiteral("micro-batch"), first_values = QStringLiteral("1,2,4,8,16");
  QString second, second_values;  // empty: one line
  QString figure = QStringLiteral("step");
  bool keeps_sizes = true;  // GPUs and global batch stay those of the base if possible
  bool operator==(const SweepWish&) const = default;
};

// The limits of the search that hold for points of one of its plans.
struct SweptLimits {
  std::int64_t memory_bytes = 0;  // bytes of a device that may be used; 0: all that it has
  QString framework;              // that must be able to express a point; empty: any
  bool operator==(const SweptLimits&) const = default;
};

struct SweptPoint {
  std::size_t first = 0, second = 0;  // indices of the values
  std::optional<double> figure;       // in the figure's unit
  std::optional<bool> fits;
  std::int64_t needed_bytes = 0;  // of a device; 0: not told
  int nodes = 0;                  // 0 if the point is refused
  // Nodes on which one group along the first setting's axis has ranks. If the setting is no axis,
  // as `nodes`.
  int group_nodes = 0;
  std::optional<Setup> setup;      // as asked for, with the point's values
  std::optional<Message> refused;  // why there is no setup and no figure
  int ranks() const { return setup ? setup->mesh.ranks() : 0; }
  std::int64_t batch() const { return setup ? setup->global_batch() : 0; }  // sequences of a step
};

struct SweepAnswer {
  SweepWish wish;
  Setup base;
  SweptLimits limits;
  std::string unit;  // "seconds", "bytes", "1", "tokens/s", or empty
  std::vector<QString> firsts, seconds;
  std::vector<SweptPoint> points;  // all second values for the first value, then for the next
  // The index of the base's own value of the first setting. None: it is not among the values.
  std::optional<std::size_t> first_of_base() const;
  std::int64_t capacity_bytes = 0;
};
// Reads the answer of `sweep` to this wish. Error: it is no such answer.
Result<SweepAnswer> sweep_answer_from_json(const nlohmann::json& json, const SweepWish& wish,
                                           const Setup& base, const SweptLimits& limits = {});

// The settings and values that a sweep of this base keeps fixed if it keeps sizes. GPUs stay unless
// DP varies, and the batch stays unless micro-batches vary, since one follows from the other.
std::vector<std::pair<std::string, std::string>> kept_sizes(const SweepWish& wish,
                                                            const Setup& base);

// What was observed in a run of a point's Setup.
struct SweptRun {
  int point = 0;
  double figure = 0;       // in the figure's unit
  bool rehearsed = false;  // its durations were set
};

class SettingSweep : public QObject {
  Q_OBJECT

 public:
  static SettingSweep& of(Session& session);

  const SweepWish& wish() const { return wish_; }
  void set_wish(const SweepWish& wish);
  // The Setup that is swept: the selected plan if the room Plan shows one, else the present Setup.
  Setup base() const;
  // Those of the search, if its plan is swept; else none.
  SweptLimits limits() const;
  void start();  // not while the engine does something else
  void cancel();
  bool sweeping() const { return sweeping_; }
  double progress() const;
  // Why the last sweep has no answer, or empty.
  const QString& error() const { return error_; }
  const std::optional<SweepAnswer>& answer() const { return answer_; }
  // Whether the answer is for other wishes or for other settings than the present ones. A point of
  // it that was put into the Session does not count as other settings.
  bool is_stale() const;

  // The latest run of each point that was run, in the order of the points.
  const std::vector<SweptRun>& runs() const { return runs_; }

  // The index of the selected point, or -1.
  int selected() const { return selected_; }
  void select(int point);
  // Returns the selected point's Setup, or null if none is selected or the point is refused.
  const Setup* selected_setup() const;
  // Puts the selected point into the Session as one undo step.
  void use();

 Q_SIGNALS:
  void changed();

 private:
  explicit SettingSweep(Session& session);
  void hear();
  void find_runs();
  void show_figure();  // if wish and answer differ only in the figure, the answer takes the wish's
  Session& session_;
  SweepWish wish_;
  std::optional<SweepAnswer> answer_;
  nlohmann::json told_;  // the engine's answer for it, with every figure
  std::vector<SweptRun> runs_;
  bool sweeping_ = false;
  int selected_ = -1;
  std::optional<Setup> used_;  // the point that was put into the Session
  QString error_;
};

// The settings that can vary, in the order of their table, with values to begin with. `meant` is
// what `setup` means on this computer, as Session::resolved().
struct Sweepable {
  QString option, label, values;
};
std::vector<Sweepable> sweepable_settings(const Setup& setup, const Setup& meant);

}  // namespace parallelarium
