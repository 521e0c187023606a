// SPDX-License-Identifier: Apache-2.0
// The engine as a process of its own, over pipes, as the window drives it.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "engine/plan/setup/setup.h"
#include "engine/wire/collective_messages.h"
#include "engine/wire/rpc.h"
#include "tests/cli/cli.h"
#include "tests/cli/engine_process.h"

namespace parallelarium {
namespace {

json small(int steps) {
  auto setup = default_setup();
  setup.mesh.pp = 2;
  setup.model.name = "custom";
  setup.model.layers = 2;
  setup.model.hidden = 32;
  setup.model.ffn = 128;
  setup.model.heads = setup.model.kv_heads = 2;
  setup.model.sequence = 16;
  setup.microbatches = 4;
  setup.run.steps = steps;
  setup.run.backend = Backend::kPaced;
  setup.run.stretch = 20;
  return {{"setup", to_json(setup)}};
}

TEST(Serve, GreetsWithItsVersionAndDevices) {
  const Folder folder;
  Engine engine;
  engine.call(1, "initialize", {{"version", kProtocolVersion}});
  const json answer = engine.answer(1);
  EXPECT_EQ(answer.at("result").at("version"), kProtocolVersion);
  EXPECT_TRUE(answer.at("result").at("devices").contains("backends"));
  engine.call(2, "initialize", {{"version", 99}});
  EXPECT_EQ(engine.answer(2).at("error").at("code"), -32602);
  engine.call(3, "devices");
  EXPECT_EQ(engine.answer(3).at("result").at("host"), answer.at("result").at("host"));
  engine.call(4, "shutdown");
  EXPECT_TRUE(engine.answer(4).contains("result"));
  EXPECT_EQ(engine.wait_for_end(5), kDone);
}

TEST(Serve, PredictsAsTheCommandDoes) {
  const Folder folder;
  Engine engine;
  const json setup = {{"model", "llama3-8b"}, {"machine", "dgx-h100"}, {"mesh", {{"dp", 16}}}};
  engine.call(1, "predict", {{"setup", setup}});
  const json answer = engine.answer(1).at("result");
  json printed =
      command({"predict", "--model", "llama3-8b", "--machine", "dgx-h100", "--dp", "16", "--json"})
          .json();
  printed.erase("assumed");  // what the command line left out
  EXPECT_EQ(answer, printed);
  engine.call(2, "predict", {{"setup", {{"mesh", {{"pp", 0}}}}}});
  EXPECT_TRUE(engine.answer(2).contains("error"));
  engine.call(3, "predict");
  EXPECT_EQ(engine.answer(3).at("error").at("data").at("id"), "wire-setup");
  // Folded, it has the same figures.
  engine.call(4, "predict", {{"setup", setup}, {"folded", true}});
  const json same = engine.answer(4).at("result");
  for (const char* key : {"step", "bubble", "memory", "traffic"})
    EXPECT_EQ(same.at(key), answer.at(key)) << key;
  EXPECT_EQ(same.at("level"), "stage");
  engine.call(5, "predict", {{"setup", setup}, {"folded", 1}});
  EXPECT_EQ(engine.answer(5).at("error").at("data").at("id"), "wire-folded");
}

// Without calibrating: no rate matters to ranks that wait for ever.
TEST(Serve, LetsAnOrderHangAndSaysWhereEachRankWaits) {
  const Folder folder;
  Engine engine;
  json wish = small(1);
  wish["setup"]["schedule"] = {{"name", "circle"}, {"order", {"F0 B0 F1 B1", "F0 F1 B0 B1"}}};
  wish["setup"]["microbatches"] = 2;
  engine.call(1, "run", wish);
  EXPECT_TRUE(engine.answer(1).contains("error"));
  wish["let_it_hang_seconds"] = 0.5;
  engine.call(2, "run", wish);
  const json answer = engine.answer(2);
  ASSERT_TRUE(answer.contains("result")) << answer;
  const json hang = answer.at("result").at("hang");
  EXPECT_EQ(hang.at("seconds"), 0.5);
  ASSERT_EQ(hang.at("ranks").size(), 2u);
  EXPECT_EQ(hang.at("ranks")[1].at("for_rank"), 0);
  EXPECT_EQ(hang.at("ranks")[1].at("sentence").at("id"), "stuck-for");
  EXPECT_EQ(answer.at("result").at("machine").at("calibrated"), "");
  folder.pretend_calibrated();
  engine.call(3, "run", small(1));
  EXPECT_TRUE(engine.answer(3).at("result").contains("observation")) << "it runs as before";
}

TEST(Serve, RoutesAsTheCommandDoes) {
  Engine engine;
  auto setup = default_setup();
  setup.model = *find_model("moe-tiny");
  setup.mesh = {4, 1, 1, 1, 2};
  engine.call(1, "route", {{"setup", to_json(setup)}, {"layer", 2}, {"group", 1}});
  const json answer = engine.answer(1);
  EXPECT_EQ(answer.at("result").at("layer"), 2);
  EXPECT_EQ(answer.at("result").at("first_replica"), 2);
  EXPECT_EQ(answer.at("result"), command({"route", "--model", "moe-tiny", "--pp", "1", "--dp", "4",
                                          "--ep", "2", "--layer", "2", "--group", "1", "--json"})
                                     .json());
  engine.call(2, "route", {{"setup", to_json(default_setup())}});
  EXPECT_EQ(engine.answer(2).at("error").at("data").at("id"), "route-dense");
  engine.call(3, "route");
  EXPECT_TRUE(engine.answer(3).contains("error"));
}

// The window draws where an axis leaves the node; micro-batches have no groups.
TEST(Serve, TellsHowManyNodesAGroupOfTheSweptAxisTakes) {
  auto setup = new_setup();
  setup.model = *find_model("llama3-70b");
  setup.machine = "dgx-h100";
  Engine engine;
  engine.call(1, "sweep",
              {{"setup", to_json(setup)},
               {"vary", {"tp=4,8,16"}},
               {"keep", {{"gpus", "64"}}},
               {"show", "efficiency"}});
  const json swept = engine.answer(1, [](const json&) {});
  ASSERT_TRUE(swept.contains("result")) << swept;
  const std::vector<int> of_group = {1, 1, 2};
  for (std::size_t at = 0; at < of_group.size(); ++at) {
    const json& point = swept["result"]["points"][at];
    EXPECT_EQ(point.at("nodes"), 8);
    EXPECT_EQ(point.at("group_nodes"), of_group[at]);
  }
  engine.call(2, "sweep",
              {{"setup", to_json(setup)}, {"vary", {"micro-batch=1"}}, {"show", "step"}});
  const json other = engine.answer(2, [](const json&) {});
  ASSERT_TRUE(other.contains("result")) << other;
  EXPECT_FALSE(other["result"]["points"][0].contains("group_nodes"));
}

TEST(Serve, SweepsAsTheCommandDoes) {
  const Folder folder;
  Engine engine;
  engine.call(1, "sweep",
              {{"setup", to_json(new_setup())}, {"vary", {"pp=1,2,3"}}, {"show", "bubble"}});
  json answer = engine.answer(1, [](const json&) {});
  ASSERT_TRUE(answer.contains("result")) << answer;
  json& points = answer["result"]["points"];
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].at("nodes"), 1);
  EXPECT_EQ(points[2].at("message").at("text"), points[2].at("refused"));
  for (json& point : points) {
    point.erase("nodes");
    point.erase("group_nodes");
    point.erase("message");
  }
  EXPECT_EQ(
      points,
      command({"sweep", "--vary", "pp=1,2,3", "--show", "bubble", "--json"}).json().at("points"));
  engine.call(2, "sweep", {{"setup", to_json(default_setup())}, {"vary", {"p=1"}}, {"show", "x"}});
  EXPECT_EQ(engine.answer(2).at("error").at("data").at("id").get<std::string>().substr(0, 12),
            "vary-unknown");
}

