// SPDX-License-Identifier: GPL-3.0-or-later
// A cluster from what its own tools print: nvidia-smi topo -m and nccl-tests.
#pragma once

#include <optional>

#include "app/sheets/recipes/paste_sheet.h"
#include "engine/plan/placement/machine_choice.h"

namespace parallelarium {

class ClusterSheet : public PasteSheet {
  Q_OBJECT

 public:
  // `base`: the cluster with these GPUs, for what the text does not say.
  explicit ClusterSheet(Machine base, QWidget* parent = nullptr);
  // After accept() it is there.
  const std::optional<MachineChoice>& machine() const { return read_; }

 protected:
  Reading read(const std::string& text) override;

 private:
  Machine base_;
  std::optional<MachineChoice> read_;
};

}  // namespace parallelarium
