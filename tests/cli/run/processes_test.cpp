// SPDX-License-Identifier: Apache-2.0
// One process for each rank, started with the variables that torchrun sets, or by mpirun itself.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

#include "engine/run/net/socket.h"
#include "tests/cli/cli.h"
#include "tests/cli/engine_process.h"

namespace parallelarium {
namespace {

using testing::HasSubstr;

std::string free_port() {
  const Result<Socket> listener = listen_on(0, true);
  return std::to_string(port_of(*listener));
}

// Programs that a test has started; what is left of them ends with it.
class Processes {
 public:
  explicit Processes(const Folder& folder) : folder_(folder) {}
  ~Processes() {
    for (const pid_t process : processes_)
      if (process > 0) {
        kill(process, SIGKILL);
        waitpid(process, nullptr, 0);
      }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  void start(std::vector<std::string> words, const std::vector<std::string>& variables) {
    std::vector<std::string> environment = variables;
    for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
    std::vector<char*> arguments, pairs;
    for (std::string& word : words) arguments.push_back(word.data());
    for (std::string& pair : environment) pairs.push_back(pair.data());
    arguments.push_back(nullptr);
    pairs.push_back(nullptr);
    const std::string index = std::to_string(processes_.size());
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, folder_.path("out" + index).c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, folder_.path("err" + index).c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t process = -1;
    ASSERT_EQ(posix_spawnp(&process, arguments[0], &files, nullptr, arguments.data(), pairs.data()),
              0);
    posix_spawn_file_actions_destroy(&files);
    processes_.push_back(process);
  }
  // As torchrun starts them: `size` processes on this host.
  void start_ranks(int size, const std::vector<std::string>& options) {
    const std::string port = free_port();
    for (int rank = 0; rank < size; ++rank) {
      std::vector<std::string> words = {kEngine, "run"};
      words.insert(words.end(), options.begin(), options.end());
      const std::string at = std::to_string(rank), of = std::to_string(size);
      start(words, {"RANK=" + at, "WORLD_SIZE=" + of, "LOCAL_RANK=" + at, "LOCAL_WORLD_SIZE=" + of,
                    "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port});
    }
  }
  void signal(int index, int number) const {
    kill(processes_[static_cast<std::size_t>(index)], number);
  }
  // Waits until it has computed for `seconds`, whatever else the computer does: it starts in 0.1 s.
  void let_compute(int index, double seconds) const {
    clockid_t clock{};
    ASSERT_EQ(clock_getcpuclockid(processes_[static_cast<std::size_t>(index)], &clock), 0);
    const TimePoint end = Clock::now() + std::chrono::seconds{60};
    timespec used{};
    while (clock_gettime(clock, &used) == 0 &&
           static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9 < seconds) {
      ASSERT_LT(Clock::now(), end) << err(index);
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }
  // Its exit status; 128 and the signal where one ended it; -1 where it still runs after `seconds`.
  int wait_for(int index, double seconds) {
    pid_t& process = processes_[static_cast<std::size_t>(index)];
    const TimePoint end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(seconds));
    int status = 0;
    while (waitpid(process, &status, WNOHANG) == 0) {
      if (Clock::now() > end) return -1;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    process = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string out(int index) const { return folder_.read("out" + std::to_string(index)); }
  std::string err(int index) const { return folder_.read("err" + std::to_string(index)); }

 private:
  const Folder& folder_;
  std::vector<pid_t> processes_;
};

std::vector<std::string> small(std::initializer_list<const char*> more, const char* steps = "3",
                               const char* backend = "cpu") {
  std::vector<std::string> words = {"--layers",   "4",    "--hidden",       "32", "--heads", "4",
                                    "--sequence", "16",   "--microbatches", "4",  "--steps", steps,
                                    "--backend",  backend};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class RanksAsProcesses : public testing::TestWithParam<std::vector<const char*>> {};

// The same training as by threads: the same losses to the bit, the same bytes, and one rank's.
TEST_P(RanksAsProcesses, TrainAsThreadsDo) {
  const Folder folder;
  folder.pretend_calibrated();
  std::vector<std::string> options = small({"--verify", "--json"});
  int ranks = 1;
  for (std::size_t i = 0; i < GetParam().size(); i += 2) {
    options.emplace_back(GetParam()[i]);
    options.emplace_back(GetParam()[i + 1]);
    const std::string axis = GetParam()[i];
    if (axis == "--dp" || axis == "--tp" || axis == "--pp" || axis == "--cp")
      ranks *= std::stoi(GetParam()[i + 1]);
  }
  Processes processes(folder);
  processes.start_ranks(ranks, options);
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(processes.wait_for(rank, 120), kDone) << processes.err(rank);
    if (rank > 0) {
      EXPECT_EQ(processes.out(rank) + processes.err(rank), "");
    }
  }
  const auto run = nlohmann::json::parse(processes.out(0), nullptr, false);
  ASSERT_TRUE(run.is_object()) << processes.err(0);
  EXPECT_TRUE(run.at("proof").at("holds")) << run.at("proof");
  EXPECT_EQ(run.at("transport"), "TCP between processes");
  EXPECT_THAT(run.at("backend_reason"), HasSubstr("each a process of torchrun"));
  EXPECT_GT(run.at("clock_error_seconds"), 0);
  EXPECT_LT(run.at("clock_error_seconds"), 0.5);
  EXPECT_EQ(run.at("memory").at("all_ranks").size(), static_cast<std::size_t>(ranks));
  options.insert(options.begin(), "run");
  const Reply threads = command(options);
  ASSERT_EQ(threads.status, kDone) << threads.err;
  const auto expected = threads.json();
  for (const char* key : {"losses", "gradient_norms", "traffic", "ranks_state"})
    EXPECT_EQ(run.at(key), expected.at(key)) << key;
  EXPECT_EQ(run.at("memory").at("all_ranks"), expected.at("memory").at("all_ranks"));
}
INSTANTIATE_TEST_SUITE_P(
    Meshes, RanksAsProcesses,
    testing::Values(std::vector<const char*>{"--dp", "2", "--pp", "1"},
                    std::vector<const char*>{"--pp", "2", "--tp", "2"},
                    std::vector<const char*>{"--dp", "3", "--zero", "3", "--pp", "1"},
                    std::vector<const char*>{"--dp", "2", "--tp", "2", "--zero", "2", "--pp", "1",
                                             "--precision", "mixed-16"},
                    std::vector<const char*>{"--cp", "2", "--attention", "fused", "--pp", "2"}));

TEST(Processes, AllEndWhenOneIsKilledAndItIsNamed) {
  const Folder folder;
  folder.pretend_calibrated();
  Processes processes(folder);
  processes.start_ranks(4, small({"--pp", "2", "--dp", "2"}, "100000"));
  processes.let_compute(2, 0.5);
  EXPECT_EQ(processes.wait_for(0, 0), -1) << "it must still run: " << processes.err(0);
  processes.signal(2, SIGKILL);
  const TimePoint killed = Clock::now();
  for (const int rank : {0, 1, 3}) EXPECT_EQ(processes.wait_for(rank, 10), kFailed);
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - killed).count(), 5);
  EXPECT_THAT(processes.err(0), HasSubstr("The process of rank 2 on "));
  EXPECT_EQ(processes.out(0), "");
  EXPECT_EQ(processes.err(1), "") << "rank 0 tells";
}

TEST(Processes, TheOthersTellWhenRank0IsKilled) {
  const Folder folder;
  folder.pretend_calibrated();
  Processes processes(folder);
  processes.start_ranks(2, small({"--dp", "2", "--pp", "1"}, "100000"));
  processes.let_compute(0, 0.5);
  processes.signal(0, SIGKILL);
  EXPECT_EQ(processes.wait_for(1, 10), kFailed);
  EXPECT_THAT(processes.err(1), HasSubstr("The process of rank 0 on "));
}

TEST(Processes, RefuseWhatDoesNotFitInOneSentence) {
  const Folder folder;
  folder.pretend_calibrated();
  Processes processes(folder);
  processes.start_ranks(2, small({"--dp", "4", "--pp", "1"}));
  EXPECT_EQ(processes.wait_for(0, 30), kInvalid);
  EXPECT_THAT(processes.err(0), HasSubstr("started 2 processes and this Setup has 4 ranks"));
  Processes paced(folder);
  paced.start_ranks(2, small({"--dp", "2", "--pp", "1"}, "3", "paced"));
  EXPECT_EQ(paced.wait_for(1, 30), kInvalid);
  EXPECT_THAT(paced.err(1), HasSubstr("are not rehearsed"));
}

TEST(Processes, AreStartedByMpirunWhereItIsInstalled) {
  const Folder folder;
  folder.pretend_calibrated();
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "mpirun is not installed";
  Processes processes(folder);
  // Bound to a core each they would measure it first: what is kept is of all cores.
  std::vector<std::string> words = {"mpirun", "--oversubscribe", "--bind-to", "none", "-n",
                                    "2",      kEngine,           "run"};
  for (const std::string& word : small({"--pp", "2", "--verify", "--json"})) words.push_back(word);
  processes.start(words, {"MASTER_PORT=" + free_port(), "OMPI_ALLOW_RUN_AS_ROOT=1",
                          "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  EXPECT_EQ(processes.wait_for(0, 120), kDone) << processes.err(0);
  const auto run = nlohmann::json::parse(processes.out(0), nullptr, false);
  ASSERT_TRUE(run.is_object()) << processes.out(0);
  EXPECT_TRUE(run.at("proof").at("holds"));
  EXPECT_THAT(run.at("backend_reason"), HasSubstr("Open MPI"));
}

}  // namespace
}  // namespace parallelarium
