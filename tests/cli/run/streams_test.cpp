// SPDX-License-Identifier: Apache-2.0
// Pipes, standard input and output, and files that may not grow: what a shell puts around a
// command.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Runs `script` in a shell, where $engine is the program; 124: it took more than 20 s.
Reply shell(const Folder& folder, const std::string& script) {
  const std::string file =
      folder.file("script", "engine=" PARALLELARIUM_BINARY_DIR "/parallelarium-engine\ncd \"" +
                                folder.path("") + "\"\n" + script + "\n");
  const int status = std::system(("timeout -k 1 20 bash " + file + " >" + folder.path("out") +
                                  " 2>" + folder.path("err") + " </dev/null")
                                     .c_str());
  Reply reply;
  reply.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  reply.out = folder.read("out");
  reply.err = folder.read("err");
  return reply;
}

TEST(Streams, ASetupIsReadFromStandardInputAndFromPipes) {
  const Folder folder;
  folder.file("setup.json", R"({"mesh": {"pp": 2}, "microbatches": 6})");
  for (const char* words :
       {"$engine predict --setup - --json < setup.json",
        "cat setup.json | $engine predict --setup - --json",
        "cat setup.json | $engine predict --setup /dev/stdin --json",
        "(sleep 0.5; cat setup.json; sleep 0.2) | $engine predict --setup - --json",
        "$engine predict --setup <(sleep 0.5; cat setup.json) --json",
        "mkfifo pipe; (sleep 0.5; cat setup.json > pipe) & $engine predict --setup pipe --json"}) {
    const Reply reply = shell(folder, words);
    ASSERT_EQ(reply.status, kDone) << words << reply.err;
    EXPECT_EQ(reply.json()["setup"]["mesh"]["pp"], 2) << words;
    EXPECT_EQ(reply.json()["setup"]["microbatches"], 6) << words;
  }
  const Reply wrong = shell(folder, "echo nonsense | $engine predict --setup -");
  EXPECT_EQ(wrong.status, kInvalid);
  EXPECT_THAT(wrong.err, StartsWith("standard input: "));
}

TEST(Streams, APipeThatNothingWritesToIsRefused) {
  const Folder folder;
  const auto began = std::chrono::steady_clock::now();
  const Reply reply = shell(folder, "mkfifo pipe; $engine predict --setup pipe");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  EXPECT_EQ(reply.status, kInvalid);
  EXPECT_EQ(reply.err, "Cannot read pipe: it is a pipe, and nothing writes to it.\n");
}

TEST(Streams, AnAnswerIsASetupForTheNextCommand) {
  const Folder folder;
  const Reply again = shell(folder,
                            "$engine predict --pp 2 --microbatches 6 --json | "
                            "$engine predict --setup - --microbatches 7 --json");
  ASSERT_EQ(again.status, kDone) << again.err;
  EXPECT_EQ(again.json()["setup"]["mesh"]["pp"], 2);
  EXPECT_EQ(again.json()["setup"]["microbatches"], 7);
}

TEST(Streams, APictureIsDrawnOfASetupFromAPipe) {
  if (!kWithWindow) GTEST_SKIP() << "the window is not part of this build";
  const Folder folder;
  const Reply reply =
      shell(folder,
            "export QT_QPA_PLATFORM=offscreen; echo '{\"mesh\": {\"pp\": 2}}' | "
            "$engine export a.svg --view pipeline --setup - && grep -q '<svg' a.svg");
  EXPECT_EQ(reply.status, kDone) << reply.err;
}

TEST(Streams, AFileThatMayNotGrowIsToldInASentence) {
  const Folder folder;
  const Reply reply = shell(folder, "ulimit -f 1; $engine export a.json --pp 4");
  EXPECT_EQ(reply.status, kFailed);
  EXPECT_EQ(reply.err, "Cannot write a.json: File too large.\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path("a.json")));
}

// A step takes 16 sequences of 20 ms, so all 1000 would take minutes.
TEST(Streams, ARunEndsWhenNobodyReadsItsAnswer) {
  const Folder folder;
  folder.pretend_calibrated();
  const std::string run = "$engine run --pp 1 --backend paced --stretch 20 --steps 1000";
  const std::string sentence = "Nobody reads the answer any more, so the run was stopped.\n";
  for (const std::string& script : {run + " | true; exit ${PIPESTATUS[0]}",
                                    run + " | sleep 1; exit ${PIPESTATUS[0]}", run + " >&-"}) {
    const Reply reply = shell(folder, script);
    EXPECT_EQ(reply.status, kFailed) << script;
    EXPECT_THAT(reply.err, HasSubstr(sentence)) << script;
  }
  // A document is written whoever reads.
  const Reply kept = shell(folder,
                           "$engine run --pp 1 --backend cpu --steps 2 --document a.json | true\n"
                           "grep -q observation a.json");
  EXPECT_EQ(kept.status, kDone) << kept.err;
}

}  // namespace
}  // namespace parallelarium
