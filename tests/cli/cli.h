// SPDX-License-Identifier: Apache-2.0
// Runs the command line in this process, with a data folder of its own so that a test never reads
// or replaces the calibration of the computer it runs on.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/cli/commands/commands.h"
#include "engine/plan/machine/machine.h"
#include "engine/run/train/run.h"

namespace parallelarium {

inline constexpr bool kWithWindow = PARALLELARIUM_WITH_WINDOW != 0;

struct Reply {
  int status = -1;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

inline Reply command(std::vector<std::string> words) {
  words.insert(words.begin(), "parallelarium-engine");
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::ostringstream out, err;
  Reply answer;
  answer.status = run_command(static_cast<int>(arguments.size()), arguments.data(), out, err);
  answer.out = out.str();
  answer.err = err.str();
  return answer;
}

// Small enough for a fraction of a second.
inline std::vector<std::string> small_run(std::initializer_list<const char*> more) {
  std::vector<std::string> words = {"run", "--layers",   "4",  "--hidden",       "32", "--heads",
                                    "2",   "--sequence", "16", "--microbatches", "4",  "--steps",
                                    "3",   "--warmup",   "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A folder that is the user's data folder and the place for files while it lives.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "worker-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
    setenv("XDG_DATA_HOME", path_.c_str(), 1);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path(name);
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  // Stores assumed rates as if they had been measured, so that a run need not calibrate first.
  void pretend_calibrated() const {
    Machine machine = uncalibrated_local_machine();
    machine.bf16_products = bf16_products_here();
    machine.calibrated = "2026-11-21 for a test";
    EXPECT_TRUE(save_local_machine(machine).ok());
  }
  // Files in it, without those of the calibration.
  int files() const {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      count += entry.is_regular_file() && entry.path().filename() != "machine.json";
    return count;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace parallelarium