TEST(Serve, ASweepKeepsSettingsAtEachPoint) {
  const Folder folder;
  Engine engine;
  auto base = default_setup();
  ASSERT_NE(base.microbatches, 16);
  json params = {{"setup", to_json(base)}, {"vary", {"pp=1,2"}}, {"show", "bubble"}};
  params["keep"]["microbatches"] = "16";
  engine.call(1, "sweep", params);
  const json kept = engine.answer(1, [](const json&) {});
  base.microbatches = 16;
  engine.call(2, "sweep", {{"setup", to_json(base)}, {"vary", {"pp=1,2"}}, {"show", "bubble"}});
  const json set = engine.answer(2, [](const json&) {});
  ASSERT_TRUE(kept.contains("result") && set.contains("result")) << kept << set;
  for (const std::size_t at : {0u, 1u})
    EXPECT_EQ(kept.at("result").at("points").at(at), set.at("result").at("points").at(at));
  EXPECT_EQ(kept.at("result").at("points").at(1).at("setup").at("microbatches"), 16);
  params["keep"]["gpu"] = "8";
  engine.call(3, "sweep", params);
  EXPECT_EQ(engine.answer(3).at("error").at("data").at("id"), "wire-keep-unknown");
  params["keep"] = {{"gpus", 8}};
  engine.call(4, "sweep", params);
  EXPECT_EQ(engine.answer(4).at("error").at("data").at("id"), "wire-keep");
}

