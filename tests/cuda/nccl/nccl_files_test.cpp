// SPDX-License-Identifier: Apache-2.0
// Where NCCL is looked for, and that the structures declared for it are those of its library.
#include "engine/run/gpu/nccl/library/nccl_files.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>

namespace parallelarium {
namespace {

namespace fs = std::filesystem;

// A folder that goes with the test.
class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / "nccl-files") {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name, const std::string& text = "no library") const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

Environment of(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

constexpr const char* kWheel = "/site-packages/nvidia/nccl/lib/libnccl.so.2";

TEST(NcclFiles, AreTheSystemsThenTheWheelsOfTheUsersPython) {
  const Folder folder;
  const std::string active = folder.file("venv/lib/python3.11" + std::string(kWheel));
  const std::string older = folder.file("tools/lib/python3.9" + std::string(kWheel));
  const std::string newer = folder.file("tools/lib/python3.12" + std::string(kWheel));
  const std::string own = folder.file("home/.local/lib/python3.11" + std::string(kWheel));
  folder.file("tools/bin/python3");
  std::vector<std::string> files = nccl_files(of({{"VIRTUAL_ENV", folder / "venv"},
                                                  {"PATH", "bin:" + (folder / "tools/bin")},
                                                  {"HOME", folder / "home"}}));
  ASSERT_GE(files.size(), 5u);
  files.resize(5);  // behind them those of this computer's own Python
  EXPECT_EQ(files, (std::vector<std::string>{"libnccl.so.2", active, newer, older, own}));
}

TEST(NcclFiles, AreTheOneThatTheUserNamesAlone) {
  const auto files = nccl_files(of({{"PARALLELARIUM_NCCL", "/opt/libnccl.so.2"}, {"HOME", "/"}}));
  EXPECT_EQ(files, std::vector<std::string>{"/opt/libnccl.so.2"});
  const Result<NcclFile> none = open_nccl({"/nowhere/libnccl.so.2"});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, "nccl-missing");
  EXPECT_NE(none.error().text.find("/nowhere/libnccl.so.2"), std::string::npos);
}

// libnccl_stand_in.so and its older twin: every function, and the versions 2.28.9 and 2.18.5.
TEST(NcclFiles, ThatAreNoLibraryOrTooOldAreNotTheLast) {
  const Folder folder;
  const std::string text = folder.file("text.so");
  const std::string good = NCCL_STAND_IN, old = NCCL_STAND_IN_OLD;
  for (const std::vector<std::string>& files : {std::vector{text, good}, std::vector{old, good},
                                                std::vector{std::string("libm.so.6"), good}}) {
    const Result<NcclFile> found = open_nccl(files);
    ASSERT_TRUE(found.ok()) << found.error().text;
    EXPECT_EQ(found->version, 22809);
    EXPECT_EQ(fs::canonical(found->path), fs::canonical(good));
  }
  const Result<NcclFile> too_old = open_nccl({old, text});
  ASSERT_FALSE(too_old.ok());
  EXPECT_EQ(too_old.error().kind, "nccl-old");
  const Result<NcclFile> another = open_nccl({"libm.so.6"});
  ASSERT_FALSE(another.ok());
  EXPECT_NE(another.error().text.find("ncclGetVersion"), std::string::npos) << another.error().text;
}

// The configuration arrives as the library of another version reads it: by `size`, `magic` and
// `version`. The stand-in answers 0 where all of it is in its place.
TEST(NcclFiles, TakeTheConfigurationAsItIsDeclared) {
  Result<NcclFile> found = open_nccl({NCCL_STAND_IN});
  ASSERT_TRUE(found.ok()) << found.error().text;
  nccl_api::UniqueId id{};
  ASSERT_EQ(found->functions.get_unique_id(&id), 0);
  nccl_api::Config config;
  NcclComm* comm = nullptr;
  EXPECT_EQ(found->functions.init(&comm, 2, id, 1, &config), 0);
  EXPECT_NE(comm, nullptr);
  config.magic = 0;
  EXPECT_NE(found->functions.init(&comm, 2, id, 1, &config), 0);
}

}  // namespace
}  // namespace parallelarium
