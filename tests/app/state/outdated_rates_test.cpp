// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says of calibrated cores that multiply bf16 in another way by now.
#include "app/settings/setup_panel.h"
#include "app/state/session.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/machine/machine.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/state/stand_in_engine.h"

namespace parallelarium {
namespace {

class OutdatedRates : public StandInEngine {
 protected:
  static void store(const char* bf16_products) {
    Machine cores = uncalibrated_local_machine();
    cores.calibrated = "2025-11-23T08:00:00Z";
    cores.bf16_products = bf16_products;
    ASSERT_TRUE(save_local_machine(cores).ok());
  }
  static PlanSetup setup_of(const char* precision) {
    PlanSetup setup = pipeline_setup(1, 2);
    setup.run.backend = Backend::kCpu;
    EXPECT_TRUE(set_field(setup, "precision", precision).ok());
    EXPECT_TRUE(validate(setup).empty()) << validate(setup).front().text;
    return setup;
  }
  static nlohmann::json multiplying(const char* bf16_products) {
    nlohmann::json devices = computer(0, 0);
    if (*bf16_products != '\0') devices["bf16_products"] = bf16_products;
    return devices;
  }
  // Whether the panel asks to calibrate again.
  static bool panel_asks(const SetupPanel& panel) {
    for (const ElidedLabel* label : panel.findChildren<ElidedLabel*>())
      if (label->full_text() == QStringLiteral("calibrate again for bf16")) return true;
    return false;
  }
};

TEST_F(OutdatedRates, AreToldAsSoonAsTheyAreKnownAndOnlyWhereThereIsBf16) {
  struct Case {
    const char *then, *now;
    bool at_once, after;  // known from the file alone; once the engine has told
  };
  for (const Case& one :
       {Case{"", "native", true, true}, Case{"", "widened", true, false}, Case{"", "", true, true},
        Case{"native", "native", false, false}, Case{"native", "widened", false, true},
        Case{"widened", "native", false, true}, Case{"native", "", false, false}}) {
    const std::string name = std::string("then '") + one.then + "', now '" + one.now + "'";
    SCOPED_TRACE(name);
    store(one.then);
    serve(multiplying(one.now));
    Session session;
    SetupPanel panel(session);
    session.history().change(setup_of("mixed-16"), QStringLiteral("set"));
    session.wait_for_prediction();
    if (!has_nvidia_driver()) {
      EXPECT_EQ(session.placer().outdated_rates(session.situation()).has_value(), one.at_once);
      EXPECT_EQ(panel_asks(panel), one.at_once);
    }
    EXPECT_EQ(predicted_title(*session.subject().prediction())
                  .contains(QStringLiteral("calibrated by an older version")),
              *one.then == '\0');
    wait_for_greeting(session.jobs().process());
    EXPECT_EQ(session.placer().outdated_rates(session.situation()).has_value(), one.after);
    EXPECT_EQ(panel_asks(panel), one.after);
    session.history().change(setup_of("fp32"), QStringLiteral("set"));
    session.wait_for_prediction();
    EXPECT_FALSE(session.placer().outdated_rates(session.situation()).has_value());
    EXPECT_FALSE(panel_asks(panel));
    EXPECT_FALSE(predicted_title(*session.subject().prediction())
                     .contains(QStringLiteral("by an older version")));
  }
}

TEST_F(OutdatedRates, AreInTheDoctorWithWhatToDo) {
  const auto calibration = [&](const char* then, const char* now) {
    store(then);
    return doctor_line(multiplying(now), "Calibration");
  };
  const auto found = QStringLiteral("\n2025-11-23T08:00:00Z");
  const QString holds = QStringLiteral("there") + found;
  const QString outdated = QStringLiteral("outdated in bf16") + found;
  const auto again = QStringLiteral("until Run, Calibrate measures again.");
  EXPECT_EQ(calibration("native", "native"), holds);
  EXPECT_EQ(calibration("", "widened"), holds);
  for (const auto& [then, now, why] :
       {std::tuple{"", "native", "An older version measured the cores"},
        {"widened", "native", "The cores multiply bf16 in another way"},
        {"native", "widened", "The cores multiply bf16 in another way"}}) {
    const QString line = calibration(then, now);
    EXPECT_TRUE(line.startsWith(outdated + QLatin1Char('\n') + QLatin1String(why)))
        << line.toStdString();
    EXPECT_TRUE(line.endsWith(again)) << line.toStdString();
  }
}

}  // namespace
}  // namespace parallelarium
