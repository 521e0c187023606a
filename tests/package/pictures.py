#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of README.md and of the metainfo are those that app/screenshots makes, and each is below
300 kB and of the size that the metainfo says."""
import pathlib
import re
import struct
import sys

MOST_BYTES = 300_000

root = pathlib.Path(sys.argv[1])
made = set(re.findall(r"^picture (\S+)", (root / "app/screenshots").read_text(encoding="utf-8"), re.M))
there = {path.name for path in (root / "resources/pictures").iterdir()}
readme = set(re.findall(r"resources/pictures/([\w.-]+)", (root / "README.md").read_text(encoding="utf-8")))
metainfo = (root / "resources/io.github.parallelarium.Parallelarium.metainfo.xml").read_text(encoding="utf-8")
images = re.findall(r'<image type="source" width="(\d+)" height="(\d+)">\S*/([\w.-]+)</image>', metainfo)

faults = []
for place, names in (("resources/pictures", there), ("README.md", readme),
                     ("the metainfo", {name for _, _, name in images})):
    if names != made:
        faults.append(f"{place} has the pictures {sorted(names)}, app/screenshots makes {sorted(made)}")
for name in sorted(there):
    content = (root / "resources/pictures" / name).read_bytes()
    if len(content) > MOST_BYTES:
        faults.append(f"{name} has {len(content)} bytes, more than {MOST_BYTES}")
    size = struct.unpack(">II", content[16:24])
    for width, height, image in images:
        if image == name and size != (int(width), int(height)):
            faults.append(f"{name} is {size[0]}x{size[1]}, the metainfo says {width}x{height}")
print("\n".join(faults) or f"{len(made)} pictures")
sys.exit(bool(faults))
