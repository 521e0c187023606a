#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each CUDA kernel takes of a GPU, read from the machine code and held in a table.

    resources.py check LIBRARY NVCC PASSED   fails (1) where a kernel takes more than the table says
    resources.py write LIBRARY NVCC          writes the table anew

LIBRARY is libparallelarium_kernels_cuda.a, NVCC the compiler that made it. There is a table for one
version of nvcc, since another allocates otherwise: resources-VERSION.txt beside this file. `check`
skips (77) with a reason where there is none for this version, or no cuobjdump: beside nvcc, on PATH,
or in build/cuda_static/tools, into which `tests/cuda_static/run tools` fetches it. To read machine
code takes long: the file PASSED tells what `check` found right, and it reads nothing again while the
library, the table and this script are the same.

A cell is registers/stack/shared/local: registers of a thread, bytes of stack of a thread, bytes of
static shared memory of a block, and instructions that load or store the stack, which are spilled
registers or arrays that are indexed as the kernel runs. `-`: no kernel for that architecture.
"""

import collections
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[1] / "build/cuda_static/tools/nvidia/cu13/bin"
FIELDS = ("registers", "bytes of stack", "bytes of shared memory", "touches of the stack")
NONE = "-"
REGENERATE = "tests/cuda_static/run table"


def skip(reason):
    print("Skipped: " + reason)
    sys.exit(77)


def output_of(*command):
    path = f"{TOOLS}:{os.environ['PATH']}"  # cuobjdump calls nvdisasm
    return subprocess.run(command, check=True, text=True, env={**os.environ, "PATH": path},
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def find_tool(name, nvcc):
    folders = [str(pathlib.Path(nvcc).resolve().parent), os.environ["PATH"], str(TOOLS)]
    found = shutil.which(name, path=":".join(folders))
    if not found:
        skip(f"there is no {name} beside {nvcc}, on PATH or in build/cuda_static/tools; "
             "tests/cuda_static/run tools fetches it.")
    return found


def read_resources(cuobjdump, library):
    """{(source, mangled name): {architecture: [registers, stack, shared]}}"""
    kernels = collections.defaultdict(dict)
    source = architecture = name = None
    for line in output_of(cuobjdump, "--dump-resource-usage", library).splitlines():
        if found := re.match(r"member .*:(\S+)\.o:", line):
            source = found[1]
        elif found := re.match(r"arch = sm_(\d+)", line):
            architecture = int(found[1])
        elif found := re.match(r" Function (\S+):", line):
            name = found[1]
        elif found := re.match(r"\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", line):
            kernels[source, name][architecture] = [int(number) for number in found.groups()]
    return kernels


def count_stack_instructions(cuobjdump, library, source, names):
    """{(architecture, mangled name): loads and stores of the stack} of one object file."""
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        member = pathlib.Path(folder) / f"{source}.o"
        with open(member, "wb") as file:
            subprocess.run(["ar", "p", library, member.name], check=True, stdout=file)
        code = output_of(cuobjdump, "-sass", "-fun", ",".join(sorted(names)), str(member))
    architecture = name = None
    for line in code.splitlines():
        if found := re.match(r"arch = sm_(\d+)", line):
            architecture = int(found[1])
        elif found := re.match(r"\s*Function : (\S+)", line):
            name = found[1]
        elif re.search(r"\b(LDL|STL)\b", line):
            counts[architecture, name] += 1
    return counts


def plain_names(mangled):
    """Without types of arguments, our namespace and what is the same in all."""
    text = subprocess.run(["c++filt"], check=True, text=True, stdout=subprocess.PIPE,
                          input="\n".join(mangled)).stdout
    names = []
    for name in text.splitlines():
        name = re.sub(r"\(anonymous namespace\)::|parallelarium::|^void ", "", name)
        names.append(re.sub(r"\(.*", "", name.replace(", ", ",")))
    return dict(zip(mangled, names))


def read_library(library, nvcc):
    """{"source kernel": {architecture: (registers, stack, shared, touches of the stack)}}"""
    cuobjdump = find_tool("cuobjdump", nvcc)
    find_tool("nvdisasm", nvcc)
    kernels = read_resources(cuobjdump, library)
    stacked = collections.defaultdict(set)
    for (source, name), cells in kernels.items():
        if any(cell[1] > 0 for cell in cells.values()):
            stacked[source].add(name)
    names = plain_names([name for _, name in kernels])
    touches = {source: count_stack_instructions(cuobjdump, library, source, of)
               for source, of in stacked.items()}
    table = {}
    for (source, name), cells in kernels.items():
        row = f"{source} {names[name]}"
        if row in table:
            sys.exit(f"Two kernels are called \"{row}\": plain_names has to tell them apart.")
        table[row] = {architecture: (*cell, touches.get(source, {}).get((architecture, name), 0))
                      for architecture, cell in cells.items()}
    if not table:
        sys.exit(f"{library} holds no kernel that cuobjdump can read.")
    return table


def architectures_of(table):
    return sorted({architecture for cells in table.values() for architecture in cells})


def text_of(table, version):
    architectures = architectures_of(table)
    rows = [["kernel", *map(str, architectures)]]
    for name, cells in sorted(table.items()):
        rows.append([name, *("/".join(map(str, cells[a])) if a in cells else NONE
                             for a in architectures)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["# SPDX-License-Identifier: Apache-2.0",
             f"# nvcc {version}: registers/stack/shared/local of each kernel (resources.py); "
             f"written by {REGENERATE}"]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
              for row in rows]
    return "\n".join(lines) + "\n"


def read_table(text):
    lines = [re.split(r" {2,}", line) for line in text.splitlines() if not line.startswith("#")]
    architectures = [int(number) for number in lines[0][1:]]
    return {name: {architecture: tuple(map(int, cell.split("/")))
                   for architecture, cell in zip(architectures, cells) if cell != NONE}
            for name, *cells in lines[1:]}


def compare(known, now):
    """Sentences on what grew or is not in the table, and on what the table has too large."""
    grown, shrunk = [], []
    for name, cells in sorted(now.items()):
        for architecture, cell in sorted(cells.items()):
            before = known.get(name, {}).get(architecture)
            where = f"{name} for {architecture}"
            if before is None:
                grown.append(f"{where} is not in the table ({'/'.join(map(str, cell))}).")
                continue
            for field, was, is_now in zip(FIELDS, before, cell):
                if is_now > was:
                    grown.append(f"{where} takes {is_now} {field}, {is_now - was} more than {was}.")
                elif is_now < was:
                    shrunk.append(f"{where} takes {is_now} {field} and no longer {was}.")
    shrunk += [f"{name} is gone." for name in sorted(known.keys() - now.keys())]
    return grown, shrunk


def digest_of(*paths):
    digest = hashlib.sha256()
    for path in paths:
        content = pathlib.Path(path).read_bytes()
        digest.update(b"%d " % len(content) + content)
    return digest.hexdigest()


def check(library, nvcc, version, path, passed):
    if not path.exists():
        skip(f"there is no table for nvcc {version}; {REGENERATE} writes one.")
    asked = digest_of(library, path, __file__)
    if passed.exists() and passed.read_text() == asked:
        print(f"Kernels and {path.name} are the same as when this passed.")
        sys.exit(0)
    now = read_library(library, nvcc)
    known = read_table(path.read_text())
    grown, shrunk = compare(known, now)
    for sentence in grown:
        print(sentence)
    print(f"{len(now)} kernels for {len(architectures_of(now))} architectures: "
          f"{len(grown)} take more than {path.name} says, {len(shrunk)} less.")
    if grown:
        print(f"Where that is meant, {REGENERATE} writes the table anew.")
    elif shrunk:
        print(f"{REGENERATE} would hold them to what they take now.")
    if not grown:
        passed.write_text(asked)
    sys.exit(1 if grown else 0)


def main():
    what, library, nvcc, *passed = sys.argv[1:] if len(sys.argv) > 3 else (None,) * 3
    if len(passed) != {"check": 1, "write": 0}.get(what):
        sys.exit(__doc__)
    found = re.search(r", V([\d.]+)", output_of(nvcc, "--version"))
    if not found:
        skip(f"{nvcc} is not nvcc.")
    path = HERE / f"resources-{found[1]}.txt"
    if what == "check":
        check(library, nvcc, found[1], path, pathlib.Path(passed[0]))
    table = read_library(library, nvcc)
    path.write_text(text_of(table, found[1]))
    print(f"{path}: {len(table)} kernels for {len(architectures_of(table))} architectures")


if __name__ == "__main__":
    main()
