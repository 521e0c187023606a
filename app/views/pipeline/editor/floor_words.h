// SPDX-License-Identifier: GPL-3.0-or-later
// What the order editor says of the floor. Where a task limits what is held, the floor is of orders
// that keep these limits: others may be shorter.
#pragma once

#include <QString>

#include "app/state/step/order_edit.h"

namespace parallelarium {

// That an order as long as the floor is as short as can be.
QString no_shorter_text(const HeldLimits& limits);
// What shows that no order is shorter than the floor.
QString floor_reason(const OrderEdit& edit);

}  // namespace parallelarium
