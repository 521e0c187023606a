// SPDX-License-Identifier: GPL-3.0-or-later
// CIE L*a*b* (D65) and the CIEDE2000 difference of two such colours.
// Source: Sharma, Wu, Dalal 2005, "The CIEDE2000 color-difference formula".
#pragma once

namespace parallelarium {

struct Lab {
  double l = 0, a = 0, b = 0;
};

double ciede2000(const Lab& one, const Lab& two);

}  // namespace parallelarium
