// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/check_memory.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/plan/machine/machine.h"
#include "engine/run/gpu/faults.h"
#include "engine/run/gpu/nccl/nccl_rules.h"

namespace parallelarium {

namespace {

constexpr const char* kFormat = "parallelarium-gpu-checks/1";
constexpr std::size_t kMostTogether = 32;

// Virtual GPUs may have no UUID.
std::string name_of_gpu(const GpuFacts& gpu) { return gpu.uuid.empty() ? gpu.name : gpu.uuid; }

// The linker's build ID of a loaded library, in hexadecimal.
struct BuildId {
  const char* file;
  std::string text;
};
void read_notes(const char* at, std::size_t bytes, std::string& text) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const std::size_t name = (note.n_namesz + 3U) & ~3U, own = (note.n_descsz + 3U) & ~3U;
    if (sizeof note + name + own > bytes) return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(at + sizeof note, "GNU", 4) == 0) {
      for (std::size_t i = 0; i < note.n_descsz; ++i)
        text += fmt::format("{:02x}", static_cast<unsigned char>(at[sizeof note + name + i]));
      return;
    }
    at += sizeof note + name + own;
    bytes -= sizeof note + name + own;
  }
}
int look_at_library(dl_phdr_info* info, std::size_t, void* wanted) {
  auto& id = *static_cast<BuildId*>(wanted);
  if (!std::string_view(info->dlpi_name).ends_with(id.file)) return 0;
  for (int i = 0; i < info->dlpi_phnum && id.text.empty(); ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type == PT_NOTE)
      read_notes(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr), header.p_memsz,
                 id.text);
  }
  // Linked without one: size and time tell builds apart, too.
  std::error_code failed;
  if (id.text.empty())
    id.text = fmt::format(
        "{} bytes of {}", std::filesystem::file_size(info->dlpi_name, failed),
        std::filesystem::last_write_time(info->dlpi_name, failed).time_since_epoch().count());
  return 1;
}

// The number of the driver itself, where Linux tells it.
std::string driver_number() {
  std::string text;
  std::ifstream("/sys/module/nvidia/version") >> text;
  return text;
}

template <class Value>
Value value_of(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  if constexpr (std::is_same_v<Value, std::string>)
    return found->is_string() ? found->template get<std::string>() : Value();
  else
    return found->is_array() ? *found : nlohmann::json::array();
}
CheckKey key_of(const nlohmann::json& json) {
  return {value_of<std::string>(json, "driver"), value_of<std::string>(json, "module"),
          value_of<std::string>(json, "nccl")};
}

}  // namespace

CheckKey check_key_here(const CudaModule& module, bool nccl) {
  BuildId id{"libparallelarium-cuda.so", {}};
  dl_iterate_phdr(look_at_library, &id);
  CheckKey key;
  key.driver = driver_number();
  if (key.driver.empty()) key.driver = "CUDA " + cuda_version_text(module.versions().driver);
  key.module = id.text;
  if (nccl)
    if (const Result<Nccl*> library = module.nccl())
      key.nccl = nccl_version_text((*library)->version());
  return key;
}

std::string gpu_checks_path() {
  const std::string beside = local_machine_path(true);
  if (beside.empty()) return {};
  return std::filesystem::path(beside).replace_filename("gpu_checks.json").string();
}

RememberedChecks RememberedChecks::load(const std::string& path) {
  RememberedChecks checks;
  std::ifstream file(path);
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || value_of<std::string>(json, "format") != kFormat) return checks;
  for (const nlohmann::json& one : value_of<nlohmann::json>(json, "gpus")) {
    if (!one.is_object()) continue;
    checks.gpus_[value_of<std::string>(one, "gpu")] = {
        key_of(one), value_of<std::string>(one, "failure"), value_of<std::string>(one, "date")};
  }
  for (const nlohmann::json& one : value_of<nlohmann::json>(json, "together")) {
    if (!one.is_object()) continue;
    Together together{key_of(one), {}};
    for (const nlohmann::json& gpu : value_of<nlohmann::json>(one, "gpus"))
      if (gpu.is_string()) together.gpus.push_back(gpu.get<std::string>());
    checks.together_.push_back(std::move(together));
  }
  return checks;
}

