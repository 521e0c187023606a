// SPDX-License-Identifier: Apache-2.0
// The program itself, with a stand-in for the CUDA module beside it: what is planted there is found
// by `devices --check`, remembered, and keeps ranks away from that GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/wire/collective_messages.h"
#include "engine/wire/messages.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class GpuCheckProgram : public testing::Test {
 protected:
  GpuCheckProgram() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "data");
    std::error_code failed;
    const std::filesystem::path program = PARALLELARIUM_BINARY_DIR "/parallelarium-engine";
    std::filesystem::create_hard_link(program, folder_ / "engine", failed);
    if (failed) std::filesystem::copy_file(program, folder_ / "engine");
    std::filesystem::copy_file(CUDA_STAND_IN, folder_ / "libparallelarium-cuda.so");
  }
  ~GpuCheckProgram() override { std::filesystem::remove_all(folder_); }

  // Ranks on the cores need not calibrate first.
  void pretend_calibrated() const {
    const Folder folder;
    folder.pretend_calibrated();
    std::filesystem::copy(folder.path("parallelarium"), folder_ / "data" / "parallelarium",
                          std::filesystem::copy_options::recursive);
  }
  // With a fault and its environment.
  std::string program(const std::string& fault) const {
    return "PARALLELARIUM_DRIVER=stand-in XDG_DATA_HOME=" + (folder_ / "data").string() +
           " PARALLELARIUM_STAND_INS=" + std::to_string(gpus_) +
           " PARALLELARIUM_STAND_IN=" + fault + " timeout 120 " + (folder_ / "engine").string();
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  struct Reply {
    int status = -1;
    std::string out, err;
    json answer() const { return json::parse(out, nullptr, false); }
  };
  Reply run(const std::string& fault, const std::string& words) const {
    const std::string err = (folder_ / "err").string();
    const std::string line = program(fault) + " " + words + " 2>" + err;
    Reply reply;
    FILE* pipe = popen(line.c_str(), "r");
    if (pipe == nullptr) return reply;
    reply.out = read(pipe);
    const int status = pclose(pipe);
    reply.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    FILE* said = std::fopen(err.c_str(), "r");
    if (said == nullptr) return reply;
    reply.err = read(said);
    std::fclose(said);
    return reply;
  }
  // What the engine says to these requests until it has answered the last.
  std::string serve(const std::string& fault, const std::vector<json>& requests) const {
    std::string framed;
    for (const json& request : requests) framed += frame(request);
    std::ofstream(folder_ / "requests") << framed;
    const std::string said = (folder_ / "said").string();
    std::filesystem::remove(said);
    const std::string last =
        "'\"id\":" + std::to_string(requests.back()["id"].get<int>()) + ",\"jsonrpc\"'";
    // Its input stays open: at its end whatever is under way would be given up.
    const std::string line = "(cat " + (folder_ / "requests").string() +
                             "; for i in $(seq 600); do grep -q " + last + " " + said +
                             " 2>/dev/null && break; sleep 0.1; done) | " + program(fault) +
                             " serve >" + said + " 2>/dev/null";
    EXPECT_EQ(std::system(line.c_str()), 0);
    std::ifstream file(said);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int gpus_ = 2;
  static std::string sentence(const json& failures) {
    return failures.empty() ? "" : failures.at(0).at("sentence").get<std::string>();
  }

 private:
  static std::string read(FILE* file) {
    std::string text;
    char part[4096];
    while (const std::size_t count = std::fread(part, 1, sizeof part, file))
      text.append(part, count);
    return text;
  }
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / "parallelarium-gpu-check";
};

TEST_F(GpuCheckProgram, PassesWhereNothingIsWrong) {
  const Reply reply = run("", "devices --check --json");
  EXPECT_EQ(reply.status, 0) << reply.err << reply.out;
  const json answer = reply.answer();
  ASSERT_EQ(answer.at("gpus").size(), 2u);
  for (int gpu = 0; gpu < 2; ++gpu) {
    EXPECT_EQ(answer["gpus"][gpu].at("device"), gpu);
    EXPECT_EQ(answer["gpus"][gpu].at("passed"), true);
    EXPECT_EQ(answer["gpus"][gpu].at("failures"), json::array());
  }
  ASSERT_EQ(answer.at("links").size(), 1u);
  EXPECT_EQ(answer["links"][0].at("passed"), true);
  EXPECT_GT(answer["links"][0].at("bytes_per_second"), 0);
  EXPECT_LE(answer.at("seconds"), 15);
  EXPECT_THAT(run("", "devices --check").out,
              testing::AllOf(HasSubstr("GPU 1: Stand-in, compute capability 9.0"),
                             HasSubstr("built with CUDA 12.8"), HasSubstr("kernels: passed"),
                             HasSubstr("NCCL 2.28.9"), Not(HasSubstr("FAILED"))));
}

TEST_F(GpuCheckProgram, NamesThePlantedKernel) {
  for (const auto& [fault, said] :
       {std::pair{"gelu", "GELU (1 float32): element 0 of g is 7"},
        {"product", "matrix products (1 x 1 x 1 bfloat16): element 0 of y"},
        {"hang", "GELU (1 float32): does not end within"}}) {
    const Reply reply = run(fault, "devices --check --json");
    EXPECT_EQ(reply.status, 1) << fault << reply.err;
    const json answer = reply.answer();
    ASSERT_TRUE(answer.is_object()) << fault;
    EXPECT_EQ(answer["gpus"][0]["passed"], true) << fault;
    EXPECT_EQ(answer["gpus"][1]["passed"], false) << fault;
    EXPECT_THAT(sentence(answer["gpus"][1]["failures"]), HasSubstr(said));
    EXPECT_THAT(answer["report"].get<std::string>(), HasSubstr(said));
  }
}

TEST_F(GpuCheckProgram, NamesThePlantedPairOrCollective) {
  for (const auto& [fault, said] :
       {std::pair{"corrupts", "GPU 0 to GPU 1 (4099 bytes): byte 2049 is"},
        {"loses", "GPU 0 to GPU 1 (1 bytes): it does not end"}}) {
    const Reply reply = run(fault, "devices --check --json");
    EXPECT_EQ(reply.status, 1) << fault << reply.err;
    const json answer = reply.answer();
    ASSERT_TRUE(answer.is_object()) << fault;
    EXPECT_EQ(answer["links"][0]["passed"], false) << fault;
    EXPECT_THAT(sentence(answer["links"][0]["failures"]), HasSubstr(said));
    EXPECT_EQ(answer["gpus"][0]["passed"], true) << "alone it works";
  }
  const json lost = run("contribution", "devices --check --json").answer();
  ASSERT_TRUE(lost.is_object());
  EXPECT_EQ(lost["links"][0]["passed"], true);
  EXPECT_EQ(lost["groups"][0]["passed"], false);
  EXPECT_THAT(sentence(lost["groups"][0]["failures"]),
              HasSubstr("all_reduce of 3 float32 among GPUs 0 and 1"));
}

TEST_F(GpuCheckProgram, ChecksBeforeTheFirstUseAndRemembers) {
  const std::string words =
      "collective all_reduce --algorithm ring --ranks 2 --bytes 4096 --run --backend cuda --json";
  const Reply first = run("", words);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("never checked"));
  const Reply second = run("", words);
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(second.err, Not(HasSubstr("never checked")));
}

