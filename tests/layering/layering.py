#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that dependencies point one way, by every #include below engine/, kernels/ and app/, that no two types
have one name, and that every file says its licence: in a line of its own or, where it can hold none, in .reuse/dep5.
Arguments: the source folder, and a file with a line for each library, "name: what it links"."""
import fnmatch
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
QT = re.compile(r"^(Q[A-Z]\w*|Qt\w+/.*|qcustomplot.*)$")
CUDA = re.compile(r"^(cuda|nccl|cublas|nvml|nvtx)")
NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) ?\{|^\}  // (namespace)")
TYPE = re.compile(r"^(?:struct|class|enum class) (?:alignas\(.*?\) )?(\w+)(?!::)\b[^;]*\{")


def folder_of(name):
    return name if name in ("kernels", "app") else f"engine/{name}"


def read_layers(file):
    """Folder -> folders that it may include, its own among them: what its library links, near and far."""
    links = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        name, linked = line.split(":")
        links[folder_of(name)] = {folder_of(other) for other in linked.split()}
    links.setdefault("kernels", set())

    def reach(folder):
        return {folder}.union(*(reach(other) for other in links[folder]))

    return {folder: reach(folder) for folder in links}


def layer_of(path, layers):
    return next((layer for layer in layers if path.startswith(layer + "/")), None)


def licence_faults(root):
    tracked = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=False)
    if tracked.returncode != 0:
        print("no git repository: licences of files other than sources are not looked at")
        return []
    files = [name for name in tracked.stdout.decode().split("\0")
             if name and not name.startswith(("LICENSES/", ".reuse/")) and (root / name).is_file()]
    paragraphs = []  # (patterns, licence), in the older form of the REUSE specification
    for paragraph in (root / ".reuse/dep5").read_text(encoding="utf-8").split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+):((?:.*\n(?: .*\n?)*|.*))", paragraph, re.M))
        if "Files" in fields:
            paragraphs.append((fields["Files"].split(), fields["License"].strip()))
    faults = []
    for name in files:
        if b"SPDX-License-Identifier:" in (root / name).read_bytes()[:400]:
            continue
        if not any(fnmatch.fnmatchcase(name, pattern) for patterns, _ in paragraphs for pattern in patterns):
            faults.append(f"{name}: no SPDX line, and no licence in .reuse/dep5")
    for patterns, licence in paragraphs:
        if not (root / "LICENSES" / f"{licence}.txt").is_file():
            faults.append(f".reuse/dep5: {licence} is not in LICENSES/")
        for pattern in patterns:
            if not any(fnmatch.fnmatchcase(name, pattern) for name in files):
                faults.append(f".reuse/dep5: nothing matches {pattern}")
    return faults


def types_of(text):
    """Names of the types that other files can see, with their namespaces."""
    inside, names = [], []
    for line in text.splitlines():
        if space := NAMESPACE.match(line):
            if not space[2]:
                inside.append(space[1] or None)
            elif inside:
                inside.pop()
        elif (found := TYPE.match(line)) and None not in inside:
            names.append("::".join([*inside, found[1]]))
    return names


def main(root, layers):
    faults = licence_faults(root)
    count = 0
    first = {}  # type -> the file that defines it; of two with one name, a linker keeps the functions of one alone
    for pattern in ("*.h", "*.cpp", "*.cu", "*.cuh"):
        for top in ("engine", "kernels", "app"):
            for file in sorted((root / top).rglob(pattern)):
                relative = file.relative_to(root).as_posix()
                layer = layer_of(relative, layers)
                text = file.read_text(encoding="utf-8")
                count += 1
                for name in types_of(text):
                    if first.setdefault(name, relative) != relative:
                        faults.append(f"{relative}: {first[name]} has a {name} too")
                if layer is None:
                    faults.append(f"{relative}: belongs to no library of engine/CMakeLists.txt")
                    continue
                for include in INCLUDE.findall(text):
                    target = layer_of(include, layers)
                    if target and target not in layers[layer]:
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
    sys.exit(main(pathlib.Path(sys.argv[1]), read_layers(pathlib.Path(sys.argv[2]))))
