// SPDX-License-Identifier: Apache-2.0
// Gives every case a home of its own, as if it were alone in its process: no calibration, no
// setting and no file of the user or of another case, and the environment that the program was
// started with. Says how much CPU time a case took, its processes included
// (--gtest_output=json:FILE).
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace parallelarium {

class OwnHome : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo&) override {
    cpu_ms_ = cpu_ms_so_far();
    for (char** variable = environ; *variable != nullptr; ++variable)
      environment_.emplace_back(*variable);
    std::string name =
        (std::filesystem::temp_directory_path() / "parallelarium-test-XXXXXX").string();
    home_ = mkdtemp(name.data());
    // The last is what testing::TempDir() returns.
    for (const char* folder : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TEST_TMPDIR"})
      setenv(folder, home_.c_str(), 1);
  }
  void OnTestEnd(const testing::TestInfo&) override {
    testing::Test::RecordProperty("cpu_ms", static_cast<int>(cpu_ms_so_far() - cpu_ms_));
    clearenv();
    for (const std::string& variable : environment_) {
      const std::size_t equals = variable.find('=');
      setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    environment_.clear();
    std::error_code left;  // by a process that still writes
    std::filesystem::remove_all(home_, left);
  }

 protected:
  const std::filesystem::path& home() const { return home_; }

 private:
  static long cpu_ms_so_far() {
    long ms = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      getrusage(who, &used);
      for (const timeval& time : {used.ru_utime, used.ru_stime})
        ms += time.tv_sec * 1000 + time.tv_usec / 1000;
    }
    return ms;
  }

  std::filesystem::path home_;
  long cpu_ms_ = 0;
  std::vector<std::string> environment_;
};

}  // namespace parallelarium
