// SPDX-License-Identifier: Apache-2.0
// Arrays as NumPy reads them: an .npz file is a zip of one .npy file for each array.
// Source: NumPy Enhancement Proposal 1, version 1.0; APPNOTE.TXT of PKWARE, 4.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

struct NpyArray {
  std::string name;   // of the array in the file
  std::string descr;  // "<f4": little-endian, kind, bytes of an element
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // C order
};

// The file's content, each array stored as it is (not compressed). Error: "npz-large", 4 GiB or
// more.
Result<std::string> to_npz(const std::vector<NpyArray>& arrays);

}  // namespace parallelarium
