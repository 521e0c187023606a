// SPDX-License-Identifier: Apache-2.0
// `run --probe`: what it prints, and files that NumPy opens.
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> probed_run(std::initializer_list<const char*> more) {
  std::vector<std::string> words = small_run({"--pp", "1", "--tp", "2", "--backend", "cpu"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(ProbedRun, TellsShapesCutsAndFiguresOfEveryRank) {
  const Folder folder;
  folder.pretend_calibrated();
  const json answer =
      command(probed_run({"--probe", "layer=0,piece=mlp-out,microbatch=1,phase=forward", "--probe",
                          "piece=head", "--json"}))
          .json();
  EXPECT_GT(answer.at("probe_bytes").get<std::int64_t>(), 0);
  const json& probes = answer.at("probes");
  ASSERT_EQ(probes.size(), 4u);
  const json& first = probes[0];
  EXPECT_EQ(first.at("rank"), 0);
  EXPECT_EQ(first.at("replica"), 0);
  EXPECT_EQ(first.at("layer"), 0);
  EXPECT_EQ(first.at("piece"), "mlp-out");
  EXPECT_EQ(first.at("microbatch"), 1);
  EXPECT_EQ(first.at("phase"), "forward");
  const json& tensors = first.at("tensors");
  ASSERT_EQ(tensors.size(), 4u);
  EXPECT_EQ(tensors[0].at("name"), "act");
  EXPECT_EQ(tensors[0].at("role"), "in");
  EXPECT_EQ(tensors[0].at("shape"), json({1, 16, 64}));
  EXPECT_EQ(tensors[0].at("whole_shape"), json({1, 16, 128}));
  EXPECT_EQ(probes[2].at("rank"), 1);
  EXPECT_EQ(probes[2].at("tensors")[0].at("cut"),
            json::parse(R"([{"dimension": 2, "axis": "tp", "ranges": [[64, 128]]}])"));
  EXPECT_EQ(tensors[0].at("dtype"), "float32");
  EXPECT_EQ(tensors[3].at("role"), "out");
  EXPECT_EQ(tensors[3].at("partial"), "tp");
  EXPECT_EQ(tensors[2].at("replicated_over"), json({"tp"}));
  EXPECT_TRUE(tensors[3].at("file").is_null());
  EXPECT_EQ(tensors[3].at("stored_ranges"), json::array());
  EXPECT_GT(tensors[3].at("norm").get<double>(), 0);
  EXPECT_LE(tensors[3].at("min").get<double>(), tensors[3].at("mean").get<double>());
  EXPECT_LE(tensors[3].at("mean").get<double>(), tensors[3].at("max").get<double>());
  EXPECT_TRUE(probes[1].at("layer").is_null());
}

TEST(ProbedRun, PrintsATable) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply answer = command(probed_run({"--probe", "layer=0,piece=projection"}));
  EXPECT_EQ(answer.status, kDone) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("Probe layer=0,piece=projection,microbatch=0,phase=forward"));
  EXPECT_THAT(answer.out, HasSubstr("partial sum over tp"));
}

TEST(ProbedRun, RefusesWhatIsNotThere) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply layer = command(probed_run({"--probe", "layer=9,piece=qkv", "--json"}));
  EXPECT_EQ(layer.status, kInvalid);
  EXPECT_THAT(layer.err, HasSubstr("The piece qkv is in the layers 0 to 3; say one of them."));
  const Reply text = command(probed_run({"--probe", "layer=0"}));
  EXPECT_EQ(text.status, kInvalid);
  EXPECT_THAT(text.err, HasSubstr("A probe is written"));
}