TEST(Serve, RunsWithProgressAndAnswersAnObservation) {
  const Folder folder;
  folder.pretend_calibrated();
  Engine engine;
  json params = small(3);
  params["verify"] = true;
  engine.call(7, "run", params);
  int reports = 0;
  std::vector<double> losses;
  const json answer = engine.answer(7, [&](const json& note) {
    ++reports;
    if (note.at("params").contains("losses")) {
      EXPECT_EQ(note.at("params").at("phase"), "running");
      for (const json& loss : note.at("params").at("losses")) losses.push_back(loss);
      // A rehearsal of a busy computer begins again from step 0 with a longer stretch.
      const auto step = note.at("params").at("step").get<std::size_t>();
      ASSERT_LE(step, losses.size());
      losses.erase(losses.begin(), losses.end() - static_cast<std::ptrdiff_t>(step));
    }
    EXPECT_EQ(note.at("method"), "$/progress");
    EXPECT_EQ(note.at("params").at("id"), 7);
    EXPECT_GE(note.at("params").at("share"), 0);
    EXPECT_LE(note.at("params").at("share"), 1);
    EXPECT_THAT(note.at("params").at("phase").get<std::string>(),
                testing::AnyOf("running", "proving"));
    EXPECT_FALSE(note.at("params").at("what").at("text").get<std::string>().empty());
  });
  ASSERT_TRUE(answer.contains("result")) << answer;
  EXPECT_GT(reports, 0);
  const Result<Observation> observation =
      observation_from_json(answer.at("result").at("observation"));
  ASSERT_TRUE(observation.ok()) << observation.error().text;
  EXPECT_EQ(to_json(observation->setup), small(3).at("setup"));
  EXPECT_EQ(observation->source, Source::kPaced);
  EXPECT_EQ(observation->losses.size(), 4u);
  EXPECT_EQ(losses, observation->losses) << "told as the steps were done";
  EXPECT_EQ(answer.at("result").at("proof").at("holds"), true);
  EXPECT_EQ(answer.at("result").at("machine").at("name"), "local");
}