Result<void> RememberedChecks::save(const std::string& path) const {
  const auto failed = [&](const std::string& what) {
    return message("check-save", "The check cannot be kept in {}: {}.", path, what);
  };
  if (path.empty())
    return message("check-home", "There is no HOME, so the check has no place; set HOME.");
  nlohmann::json gpus = nlohmann::json::array(), together = gpus;
  for (const auto& [name, one] : gpus_)
    gpus.push_back({{"gpu", name},
                    {"driver", one.key.driver},
                    {"module", one.key.module},
                    {"failure", one.failure},
                    {"date", one.date}});
  for (const Together& one : together_)
    together.push_back({{"gpus", one.gpus},
                        {"driver", one.key.driver},
                        {"module", one.key.module},
                        {"nccl", one.key.nccl}});
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return failed(error.message());
  const std::string partial = fmt::format("{}.{}", path, getpid());
  std::ofstream file(partial, std::ios::trunc);
  file << nlohmann::json{{"format", kFormat}, {"gpus", gpus}, {"together", together}}.dump(2)
       << '\n';
  file.close();
  if (file) std::filesystem::rename(partial, path, error);
  if (file && !error) return {};
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  return failed("the disk is full or the folder cannot be written");
}

void RememberedChecks::note(const GpuCheck& check, const CheckKey& key, const std::string& date) {
  const CheckKey alone{key.driver, key.module, {}};
  Together met{key, {}};
  for (const CheckedGpu& gpu : check.gpus) {
    const std::string name = name_of_gpu(gpu.facts);
    if (gpu.failed() || gpu.unreached.empty())
      gpus_[name] = {alone, gpu.failed() ? gpu.failures.front().sentence : "", date};
    if (!gpu.failed()) met.gpus.push_back(name);
  }
  if (met.gpus.size() < 2 || !check.complete()) return;
  std::erase_if(together_, [&](const Together& one) { return one.gpus == met.gpus; });
  together_.push_back(std::move(met));
  if (together_.size() > kMostTogether) together_.erase(together_.begin());
}

std::string RememberedChecks::failure_of(const GpuFacts& gpu, const CheckKey& key) const {
  const auto found = gpus_.find(name_of_gpu(gpu));
  const CheckKey alone{key.driver, key.module, {}};
  return found != gpus_.end() && found->second.key == alone ? found->second.failure : std::string();
}

bool RememberedChecks::covers(const std::vector<GpuFacts>& gpus, const CheckKey& key) const {
  const CheckKey alone{key.driver, key.module, {}};
  std::vector<std::string> good;
  for (const GpuFacts& gpu : gpus) {
    const auto found = gpus_.find(name_of_gpu(gpu));
    if (found == gpus_.end() || found->second.key != alone) return false;
    if (found->second.failure.empty()) good.push_back(found->first);
  }
  if (good.size() < 2) return true;
  return std::any_of(together_.begin(), together_.end(), [&](const Together& one) {
    const auto is_in = [&](const std::string& name) {
      return std::find(one.gpus.begin(), one.gpus.end(), name) != one.gpus.end();
    };
    return one.key == key && std::all_of(good.begin(), good.end(), is_in);
  });
}

void mark_failed(std::vector<GpuFacts>& gpus, const CudaModule& module) {
  const std::string path = gpu_checks_path();
  if (path.empty() || !std::filesystem::exists(path)) return;
  const RememberedChecks checks = RememberedChecks::load(path);
  const CheckKey key = check_key_here(module, false);
  for (std::size_t i = 0; i < gpus.size(); ++i)
    gpus[i].check_failure = checks.failure_of(gpus[i], key);
}

}  // namespace parallelarium
