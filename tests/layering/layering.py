#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that dependencies point one way: reads every #include below engine/, kernels/ and app/."""
import pathlib
import re
import sys

# Folder -> folders it may include (itself always). The order of the layers is engine/README.md's.
ALLOWED = {
    "kernels": set(),
    "engine/plan": set(),
    "engine/schedules": {"engine/plan"},
    "engine/collectives": {"engine/plan"},
    "engine/passes": {"engine/plan", "engine/schedules", "engine/collectives"},
    "engine/predict": {"engine/plan", "engine/schedules", "engine/collectives", "engine/passes"},
    "engine/wire": {"engine/plan", "engine/schedules", "engine/collectives", "engine/passes", "engine/predict"},
    "engine/lesson": {"engine/plan", "engine/schedules", "engine/collectives", "engine/passes", "engine/predict",
                      "engine/wire"},
    "engine/train": {"engine/plan", "kernels"},
    "engine/run": {"engine/plan", "engine/collectives", "engine/train", "kernels"},
    "engine/worker": {"engine/plan", "engine/schedules", "engine/collectives", "engine/passes",
                      "engine/predict", "engine/wire", "engine/lesson", "engine/train", "engine/run",
                      "kernels"},
    "app": {"engine/plan", "engine/schedules", "engine/collectives", "engine/passes", "engine/predict",
            "engine/wire", "engine/lesson"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
QT = re.compile(r"^(Q[A-Z]\w*|Qt\w+/.*|qcustomplot.*)$")
CUDA = re.compile(r"^(cuda|nccl|cublas|nvml|nvtx)")


def layer_of(path):
    matches = [layer for layer in ALLOWED if path == layer or path.startswith(layer + "/")]
    return max(matches, key=len) if matches else None


def main(root):
    faults = []
    count = 0
    for pattern in ("*.h", "*.cpp", "*.cu", "*.cuh"):
        for top in ("engine", "kernels", "app"):
            for file in sorted((root / top).rglob(pattern)):
                relative = file.relative_to(root).as_posix()
                layer = layer_of(relative)
                text = file.read_text(encoding="utf-8")
                count += 1
                if "SPDX-License-Identifier:" not in text[:200]:
                    faults.append(f"{relative}: no SPDX line")
                if layer is None:
                    faults.append(f"{relative}: belongs to no layer; add its folder to layering.py")
                    continue
                for include in INCLUDE.findall(text):
                    target = layer_of(include)
                    if target and target != layer and target not in ALLOWED[layer]:
                        faults.append(f"{relative}: {layer} must not include {include}")
                    if layer != "app" and QT.match(include):
                        faults.append(f"{relative}: nothing under engine/ or kernels/ includes Qt ({include})")
                    cuda_folder = layer == "kernels" or relative.startswith("engine/run/cuda/")
                    if CUDA.match(include) and not cuda_folder:
                        faults.append(f"{relative}: CUDA stays in kernels/ and engine/run/cuda/ ({include})")
    for fault in faults:
        print(fault)
    print(f"{count} files read, {len(faults)} faults")
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