TEST(Serve, RunsACollectiveAndSaysWhatEveryRankHeld) {
  const Folder folder;
  Engine engine;
  CollectiveRequest request;
  request.spec.ranks = 2;
  request.spec.bytes = 4096;
  request.repeats = 3;
  request.values = true;
  engine.call(1, "collective", to_json(request));
  const json answer = engine.answer(1);
  ASSERT_TRUE(answer.contains("result")) << answer;
  const Result<CollectiveObservation> seen = collective_observation_from_json(answer.at("result"));
  ASSERT_TRUE(seen.ok()) << seen.error().text;
  EXPECT_TRUE(seen->correct);
  EXPECT_EQ(seen->timeline.ranks.size(), 2U);
  EXPECT_EQ(seen->values.steps, 2);
  EXPECT_EQ(seen->values.first.size(), 3U * 2 * 2);
  request.spec.ranks = 65;
  engine.call(2, "collective", to_json(request));
  EXPECT_EQ(engine.answer(2).at("error").at("code"), -32602);
  request.spec.ranks = 2;
  request.backend = Backend::kPaced;
  engine.call(3, "collective", to_json(request));
  const std::string why = engine.answer(3).at("error").at("message");
  EXPECT_NE(why.find("is not rehearsed"), std::string::npos) << why;
}

TEST(Serve, ACancelledRunEndsAtOnceAndTheNextOneWorks) {
  const Folder folder;
  folder.pretend_calibrated();
  Engine engine;
  engine.call(1, "run", small(100000));
  while (true) {  // until it is really running
    const json note = engine.next();
    ASSERT_FALSE(note.is_null());
    ASSERT_TRUE(note.contains("method")) << note;
    if (note.at("params").at("share") > 0) break;
  }
  engine.call(2, "run", small(1));
  EXPECT_EQ(engine.answer(2).at("error").at("code"), -32001);
  engine.cancel(99);  // no such request: nothing happens
  const auto begin = Clock::now();
  engine.cancel(1);
  const json answer = engine.answer(1);
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 0.5);
  ASSERT_TRUE(answer.contains("error")) << answer;
  EXPECT_EQ(answer.at("error").at("code"), -32800);
  EXPECT_EQ(answer.at("error").at("data").at("id"), "cancelled");
  engine.call(3, "run", small(1));
  EXPECT_TRUE(engine.answer(3).contains("result"));
}

// One product of this Setup takes longer than a cancelled run may: the engine answers and ends.
TEST(Serve, ACancelledKernelThatIsTooLongEndsTheEngineInTime) {
  const Folder folder;
  folder.pretend_calibrated();
  Engine engine;
  json params = small(1);
  json& setup = params["setup"];
  setup["mesh"]["pp"] = 1;
  setup["model"].update({{"layers", 1}, {"hidden", 2048}, {"ffn", 64}, {"sequence", 128}});
  setup["micro_batch"] = 64;
  setup["microbatches"] = 1;
  setup["run"].update({{"backend", "cpu"}, {"warmup", 0}});
  engine.call(1, "run", params);
  const json note = engine.next();
  ASSERT_TRUE(note.contains("method")) << note;
  std::this_thread::sleep_for(std::chrono::milliseconds{1500});  // into the products
  const auto begin = Clock::now();
  engine.cancel(1);
  const json answer = engine.answer(1);
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 0.5);
  EXPECT_EQ(answer.at("error").at("code"), -32800) << answer;
}

TEST(Serve, RequestsThatMakeNoSenseAreAnsweredAndForgotten) {
  const Folder folder;
  Engine engine;
  engine.send(json::array({1, 2}));
  EXPECT_EQ(engine.answer(nullptr).at("error").at("code"), -32600);
  engine.send({{"jsonrpc", "1.0"}, {"id", "old"}, {"method", "devices"}});
  EXPECT_EQ(engine.answer("old").at("error").at("code"), -32600);
  for (const char* bad : {"7\r\n\r\n{broken", "0\r\n\r\n", "1\r\n\r\n\xff"}) {
    engine.write_bytes(std::string("Content-Length: ") + bad);
    EXPECT_EQ(engine.answer(nullptr).at("error").at("code"), -32700);
  }
  engine.send({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "rout"}});
  EXPECT_EQ(engine.answer(1).at("error").at("code"), -32601);
  engine.call(2, "run", {{"setup", {{"mash", 1}}}});
  const json wrong = engine.answer(2);
  EXPECT_EQ(wrong.at("error").at("code"), -32602);
  EXPECT_THAT(wrong.at("error").at("message").get<std::string>(), testing::HasSubstr("mash"));
  engine.call(3, "run");
  EXPECT_EQ(engine.answer(3).at("error").at("code"), -32602);
  engine.call(4, "run", {{"setup", {{"mesh", {{"pp", 3}}}}}});
  EXPECT_TRUE(engine.answer(4).contains("error"));
  engine.send(rpc_notification("run", {{"setup", 1}}));  // a notification is not answered
  engine.cancel(1);
  engine.call(5, "devices");
  EXPECT_TRUE(engine.answer(5).contains("result"));
}

