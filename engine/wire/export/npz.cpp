// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/export/npz.h"

#include <array>

namespace parallelarium {

namespace {

// The CRC-32 that zip uses: polynomial 0xedb88320, reflected.
std::uint32_t crc32_of(const std::string& head, std::span<const std::byte> bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0xedb88320U : 0U);
      made[i] = value;
    }
    return made;
  }();
  std::uint32_t crc = 0xffffffffU;
  const auto add = [&](std::uint8_t byte) { crc = crc >> 8 ^ table[(crc ^ byte) & 0xffU]; };
  for (const char c : head) add(static_cast<std::uint8_t>(c));
  for (const std::byte byte : bytes) add(static_cast<std::uint8_t>(byte));
  return ~crc;
}

void put(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xffU);
}

// Magic, version 1.0, length of the header, and the header, padded to 64 bytes.
std::string npy_head(const NpyArray& array) {
  std::string shape;
  for (const std::int64_t size : array.shape) shape += fmt::format("{}, ", size);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", array.descr, shape);
  constexpr std::size_t kBefore = 10, kAlign = 64;
  header.append(kAlign - 1 - (kBefore + header.size()) % kAlign, ' ');
  header += '\n';
  std::string head = "\x93NUMPY";
  put(head, 0x0001, 2);
  put(head, header.size(), 2);
  return head + header;
}

// What a file's own head and its line in the directory have in common: from the version needed to
// the lengths of its name and of what is extra. 1980-01-01 for a date: equal runs give equal files.
std::string entry_of(std::uint32_t crc, std::uint64_t size, std::size_t name) {
  std::string entry;
  put(entry, 20, 2);  // version needed
  put(entry, 0, 2);   // flags
  put(entry, 0, 2);   // stored
  put(entry, 0, 2);   // time
  put(entry, 0x21, 2);
  put(entry, crc, 4);
  put(entry, size, 4);
  put(entry, size, 4);
  put(entry, name, 2);
  put(entry, 0, 2);
  return entry;
}

}  // namespace

Result<std::string> to_npz(const std::vector<NpyArray>& arrays) {
  constexpr std::uint64_t kMost = 0xffff0000U;  // room for the directory
  std::string file, directory;
  for (const NpyArray& array : arrays) {
    const std::string head = npy_head(array), name = array.name + ".npy";
    const std::uint64_t size = head.size() + array.bytes.size(), begin = file.size();
    if (begin + size > kMost)
      return message("npz-large",
                     "The tensors of one probe need 4 GiB or more, which an .npz file does not "
                     "hold; probe a smaller piece.");
    const std::string entry = entry_of(crc32_of(head, array.bytes), size, name.size());
    put(file, 0x04034b50, 4);
    file += entry + name + head;
    file.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);  // made by
    directory += entry;
    put(directory, 0, 2);  // comment
    put(directory, 0, 2);  // disk
    put(directory, 0, 2);  // internal attributes
    put(directory, 0, 4);  // external attributes
    put(directory, begin, 4);
    directory += name;
  }
  const std::uint64_t at = file.size();
  file += directory;
  put(file, 0x06054b50, 4);
  put(file, 0, 4);  // disks
  put(file, arrays.size(), 2);
  put(file, arrays.size(), 2);
  put(file, directory.size(), 4);
  put(file, at, 4);
  put(file, 0, 2);
  return file;
}

}  // namespace parallelarium
