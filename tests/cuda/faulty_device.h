// SPDX-License-Identifier: Apache-2.0
// A Device that computes what a CPU does and then tells of every launch and what it has written, so
// that a test can count launches and spoil results.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "tests/ranks/transport/forwarded_device.h"

namespace parallelarium {

class FaultyDevice : public ForwardedDevice<FaultyDevice> {
 public:
  // `output`: which of the launch's results, from 0.
  using After = std::function<void(const std::string& launch, int output, Values written)>;
  explicit FaultyDevice(After after) : after_(std::move(after)) {}

  bool fuses(DataType, std::int64_t) const override { return true; }

  template <class Launch>
  void forward(const char* name, std::initializer_list<Values> written, const Launch& launch) {
    launch(inner());
    int output = 0;
    if (written.size() == 0) after_(name, 0, {});
    for (const Values& one : written) after_(name, output++, one);
  }

 private:
  const After after_;
};

}  // namespace parallelarium
