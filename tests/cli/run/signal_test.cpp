// SPDX-License-Identifier: Apache-2.0
// Ctrl-C ends a command with one sentence, and leaves nothing behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using testing::HasSubstr;

struct Case {
  std::vector<std::string> words;
  int signal;
  bool draws = false;
};

const std::string kLessons = PARALLELARIUM_SOURCE_DIR "/lessons";

class Signal : public testing::TestWithParam<Case> {};

TEST_P(Signal, CancelsInOneSentenceAndLeavesNothing) {
  const Folder folder;
  folder.pretend_calibrated();
  std::filesystem::create_directory(folder.path("tmp"));
  setenv("TMPDIR", folder.path("tmp").c_str(), 1);
  setenv("QT_QPA_PLATFORM", "offscreen", 1);
  std::vector<std::string> words = GetParam().words;
  if (GetParam().draws && !kWithWindow) GTEST_SKIP() << "the window is not part of this build";
  words.insert(words.begin(), PARALLELARIUM_BINARY_DIR "/parallelarium-engine");
  for (std::string& word : words)
    if (word.rfind("{}", 0) == 0) word = folder.path(word.substr(2));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, folder.path("out").c_str(),
                                   O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, folder.path("err").c_str(),
                                   O_WRONLY | O_CREAT, 0600);
  pid_t process = -1;
  ASSERT_EQ(posix_spawn(&process, arguments[0], &files, nullptr, arguments.data(), environ), 0);
  posix_spawn_file_actions_destroy(&files);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  kill(process, GetParam().signal);
  int status = 0;
  const auto began = std::chrono::steady_clock::now();
  while (waitpid(process, &status, WNOHANG) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  unsetenv("TMPDIR");
  unsetenv("QT_QPA_PLATFORM");
  const std::string said = folder.read("err");
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << said;
  EXPECT_EQ(WEXITSTATUS(status), kFailed) << said;
  EXPECT_LT(took.count(), 2) << said;  // 0.5 s, and what a busy computer adds
  EXPECT_THAT(said, HasSubstr("was cancelled.\n"));
  EXPECT_EQ(folder.read("out"), "");
  EXPECT_EQ(folder.files(), 2) << "more than what was printed";
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Signal,
    testing::Values(Case{{"run", "--stretch", "1000", "--steps", "1000"}, SIGINT},
                    Case{{"run", "--pp", "1", "--backend", "cpu", "--steps", "100000"}, SIGTERM},
                    Case{{"calibrate"}, SIGINT}, Case{{"cases"}, SIGINT},
                    Case{{"lesson", "check", kLessons}, SIGTERM},
                    Case{{"lesson", "check", kLessons, "--run", "--samples", "1"}, SIGINT},
                    Case{{"export", "{}a.json", "--run", "--stretch", "1000", "--steps", "1000"},
                         SIGINT},
                    Case{{"export", "{}a.png", "--run", "--stretch", "1000", "--steps", "1000"},
                         SIGTERM,
                         true}));

}  // namespace
}  // namespace parallelarium
