// SPDX-License-Identifier: GPL-3.0-or-later
// What a frame of the Layer view and of "Who holds what" draws and makes follows what is seen, not
// how many layers, micro-batches, ranks and ops there are. tests/bench measures how long it takes.
#include <gtest/gtest.h>

#include <QPainter>
#include <algorithm>

#include "app/views/layer/layer_view.h"
#include "app/views/memory/holders/holders.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/views/counting_device.h"

namespace parallelarium {
namespace {

using FrameFields = std::vector<std::pair<const char*, std::string>>;

void set_up_frames(Session& session, const FrameFields& fields) {
  Setup setup = session.setup();
  for (const auto& [field, value] : fields) ASSERT_TRUE(set_field(setup, field, value)) << field;
  session.history().change(setup, QStringLiteral("set up"));
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
}

constexpr QSize kFrameSize(1100, 900);

int drawn_of_layer(const Session& session, const LayerLook& look) {
  CountingDevice device(kFrameSize);
  QPainter painter(&device);
  const LayerPicture picture = layer_picture(session, look);
  paint_layer(painter, picture, layer_layout(picture, QSizeF(kFrameSize), light_theme()),
              light_theme(), nullptr);
  painter.end();
  return device.drawn();
}

struct HoldersFrames {
  int drawn = 0;    // most in one frame
  int columns = 0;  // most
  int rows = 0;
};

// Frames at moments of the whole step, between which what is held changes.
HoldersFrames frames_of_holders(Session& session, HoldersKept& kept) {
  HoldersFrames most;
  holders_picture(session, kept);
  const std::vector<Nanoseconds> changes = kept.holdings.begin()->second.changes();
  for (std::size_t at = 0; at < changes.size(); at += 1 + changes.size() / 40) {
    session.playback().set_playhead(changes[at]);
    CountingDevice device(kFrameSize);
    QPainter painter(&device);
    const HoldersPicture picture = holders_picture(session, kept);
    paint_holders(painter, picture, holders_layout(picture, QSizeF(kFrameSize)), QSizeF(kFrameSize),
                  {-1, -1}, light_theme(), nullptr);
    painter.end();
    most.drawn = std::max(most.drawn, device.drawn());
    most.columns = std::max(most.columns, int(picture.columns.size()));
    most.rows = std::max(most.rows, int(picture.rows.size()));
  }
  return most;
}

const FrameFields kFramedLayers[] = {
    {{"pp", "1"}, {"tp", "8"}, {"heads", "8"}, {"sequence-parallel", "on"}},
    {{"pp", "1"}, {"cp", "8"}, {"attention", "fused"}},
    {{"pp", "1"}, {"dp", "4"}, {"ep", "4"}, {"tp", "2"}, {"model", "moe-tiny"}},
    {{"pp", "1"}, {"cp", "8"}, {"heads", "8"}, {"context-parallel", "ulysses"}}};

TEST(FrameWork, OfALayerIsTheSameForAnyNumberOfLayersAndMicroBatches) {
  for (const FrameFields& fields : kFramedLayers) {
    std::vector<int> drawn;
    for (const auto& [layers, microbatches] : {std::pair("2", "1"), {"48", "1"}, {"2", "32"}}) {
      Session session;
      FrameFields all = fields;
      all.insert(all.end(), {{"layers", layers}, {"microbatches", microbatches}});
      set_up_frames(session, all);
      session.playback().set_playhead(Nanoseconds{0});
      LayerLook look;
      look.attention_open = look.figures = look.all_ranks = true;
      drawn.push_back(drawn_of_layer(session, look));
    }
    EXPECT_GT(drawn[0], 50);
    EXPECT_EQ(drawn[1], drawn[0]) << "48 layers in place of 2";
    EXPECT_EQ(drawn[2], drawn[0]) << "32 micro-batches in place of 1";
  }
}

TEST(FrameWork, OfALayerDoesNotGrowWithRanksThatAreFolded) {
  std::vector<int> drawn;
  for (const char* ranks : {"8", "32"}) {
    Session session;
    set_up_frames(session, {{"pp", "1"}, {"heads", "32"}, {"hidden", "256"}, {"tp", ranks}});
    session.playback().set_playhead(Nanoseconds{0});
    LayerLook look;
    look.attention_open = true;
    drawn.push_back(drawn_of_layer(session, look));
  }
  EXPECT_LE(drawn[1], drawn[0] * 1.1);
}

// Playing describes the layer and reads the Program no more than once.
TEST(FrameWork, OfALayerDescribesItOnceWhileItIsPlayed) {
  Session session;
  set_up_frames(session, kFramedLayers[0]);
  LayerView view(session);
  view.resize(900, 600);
  view.show();
  const auto described = view.picture().layer;
  const Nanoseconds end = session.subject().prediction()->timeline.duration;
  for (int frame = 0; frame < 20; ++frame) {
    session.playback().set_playhead(end * frame / 20);
    EXPECT_EQ(view.picture().layer, described);
  }
}

TEST(FrameWork, OfWhoHoldsWhatFollowsItsRowsAndColumns) {
  for (const char* zero : {"0", "3"}) {
    Session session;
    set_up_frames(session, {{"pp", "1"}, {"dp", "64"}, {"layers", "96"}, {"zero", zero}});
    HoldersKept kept;
    const HoldersFrames frames = frames_of_holders(session, kept);
    EXPECT_LE(frames.rows, kMostHolders);
    EXPECT_EQ(int(kept.holdings.size()), frames.rows) << "only of ranks that are seen";
    // A bar has its frame, filling, crosses or hatching and a name; captions are few.
    constexpr int kOfABar = 12, kOfAll = 400;
    EXPECT_LE(frames.drawn, frames.rows * frames.columns * kHeldBars * kOfABar + kOfAll);
    // No column is narrower than can be seen.
    EXPECT_LE(frames.columns, kFrameSize.width() / 8);
  }
}

TEST(FrameWork, OfWhoHoldsWhatIsTheSameForManyMoreRanksAndLayers) {
  std::vector<HoldersFrames> frames;
  for (const auto& [ranks, layers] : {std::pair("16", "24"), {"64", "96"}, {"256", "96"}}) {
    Session session;
    set_up_frames(session, {{"pp", "1"}, {"dp", ranks}, {"layers", layers}, {"zero", "3"}});
    HoldersKept kept;
    frames.push_back(frames_of_holders(session, kept));
  }
  for (const HoldersFrames& each : frames) EXPECT_LE(each.drawn, frames[0].drawn * 1.5);
}

}  // namespace
}  // namespace parallelarium
