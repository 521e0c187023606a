// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sheets/recipes/cluster_sheet.h"

#include "app/look/sentence.h"
#include "app/sheets/recipes/recipe_sheet.h"
#include "engine/plan/machine/cluster_text.h"

namespace parallelarium {

ClusterSheet::ClusterSheet(Machine base, QWidget* parent)
    : PasteSheet({tr("A cluster of your own"), tr("Output of nvidia-smi topo -m and of nccl-tests"),
                  tr("Paste here what “nvidia-smi topo -m” prints on a node, and the output of "
                     "nccl-tests: of a node, and of several. What they do not say stays as in %1.")
                      .arg(sentence(title_of(base))),
                  tr("&Use it")},
                 parent),
      base_(std::move(base)) {}

PasteSheet::Reading ClusterSheet::read(const std::string& text) {
  read_.reset();
  const Result<ClusterText> told = read_cluster(base_, text);
  if (!told) return {sentence(told.error()), {}, false, true};
  Result<MachineChoice> choice = MachineChoice::changed(base_.name, told->changes);
  if (!choice) return {sentence(choice.error()), {}, false, true};
  read_ = std::move(*choice);
  return {sentences_text(told->found), sentences_text(told->assumed), true, false};
}

}  // namespace parallelarium
