// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/assign/assignment.h"

#include <algorithm>

namespace parallelarium {

namespace {

using Names = std::vector<std::string>;

Names numbered(const char* name, std::size_t count) {
  Names names;
  for (std::size_t at = 0; at < count; ++at) names.push_back(fmt::format("{}-{}", name, at));
  return names;
}

Names slots_of(const std::string& kind, std::size_t count) {
  if (kind == "matrices") return {"qkv", "projection", "mlp-in", "mlp-out"};
  if (kind == "conjugates") return {"before-mlp-in", "before-mlp-out", "behind-mlp-out"};
  if (kind == "states") return {"parameters", "gradients", "optimizer"};
  return numbered("chunk", std::max<std::size_t>(4, count / 2 * 2));
}

Names values_of(const std::string& kind, std::size_t slots) {
  if (kind == "matrices") return {"columns", "rows"};
  if (kind == "conjugates") return {"f", "g", "nothing"};
  if (kind == "states") return {"copy", "shard"};
  return numbered("rank", slots / 2);
}

}  // namespace

const std::vector<std::string>& assignment_kinds() {
  static const Names kKinds = {"matrices", "conjugates", "chunks", "states"};
  return kKinds;
}

Message assignment_fault(const std::string& kind, const std::vector<std::string>& slots,
                         const std::vector<std::string>& values) {
  const Names wanted = slots_of(kind, slots.size());
  if (!std::is_permutation(slots.begin(), slots.end(), wanted.begin(), wanted.end()))
    return message("form-assign-parts", "a step of {} has the parts {}", kind,
                   fmt::format("{}", fmt::join(wanted, ", ")));
  const Names known = values_of(kind, slots.size());
  for (const std::string& value : values)
    if (std::find(known.begin(), known.end(), value) == known.end())
      return message("form-assign-options", "a step of {} has the options {}", kind,
                     fmt::format("{}", fmt::join(known, ", ")));
  return {};
}

AssignmentFacts assignment_facts(const std::string& kind, const Setup& setup,
                                 const Assignment& assignment) {
  if (kind == "matrices") return matrix_facts(assignment);
  if (kind == "conjugates") return conjugate_facts(assignment);
  if (kind == "chunks") return chunk_facts(assignment);
  return state_facts(setup, assignment);
}

}  // namespace parallelarium
