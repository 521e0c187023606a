#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes "products" and "attention" of a Machine file from measured calls.

    shares.py MACHINE.json GEMM.csv ATTENTION.csv ORIGIN

GEMM.csv has columns m, n, k, tflops; ATTENTION.csv batch_size, isl, num_heads, head_dim, ms, of causal
forward calls. A point of a grid is the median of the calls within a factor of 1.5 of its sizes, as a share
of the roofline; the nearest call where there are none.
"""
import csv
import json
import math
import sys

INNER = [512, 1024, 2048, 4096, 8192, 16384, 65536]
ROWS = [128, 512, 2048, 8192, 32768]


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def product_shares(path, peak, bandwidth):
    def share(m, n, k, rate):
        moved = 2 * (m * n + n * k + m * k) / bandwidth
        return min(1.0, rate * max(1 / peak, moved / (2 * m * n * k)))

    calls = []
    with open(path) as file:
        for row in csv.DictReader(file):
            m, n, k = int(row["m"]), int(row["n"]), int(row["k"])
            calls.append((m, n, k, share(m, n, k, 1e12 * float(row["tflops"]))))
    rows = [m for m in ROWS if m <= max(call[0] for call in calls)]

    def point(m, n, k):
        apart = lambda call: [abs(math.log(call[i] / size)) for i, size in enumerate((m, n, k))]
        near = [call[3] for call in calls if max(apart(call)) <= math.log(1.5)]
        return median(near) if near else min(calls, key=lambda call: sum(apart(call)))[3]

    return {"m": rows, "n": INNER, "k": INNER,
            "shares": [round(point(m, n, k), 3) for m in rows for n in INNER for k in INNER]}


def attention_shares(path, peak):
    calls = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            batch, length, heads, dim, ms = (float(row[key]) for key in
                                             ("batch_size", "isl", "num_heads", "head_dim", "ms"))
            if dim != 128 or length < 1024:
                continue
            flops = 2 * batch * heads * length * length * dim * (1 + 128 / length)
            calls.setdefault(round(math.log2(batch * heads * length)), []).append(
                flops / (ms / 1000) / peak)
    sizes = sorted(size for size in calls if len(calls[size]) >= 4)
    return {"rows": [2 ** size for size in sizes],
            "shares": [round(min(1.0, median(calls[size])), 3) for size in sizes]}


def put(lines, key, value):
    """Each table on a line of its own, in place of an older one, before the launch."""
    line = f'  "{key}": {json.dumps(value)},'
    lines[:] = [old for old in lines if not old.startswith(f'  "{key}":')]
    at = next(i for i, old in enumerate(lines) if old.startswith('  "launch_seconds"'))
    lines.insert(at, line)


def main():
    machine, gemm, attention, origin = sys.argv[1:]
    with open(machine) as file:
        text = file.read()
    numbers = json.loads(text)
    peak = numbers["half_flops_per_second"]["value"]
    products = product_shares(gemm, peak, numbers["memory_bytes_per_second"]["value"])
    lines = text.rstrip("\n").split("\n")
    put(lines, "products", {**products, "origin": origin + ", products"})
    put(lines, "attention", {**attention_shares(attention, peak), "origin": origin + ", attention"})
    text = "\n".join(lines) + "\n"
    json.loads(text)
    with open(machine, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
