// SPDX-License-Identifier: Apache-2.0
// A CPU Device that calls a test's function before every forward product of a linear layer, to fail
// or hang there.
#pragma once

#include <functional>
#include <utility>

#include "tests/ranks/transport/forwarded_device.h"

namespace parallelarium {

class WrappedDevice : public ForwardedDevice<WrappedDevice> {
 public:
  // `before_linear` is given the count of calls so far, from 1.
  explicit WrappedDevice(std::function<void(int)> before_linear)
      : before_linear_(std::move(before_linear)) {}

  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    before_linear_(++calls_);
    ForwardedDevice::linear_forward(y, x, w, bias, N, M, K, y_pitch);
  }

  template <class Launch>
  void forward(const char*, std::initializer_list<Values>, const Launch& launch) {
    launch(inner());
  }

 private:
  const std::function<void(int)> before_linear_;
  int calls_ = 0;
};

}  // namespace parallelarium
