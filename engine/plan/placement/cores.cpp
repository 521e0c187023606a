// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement/cores.h"

#include <sched.h>

#include <fstream>
#include <map>
#include <utility>

namespace parallelarium {

namespace {

// The processing units of this process's affinity mask; nothing where the system does not tell.
std::vector<int> allowed_units() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> units;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return units;
  for (int unit = 0; unit < CPU_SETSIZE; ++unit)
    if (CPU_ISSET(static_cast<std::size_t>(unit), &allowed)) units.push_back(unit);
  return units;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::vector<Core> available_cores(const std::string& folder) {
  // Units of one core have the same list of siblings; core_id alone is not unique on a package of
  // several dies.
  std::map<std::pair<std::string, std::string>, Core> by_siblings;
  std::vector<std::pair<std::string, std::string>> order;
  for (const int unit : allowed_units()) {
    const std::string topology = folder + "/cpu" + std::to_string(unit) + "/topology/";
    std::string siblings = first_line(topology + "thread_siblings_list");
    if (siblings.empty()) siblings = std::to_string(unit);
    std::pair key{first_line(topology + "physical_package_id"), std::move(siblings)};
    const auto [core, added] = by_siblings.try_emplace(key);
    if (added) order.push_back(std::move(key));
    core->second.push_back(unit);
  }
  std::map<std::string, std::vector<Core>> packages;
  for (const auto& key : order) packages[key.first].push_back(std::move(by_siblings[key]));
  std::vector<Core> cores;
  for (auto& [package, of_package] : packages)
    for (Core& core : of_package) cores.push_back(std::move(core));
  if (cores.empty()) cores.push_back({});
  return cores;
}

int available_core_count() {
  static const int kCount = static_cast<int>(available_cores().size());
  return kCount;
}

}  // namespace parallelarium