// Every choice of every token of the EP group arrives at one rank, and its row says which it is.
TEST(ProbedRun, SaysWhichTokenARowOfExpertsIs) {
  const Folder folder;
  folder.pretend_calibrated();
  const std::string out = folder.path("rows");
  const Reply run =
      command(small_run({"--pp", "1", "--dp", "2", "--ep", "2", "--experts", "4", "--top-k", "2",
                         "--expert-ffn", "12", "--backend", "cpu", "--probe",
                         "layer=0,piece=experts", "--probe-out", out.c_str(), "--json"}));
  ASSERT_EQ(run.status, kDone) << run.err;
  const json probes = run.json().at("probes");
  ASSERT_EQ(probes.size(), 2u);
  std::set<std::pair<int, int>> there;
  std::size_t rows = 0;
  for (const json& probe : probes) {
    const json &tokens = probe.at("row_tokens"), &choices = probe.at("row_choices");
    const json& first = probe.at("tensors")[0];
    EXPECT_EQ(first.at("name"), "rows");
    EXPECT_EQ(first.at("dimensions"), json({"R", "C"}));
    EXPECT_EQ(first.at("shape")[0], tokens.size());
    EXPECT_EQ(first.at("cut"), json::parse(R"([{"dimension": 0, "axis": "ep", "ranges": []}])"));
    ASSERT_EQ(choices.size(), tokens.size());
    rows += tokens.size();
    for (std::size_t row = 0; row < tokens.size(); ++row)
      there.insert({tokens[row].get<int>(), choices[row].get<int>()});
    // The archive's arrays have their names in clear.
    std::ifstream file(first.at("file").get<std::string>(), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(content, HasSubstr("row_tokens.npy"));
    EXPECT_THAT(content, HasSubstr("row_choices.npy"));
  }
  const std::size_t all = probes[0].at("tensors")[0].at("whole_shape")[0];
  EXPECT_EQ(all, 2u * 16u * 2u);  // ranks, tokens, choices
  EXPECT_EQ(rows, all);
  EXPECT_EQ(there.size(), all);
  EXPECT_EQ(there.rbegin()->first, 31);
  EXPECT_EQ(there.rbegin()->second, 1);
}

// The figures are those that NumPy finds in the files, where it is installed.
TEST(ProbedRun, WritesWhatNumPyOpens) {
  const Folder folder;
  folder.pretend_calibrated();
  const std::string out = folder.path("tensors");
  const Reply run = command(
      probed_run({"--precision", "mixed-16", "--probe", "layer=1,piece=qkv,phase=weight-gradient",
                  "--probe", "piece=embedding", "--probe-out", out.c_str(), "--json"}));
  ASSERT_EQ(run.status, kDone) << run.err;
  const json probes = run.json().at("probes");
  ASSERT_EQ(probes.size(), 4u);
  const std::string report = folder.file("report.json", probes.dump());
  EXPECT_EQ(std::filesystem::path(probes[0].at("tensors")[0].at("file").get<std::string>())
                .filename()
                .string(),
            "layer-1.qkv.microbatch-0.weight-gradient.rank-0.npz");
  // An environment may hide the system's Python behind one without NumPy.
  std::string python;
  for (const char* each : {"python3", "/usr/bin/python3"})
    if (python.empty() &&
        std::system(fmt::format("{} -c 'import numpy' 2>/dev/null", each).c_str()) == 0)
      python = each;
  if (python.empty()) GTEST_SKIP() << "Python has no NumPy here.";
  const std::string script = folder.file("read.py", R"(import json, sys, numpy
for probe in json.load(open(sys.argv[1])):
    for tensor in probe["tensors"]:
        array = numpy.load(tensor["file"])[tensor["name"]]
        assert list(array.shape) == tensor["shape"], (array.shape, tensor)
        assert tensor["stored_ranges"] == [[0, size] for size in array.shape], tensor
        assert array.dtype == numpy.float32 or array.dtype == numpy.int32, array.dtype
        norm = numpy.linalg.norm(array.astype(numpy.float64))
        assert abs(norm - tensor["norm"]) <= 1e-9 * norm, (norm, tensor)
        assert array.min() == tensor["min"] and array.max() == tensor["max"], tensor
)");
  EXPECT_EQ(std::system(fmt::format("{} '{}' '{}'", python, script, report).c_str()), 0);
}

}  // namespace
}  // namespace parallelarium
