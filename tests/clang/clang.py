#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the engine, the kernels and the fuzzers with clang++ as the build does with its own compiler, up to where code would
be made: finds what only one of the two compilers takes.
Arguments: the source folder, the build folder (with compile_commands.json), the compiler, the processes, and a file in
which the parts are noted that passed. Of those, only a part is compiled again of which a file that it reads has changed.

Headers take most of the time, so those that most files include are compiled once, and files of a library many at once,
fewer where they do not go together, such as two with a function of the same name."""
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time

TOGETHER = 50
HEADERS = ("nlohmann/json.hpp", "fmt/format.h", "fmt/ranges.h", "algorithm", "chrono", "cmath", "filesystem", "fstream",
           "functional", "map", "optional", "thread", "variant")
# What clang does not know, and what is only for making code.
LEFT_OUT = ("-DPARALLELARIUM_CLONES", "-O", "--param=ggc", "-Wno-restrict", "-Wno-subobject-linkage",
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


def state_of(file):
    """Size and time, by which ninja judges, too; None where there is no such file."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def compile_text(compiler, options, text, folder):
    """How it went, and the files that were read with their states as they were before."""
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".d") as listed:
        begin = time.time_ns()
        done = subprocess.run([compiler, *options, "-MD", "-MF", listed.name, "-MT", "text", "-"], input=text,
                              capture_output=True, text=True, check=False)
        words = shlex.split(listed.read().decode().replace("\\\n", " "))[1:]
    read = {word: state_of(word) for word in words if word != "-" and not word.startswith(folder)}
    # What was written meanwhile may not be what was read: of no state, it is read again.
    return done, {file: state if state and state[1] < begin else None for file, state in read.items()}


def with_headers(compiler, options, folder):
    """The options with HEADERS compiled once, and the files read; unchanged where these options do not find them."""
    once = ("-fpch-instantiate-templates",)
    made = str(pathlib.Path(folder) / "headers.pch")
    done, read = compile_text(compiler, (*options, *once, "-x", "c++-header", "-o", made),
                              "".join(f"#include <{header}>\n" for header in HEADERS), folder)
    return (options, {}) if done.returncode else ((*options, *once, "-include-pch", made), read)


def compile_part(compiler, options, files, folder):
    """What the compiler says of each file that it refuses alone, and the files that were read."""
    source = "".join(f'#include "{file}"\n' for file in files)
    done, read = compile_text(compiler, ("-fsyntax-only", *options, "-x", "c++"), source, folder)
    if done.returncode == 0:
        return [], read
    if len(files) == 1:
        return [done.stderr], read
    half = len(files) // 2
    first, second = (compile_part(compiler, options, of, folder) for of in (files[:half], files[half:]))
    return first[0] + second[0], read | first[1] | second[1]


def key_of(version, options, files):
    return hashlib.sha256(json.dumps([version, HEADERS, options, files]).encode()).hexdigest()


def main():
    root, build, compiler, processes, record = sys.argv[1:]
    root, build, record = pathlib.Path(root).resolve(), pathlib.Path(build), pathlib.Path(record)
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
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    parts = {key_of(version, options, part): (options, part) for options, of_options in parts.items() for part in of_options}
    before = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    passed = {key: before[key] for key in parts
              if key in before and all(state and state_of(file) == state for file, state in before[key].items())}
    changed = {key: part for key, part in parts.items() if key not in passed}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(int(processes)) as pool:
        of_changed = [options for options, _ in changed.values()]
        most = max(of_changed, key=of_changed.count, default=None)
        with_pch, of_headers = with_headers(compiler, most, folder) if of_changed.count(most) > 2 else (most, {})
        done = pool.map(lambda part: compile_part(compiler, with_pch if part[0] == most else part[0], part[1], folder),
                        changed.values())
        faults = []
        for key, (found, read) in zip(changed, done):
            faults += found
            if not found:
                passed[key] = read | of_headers
    unfinished = record.with_suffix(".new")  # who is interrupted leaves the record as it was
    unfinished.write_text(json.dumps(passed), encoding="utf-8")
    unfinished.replace(record)
    faults += [f"{file}: not in compile_commands.json" for file in sorted(left_out)]
    for fault in faults:
        print(fault)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    count = sum(len(files) for _, files in parts.values())
    print(f"{count} files in {len(parts)} parts, {len(changed)} of them changed, {len(faults)} faults by {compiler}; "
          f"{seconds:.0f} s of one core")
    return 1 if faults or not parts else 0


if __name__ == "__main__":
    sys.exit(main())
