#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the engine, the kernels and the fuzzers with clang++ as the build does with its own compiler, up to where code would
be made: finds what only one of the two compilers takes.
Arguments: the source folder, the build folder (with compile_commands.json), the compiler, and the processes.

Headers take most of the time, so those that most files include are compiled once, and files of a library many at once,
fewer where they do not go together, such as two with a function of the same name."""
import concurrent.futures
import itertools
import json
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

TOGETHER = 24
HEADERS = ("nlohmann/json.hpp", "fmt/format.h", "fmt/ranges.h", "algorithm", "chrono", "cmath", "filesystem", "fstream",
           "functional", "map", "optional", "thread", "variant")
# What clang does not know, and what is only for making code.
LEFT_OUT = ("-DPARALLELARIUM_CLONES", "-O", "-Wno-restrict", "-Wno-subobject-linkage",
            "-Wno-maybe-uninitialized", "-fno-trapping-math")


def options_of(entry):
    words = shlex.split(entry["command"])
    kept, skip = [], True  # the compiler's own name
    for word in words:
        if skip:
            skip = False
        elif word == "-o":
            skip = True
        elif word not in ("-c", entry["file"]) and not word.startswith(LEFT_OUT):
            kept.append(word)
    return tuple(kept)


def sources_of(entry):
    """What an entry compiles; a unity build's file includes several."""
    if not entry["file"].endswith("_cxx.cxx"):
        return [entry["file"]]
    return re.findall(r'^#include "(.+\.cpp)"$', pathlib.Path(entry["file"]).read_text(encoding="utf-8"), re.M)


def library_of(file, root):
    parts = pathlib.Path(file).relative_to(root).parts
    return parts[:2] if parts[0] == "engine" else parts[:1]


def parts_of(files, root):
    """Equal parts of the files of each library; every fuzzer alone, since all define the same function."""
    for _, group in itertools.groupby(sorted(files), lambda file: library_of(file, root)):
        group = list(group)
        size = 1 if "/tests/fuzz/" in group[0] else -(-len(group) // -(-len(group) // TOGETHER))
        yield from (group[first:first + size] for first in range(0, len(group), size))


def compile_files(compiler, options, files):
    source = "".join(f'#include "{file}"\n' for file in files)
    return subprocess.run([compiler, "-fsyntax-only", *options, "-x", "c++", "-"], input=source, capture_output=True,
                          text=True, check=False)


def with_headers(compiler, options, folder):
    """The options with HEADERS compiled once; unchanged where these options do not find them."""
    once = ("-fpch-instantiate-templates",)
    made = pathlib.Path(folder) / "headers.pch"
    done = subprocess.run([compiler, *options, *once, "-x", "c++-header", "-", "-o", str(made)], capture_output=True,
                          input="".join(f"#include <{header}>\n" for header in HEADERS), text=True, check=False)
    return options if done.returncode else (*options, *once, "-include-pch", str(made))


def faults_of(compiler, options, files):
    """What the compiler says of each file that it refuses alone."""
    done = compile_files(compiler, options, files)
    if done.returncode == 0:
        return []
    if len(files) == 1:
        return [done.stderr]
    half = len(files) // 2
    return faults_of(compiler, options, files[:half]) + faults_of(compiler, options, files[half:])


def main():
    root, build, compiler, processes = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    folders = (str(root / "engine") + "/", str(root / "kernels") + "/")
    alike = {}
    for entry in entries:
        for file in sources_of(entry):
            if file.startswith(folders) and file.endswith(".cpp"):
                alike.setdefault(options_of(entry), set()).add(file)
    # The fuzzers are built by their own preset alone, with what lessons are compiled with.
    lesson = next((options for options, files in alike.items() if any("/engine/lesson/" in file for file in files)), None)
    if lesson:
        alike[lesson].update(str(file) for file in (root / "tests/fuzz").glob("*_fuzz.cpp"))
    # A build that names its files otherwise would leave them out in silence.
    left_out = {str(file) for folder in ("plan", "passes", "predict", "run", "train", "lesson")
                for file in (root / "engine" / folder).glob("**/*.cpp") if "/run/cuda/" not in str(file)}
    left_out -= set().union(*alike.values())
    parts = {options: list(parts_of(files, root)) for options, files in alike.items()}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(int(processes)) as pool:
        most = max(parts, key=lambda options: len(parts[options]), default=None)
        if most:
            parts[with_headers(compiler, most, folder)] = parts.pop(most)
        parts = [(options, part) for options, of_options in parts.items() for part in of_options]
        faults = sum(pool.map(lambda part: faults_of(compiler, *part), parts), [])
    faults += [f"{file}: not in compile_commands.json" for file in sorted(left_out)]
    for fault in faults:
        print(fault)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    count = sum(len(files) for _, files in parts)
    print(f"{count} files in {len(parts)} parts, {len(faults)} faults by {compiler}; {seconds:.0f} s of one core")
    return 1 if faults or not parts else 0


if __name__ == "__main__":
    sys.exit(main())