TEST_F(GpuCheckProgram, KeepsRanksAwayFromAGpuThatFailed) {
  const std::string words =
      "collective all_reduce --algorithm ring --ranks 2 --bytes 4096 --run --json --backend ";
  const Reply first = run("gelu", words + "cuda");
  EXPECT_EQ(first.status, 2) << first.out;
  EXPECT_EQ(first.out, "");
  EXPECT_THAT(first.err, HasSubstr("Stand-in failed its check, GELU"));
  // It is remembered, also of a module that is right now: the same build.
  const Reply second = run("", words + "cuda");
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err, HasSubstr("failed its check"));
  EXPECT_EQ(run("", words + "cpu").status, 0);
  EXPECT_THAT(run("", "devices").out, HasSubstr("failed its check"));
  // Until it is checked again.
  EXPECT_EQ(run("", "devices --check").status, 0);
  EXPECT_EQ(run("", words + "cuda").status, 0);
}

TEST_F(GpuCheckProgram, LeavesAutoTheCoresAndSaysWhy) {
  pretend_calibrated();
  const Reply reply = run("gelu", "run --json --pp 2 --backend auto --steps 1 --warmup 0");
  EXPECT_EQ(reply.status, 0) << reply.err;
  EXPECT_THAT(reply.answer().at("backend_reason").get<std::string>(),
              HasSubstr("failed its check, GELU"));
}

// The engine ends, since what hangs cannot be ended; the next start knows.
TEST_F(GpuCheckProgram, EndsWhereAGpuHangsAndAvoidsItFromThenOn) {
  const std::string words = "run --json --pp 1 --backend cuda --steps 1 --warmup 0 --devices ";
  const Reply first = run("hang", words + "1");
  EXPECT_EQ(first.status, 1) << first.out;
  EXPECT_THAT(first.err, HasSubstr("GPU 1 did not end what it was given in its check"));
  const Reply second = run("", words + "1");
  EXPECT_EQ(second.status, 2) << second.err;
  EXPECT_THAT(second.err, HasSubstr("does not end within"));
}