TEST(Serve, AStreamOfNoiseIsAnErrorAndTheEnd) {
  const Folder folder;
  for (const std::string& noise :
       {std::string("hello there\r\n\r\n"), std::string("Content-Length: x\r\n\r\n"),
        std::string(10000, '\0')}) {
    Engine engine;
    engine.write_bytes(noise);
    const json answer = engine.next();
    EXPECT_EQ(answer.at("error").at("code"), -32700);
    EXPECT_EQ(engine.wait_for_end(5), kInvalid);
  }
}

TEST(Serve, AStreamThatEndsWithinAMessageIsInvalid) {
  const Folder folder;
  Engine engine;
  engine.write_bytes("Content-Length: 100\r\n\r\n{\"jsonrpc\"");
  engine.close_input();
  EXPECT_EQ(engine.wait_for_end(5), kInvalid);
}

TEST(Serve, EndsAtOnceWhenTheWindowGoesAwayInTheMiddleOfARun) {
  const Folder folder;
  folder.pretend_calibrated();
  Engine engine;
  engine.call(1, "run", small(100000));
  ASSERT_FALSE(engine.next().is_null());
  const auto begin = Clock::now();
  engine.close_input();
  EXPECT_EQ(engine.wait_for_end(5), kDone);
  EXPECT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 1.0);
}

TEST(Serve, ProtocolHasItsOwnStream) {
  const Folder folder;
  Engine engine;
  engine.call(1, "devices");
  ASSERT_TRUE(engine.answer(1).contains("result"));
  const std::string folder_of_process = "/proc/" + std::to_string(engine.pid()) + "/fd/";
  std::error_code error;
  EXPECT_EQ(std::filesystem::read_symlink(folder_of_process + "1", error),
            std::filesystem::read_symlink(folder_of_process + "2", error));
}

// The parent is killed without a chance to say goodbye, and somebody else holds the pipe open.
TEST(Serve, DiesWithAKilledParent) {
  int input[2], report[2];
  ASSERT_EQ(pipe2(input, 0), 0);
  ASSERT_EQ(pipe2(report, O_CLOEXEC), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const pid_t engine = fork();
    if (engine == 0) {
      dup2(input[0], 0);
      execl(kEngine, kEngine, "serve", static_cast<char*>(nullptr));
      _exit(127);
    }
    [[maybe_unused]] const ssize_t count = write(report[1], &engine, sizeof engine);
    pause();
    _exit(0);
  }
  pid_t engine = -1;
  ASSERT_EQ(read(report[0], &engine, sizeof engine), static_cast<ssize_t>(sizeof engine));
  const auto state = [engine] {
    std::ifstream file("/proc/" + std::to_string(engine) + "/stat");
    std::string number, name, letter;
    return file >> number >> name >> letter ? letter + name : std::string("gone");
  };
  const auto until = [&state](const std::function<bool(const std::string&)>& holds) {
    for (int look = 0; look < 1000; ++look) {
      if (holds(state())) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  // Sleeping in its read: it has started and armed itself.
  ASSERT_TRUE(until([](const std::string& now) { return now == "S(parallelarium-e)"; })) << state();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(until([](const std::string& now) { return now == "gone" || now[0] == 'Z'; }))
      << state();
  for (const int end : {input[0], input[1], report[0], report[1]}) close(end);
}

}  // namespace
}  // namespace parallelarium