// Two of three are used, and not checked again.
TEST_F(GpuCheckProgram, RemembersWhereOneOfThreeFails) {
  gpus_ = 3;
  const std::string words =
      "collective all_reduce --algorithm ring --ranks 2 --bytes 4096 --run --json --backend cuda";
  const Reply first = run("gelu", words);
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("never checked"));
  EXPECT_THAT(first.err, HasSubstr("GELU (1 float32)"));
  const Reply second = run("gelu", words);
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(second.err, Not(HasSubstr("never checked")));
}

// A pair that hangs: each of it is used with the third, and alone.
TEST_F(GpuCheckProgram, BarsAPairTogetherAndNotAlone) {
  gpus_ = 3;
  const std::string words =
      "collective all_reduce --algorithm ring --bytes 4096 --run --json --backend cuda --ranks ";
  const Reply first = run("loses", words + "2");
  EXPECT_EQ(first.status, 0) << first.err << first.out;
  const Reply second = run("loses", words + "2");
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(second.err, Not(HasSubstr("never checked")));
  const Reply all = run("loses", words + "3");
  EXPECT_EQ(all.status, 2) << all.out;
  EXPECT_THAT(all.err, HasSubstr("GPUs 0 and 1 failed their check together"));
  EXPECT_EQ(run("loses", words + "2 --devices 1,2").status, 0);
  EXPECT_THAT(run("loses", "devices").out, HasSubstr("Not used together: GPUs 0 and 1"));
}

// The calibration itself, of devices that are none, would take minutes: it ends once the check has
// been told.
TEST_F(GpuCheckProgram, ChecksBeforeACalibration) {
  const std::string err = path("err");
  const std::string line = program("gelu") + " calibrate --gpus --json >/dev/null 2>" + err +
                           " & for i in $(seq 1200); do grep -q 'GELU (1 float32)' " + err +
                           " && break; kill -0 $! || break; sleep 0.1; done; kill $!; wait";
  EXPECT_NE(std::system(line.c_str()), -1);
  std::ifstream file(err);
  const std::string said{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(said, HasSubstr("never checked"));
  EXPECT_THAT(said, HasSubstr("GELU (1 float32)"));
}

// What the window hears: of the GPU that is barred, why the ranks are elsewhere, and the answer.
TEST_F(GpuCheckProgram, TellsTheWindowWhatACheckFound) {
  CollectiveRequest request;
  request.spec.ranks = 2;
  request.spec.bytes = 4096;
  request.backend = Backend::kAuto;
  const std::string said = serve(
      "gelu",
      {{{"jsonrpc", "2.0"},
        {"id", 1},
        {"method", "initialize"},
        {"params", {{"version", kProtocolVersion}}}},
       {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "collective"}, {"params", to_json(request)}}});
  EXPECT_THAT(said, HasSubstr("\"method\":\"$/devices\""));
  EXPECT_THAT(said, HasSubstr("\"name\":\"cuda\",\"ranks\":1,"));
  EXPECT_THAT(said, HasSubstr("(not on GPUs: Stand-in failed its check, GELU"));
  EXPECT_THAT(said, HasSubstr("\"id\":2,\"jsonrpc\":\"2.0\",\"result\"")) << "on cores";
}

// The ladder of the GPU goes into a file of its own, and is shown with the GPUs of this computer.
TEST_F(GpuCheckProgram, TheMemoriesOfAGpuAreKeptForTheRoofline) {
  const Reply measured = run("", "calibrate --memory --gpus --json");
  ASSERT_EQ(measured.status, 0) << measured.err;
  EXPECT_THAT(measured.err, HasSubstr("gpu_memory.json"));
  const json ladder = measured.answer();
  EXPECT_EQ(ladder.at("device"), "Stand-in");
  EXPECT_EQ(ladder.at("ladder").size(), 5u) << ladder.at("ladder");
  EXPECT_EQ(ladder.at("ladder").at(4).at("level"), "memory");
  EXPECT_NEAR(ladder.at("ladder").at(3).at("latency_seconds").at("value").get<double>(), 150e-9,
              1e-15);
  const Reply text = run("", "calibrate --memory --gpus");
  EXPECT_THAT(text.out, HasSubstr("Stand-in"));
  EXPECT_THAT(text.out, testing::AllOf(HasSubstr("registers"), HasSubstr("150 ns")));
}

}  // namespace
}  // namespace parallelarium
