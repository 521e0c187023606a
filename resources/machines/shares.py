#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tables of a Machine file from measured calls.

    shares.py products MACHINE.json ORIGIN GEMM.csv
    shares.py training-products MACHINE.json ORIGIN MATMUL.csv
    shares.py fp8-products MACHINE.json ORIGIN GEMM.csv
    shares.py attention MACHINE.json ORIGIN ATTENTION.csv
    shares.py training-attention MACHINE.json ORIGIN FORWARD.csv BACKWARD.csv
    shares.py torch-attention MACHINE.json ORIGIN ATTN.csv
    shares.py times MACHINE.json ORIGIN NCCL.csv
    shares.py links MACHINE.json ORIGIN LINKS.json
    shares.py experts MACHINE.json ORIGIN GROUPED.csv
    shares.py passes MACHINE.json ORIGIN PASSES.csv
    shares.py eager-passes MACHINE.json ORIGIN

GEMM.csv has columns m, n, k, tflops; of FP8 those of the product alone: ai-dynamo/aiconfigurator measures
it with the passes that scale and cast its first factor, whose own times (its tables compute_scale and
scale_matrix) are taken off. ATTENTION.csv has columns batch_size, isl, num_heads, head_dim, ms, of causal
forward calls. A point of a grid is the median of the calls within a factor of 1.5 of its sizes, as a share
of the roofline; the nearest call where there are none.
NCCL.csv has columns operation, num_gpus, message_size (elements of 2 bytes of the whole array), ms; times
that fall with size are joined to their geometric mean. LINKS.json is of SimuMax: a collective takes
latency (n + offset) scale + fixed + sent bytes / (gbps 2^30 efficient_factor).
MATMUL.csv is of SimuMax and has columns b, m, n, k, layout, out_dtype, share_of_peak. It holds products in the
layouts of a training step, each of which becomes a table of its own: forward (TN), the gradient of the input (NN) and
that of the weights, which is added to one in fp32 or in 16 bit (NT); only the rows of a single product (b = 1) are
read.
GROUPED.csv has columns M (rows of an expert), stage, main_grad_dtype, share_of_peak; a point is the mean.
ATTN.csv has columns heads, length, size, forward_seconds, backward_seconds, of causal calls.
PASSES.csv has columns kernel, bytes, seconds; the share is of the memory bandwidth. Of both, it is the share in the
time beside the fixed cost of an op. torch_passes.py measures the last three.
ORIGIN is the line of an origin, as engine/plan/machine/rates/origin.h reads it: "published in SOURCE (NOTE; NOTE)".
eager-passes prints the passes of the machine as PyTorch makes them without torch.compile.
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


def product_shares(path, peak, bandwidth, read_bytes=2, layout=None):
    def share(m, n, k, rate):
        moved = (2 * m * n + read_bytes * (n * k + m * k)) / bandwidth
        return min(1.0, rate * max(1 / peak, moved / (2 * m * n * k)))

    calls = []
    with open(path) as file:
        for row in csv.DictReader(file):
            if row.get("b", "1") != "1" or layout not in (None, (row.get("layout"), row.get("out_dtype"))):
                continue
            m, n, k = int(row["m"]), int(row["n"]), int(row["k"])
            rate = 1e12 * float(row["tflops"]) if "tflops" in row else peak * float(row["share_of_peak"])
            calls.append((m, n, k, share(m, n, k, rate)))
    rows = [m for m in ROWS if m <= max(call[0] for call in calls)]

    def point(m, n, k):
        apart = lambda call: [abs(math.log(call[i] / size)) for i, size in enumerate((m, n, k))]
        near = [call[3] for call in calls if max(apart(call)) <= math.log(1.5)]
        return median(near) if near else min(calls, key=lambda call: sum(apart(call)))[3]

    return {"m": rows, "n": INNER, "k": INNER,
            "shares": [round(point(m, n, k), 3) for m in rows for n in INNER for k in INNER]}


def attention_table(calls):
    """From {(rows, keys): share}. More rows than any call of so many keys had: as the most that one had.
    Fewer: that share falls as that of the most keys does that were called with both numbers of rows."""
    rows, keys = (sorted({at[axis] for at in calls}) for axis in (0, 1))

    def point(row, key):
        known = [at for at in rows if (at, key) in calls]
        if row > known[0]:
            return calls[min((at for at in known), key=lambda at: abs(math.log(at / row))), key]
        share = calls[known[0], key]
        steps = [at for at in rows if row <= at <= known[0]]
        for fewer, more in reversed(list(zip(steps, steps[1:]))):
            both = [other for other in keys if (fewer, other) in calls and (more, other) in calls]
            if both:
                share *= calls[fewer, both[-1]] / calls[more, both[-1]]
        return share

    return rows, keys, [round(min(1.0, point(row, key)), 3) for row in rows for key in keys]


def attention_shares(path, peak, size):
    calls = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            batch, length, heads, dim, ms = (float(row[key]) for key in
                                             ("batch_size", "isl", "num_heads", "head_dim", "ms"))
            if dim != size or length < 1024:
                continue
            flops = 2 * batch * heads * length * length * dim * (1 + 128 / length)
            at = 2 ** round(math.log2(batch * heads * length)), 2 ** round(math.log2(length))
            calls.setdefault(at, []).append(flops / (ms / 1000) / peak)
    rows, keys, shares = attention_table({at: median(values) for at, values in calls.items()})
    return {"rows": rows, "keys": keys, "shares": shares} if calls else {}


def training_attention(forward, backward, wide):
    """SimuMax': shares that count all scores, of which half are causal; heads of 192 and 128 or of 128."""
    table = {}
    for name, path in (("shares", forward), ("backward", backward)):
        calls = {}
        with open(path) as file:
            for row in csv.DictReader(file):
                if (int(row["qk_head_dim"]) > 128) == wide:
                    length = int(row["seq_len"])
                    calls.setdefault((int(row["head_num"]) * length, length), []).append(
                        float(row["share_of_peak"]) / 2)
        rows, keys, table[name] = attention_table(
            {at: sum(values) / len(values) for at, values in calls.items()})
    return {"rows": rows, "keys": keys, **table}


def torch_attention(path, peak, launch, size):
    calls = {"forward": {}, "backward": {}}
    with open(path) as file:
        for row in csv.DictReader(file):
            heads, length = int(row["heads"]), int(row["length"])
            if int(row["size"]) != size:
                continue
            flops = 2 * heads * length * length * size * (1 + 128 / length)
            for phase, times in (("forward", 1), ("backward", 2.5)):
                seconds = max(float(row[phase + "_seconds"]) - launch, 1e-9)
                calls[phase][heads * length, length] = times * flops / seconds / peak
    rows, keys, shares = attention_table(calls["forward"])
    return {"rows": rows, "keys": keys, "shares": shares, "backward": attention_table(calls["backward"])[2]}


KINDS = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "alltoall": 1}
NAMES = {"alltoall": "all_to_all", "all2all": "all_to_all"}


def rising(seconds):
    """Pools neighbours that fall, in logarithms."""
    pools = []
    for value in seconds:
        pools.append([math.log(value), 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [[(a * n + b * m) / (n + m), n + m]]
    return [math.exp(value) for value, count in pools for _ in range(count)]


def collective(kind, ranks, points, link, origin):
    """`points`: (bytes that a rank sends, seconds), ascending."""
    return {"collective": NAMES.get(kind, kind), "ranks": ranks,
            "bytes": [round(size) for size, _ in points],
            "seconds": [float(f"{value:.3g}") for value in rising([value for _, value in points])],
            "link_bytes_per_second": link, "origin": origin}


def measured_times(path, link, origin):
    calls = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            kind, ranks = row["operation"], int(row["num_gpus"])
            sent = KINDS[kind] * (ranks - 1) / ranks * 2 * int(row["message_size"])
            calls.setdefault((kind, ranks), []).append((sent, float(row["ms"]) / 1000))
    tables = []
    for (kind, ranks), points in sorted(calls.items()):
        points.sort()
        # Up to some 16 KiB all take equally long; from there every other size and the largest.
        from_there = points[5:]
        kept = [point for at, point in enumerate(from_there)
                if at % 2 == 0 or at == len(from_there) - 1]
        tables.append(collective(kind, ranks, kept, link, origin))
    return tables


def formula_times(path, reached, origin):
    with open(path) as file:
        link = json.load(file)["networks"]["high_intra_node"]
    tables = []
    for kind, op in link["op"].items():
        if kind == "p2p":
            continue
        for ranks in (2, 4, 8):
            fixed = op["fixed_latency_us_by_comm_num"].get(str(ranks), op["fixed_latency_us"])
            latency = op["latency_us"] * (ranks + op["offset"]) * op["scale"] + fixed
            rate = link["bandwidth"]["gbps"] * 2**30 * op["efficient_factor"]
            points = [(2.0**size, latency / 1e6 + 2.0**size / rate) for size in range(18, 31)]
            tables.append(collective(kind, ranks, points, reached, origin))
    return tables


def expert_shares(path):
    """Of forward and input gradient those beside weight gradients in fp32, where both were measured. Of weight
    gradients in 16 bit the sizes that were not measured are as in fp32."""
    calls = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            calls.setdefault((row["main_grad_dtype"], row["stage"]), {}).setdefault(int(row["M"]), []).append(
                float(row["share_of_peak"]))
    wanted = "fp32" if ("fp32", "fwd") in calls else "bf16"
    rows = sorted(calls[wanted, "fwd"])
    mean = lambda values: round(sum(values) / len(values), 3)
    table = {key: [mean(calls[wanted, stage][count]) for count in rows] for key, stage in
             (("forward", "fwd"), ("input_grad", "bwd_grad_act"), ("weight_grad", "bwd_grad_w"))}
    half = calls.get(("bf16", "bwd_grad_w"), {})
    if wanted == "fp32" and half:
        table["weight_grad_half"] = [mean(half.get(count, calls["fp32", "bwd_grad_w"][count])) for count in rows]
    return {"rows": rows, **table}


# What the engine calls a pass that was measured, with the part of the measured bytes that it counts and how many
# times the share it has. The backward of a norm is two of the engine's passes, and RMS norms have no name of their
# own for that of the weight. Where TP cuts the vocabulary, the
# loss reads the logits twice, and PyTorch's time is of both.
PARTS = {
    "norm_grad": [("norm_input_grad", 2 / 3, 1), ("norm_weight_grad", 1 / 3, 1)],
    "rms_norm_grad": [("rms_norm_input_grad", 2 / 3, 1)],
    "loss": [("loss_max_sum", 1, 1), ("loss_max", 1, 2), ("loss_sum", 1, 2)],
}


def pass_shares(path, bandwidth, launch, origin):
    calls = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            calls.setdefault(row["kernel"], []).append((float(row["bytes"]), float(row["seconds"])))
    tables = []
    for measured, points in calls.items():
        for kernel, part, times in PARTS.get(measured, [(measured, 1, 1)]):
            share = lambda count, seconds: times * count / bandwidth / max(seconds - launch, 1e-9)
            tables.append({"kernel": kernel, "bytes": [round(part * count) for count, _ in sorted(points)],
                           "shares": [round(min(1.0, share(*point)), 3) for point in sorted(points)],
                           "origin": origin})
    return tables


# Of models that run op by op: the bytes that the engine counts of a pass for each number, and those that each op
# moves. RMS norm (torchtitan 9dec370, models/norms.py): x.float(), pow, mean, mul, type_as, mul by the weight;
# its derivatives in reverse, of two factors where there are two, with what pow computes anew, and the sum into
# the residual's gradient. SwiGLU (models/llama/model.py): silu and mul.
EAGER = {
    ("rms_norm",): (4, [6, 8, 4, 8, 6, 4]),
    ("rms_norm_input_grad", "norm_weight_grad"): (12, [4 + 8, 6, 8 + 16, 4, 8 + 8 + 12, 12, 6, 6]),
    ("swiglu",): (6, [4, 6]),
    ("swiglu_grad",): (10, [6 + 6, 6]),
}
REACHED = 0.92  # of the bandwidth by a pass of many bytes: pytorch/ao, torchao/testing/float8/roofline_utils.py


def eager_passes(passes, origin):
    by_kernel = {each["kernel"]: each for each in passes}
    for kernels, (counted, moved) in EAGER.items():
        for kernel in kernels:
            by_kernel[kernel] = {"kernel": kernel, "bytes": [2**20],
                                 "shares": [round(REACHED * counted / sum(moved), 3)], "origin": origin}
    return list(by_kernel.values())


def noted(origin, note):
    """The line of an origin with one more note (engine/plan/machine/rates/origin.h)."""
    return f"{origin[:-1]}; {note})" if origin.endswith(")") else f"{origin} ({note})"


def put(lines, key, value):
    """Each table on a line of its own, in place of an older one, before the launch."""
    line = f'  "{key}": {json.dumps(value)},'
    lines[:] = [old for old in lines if not old.startswith(f'  "{key}":')]
    at = next(i for i, old in enumerate(lines) if old.startswith('  "launch_seconds"'))
    lines.insert(at, line)


def main():
    what, machine, origin, *paths = sys.argv[1:]
    with open(machine) as file:
        text = file.read()
    numbers = json.loads(text)
    link = numbers["intra_node"]["bytes_per_second"]["value"]
    lines = text.rstrip("\n").split("\n")
    if what == "eager-passes":
        return print(json.dumps(eager_passes(numbers["passes"], origin)))
    if what in ("products", "training-products"):
        peak = numbers["half_flops_per_second"]["value"]
        bandwidth = numbers["memory_bytes_per_second"]["value"]
        if what == "products":
            products = {**product_shares(paths[0], peak, bandwidth), "origin": noted(origin, "products")}
        else:
            layouts = (("TN", "bf16"), ("NN", "bf16"), ("NT", "fp32"), ("NT", "bf16"))
            forward, inputs, weights, half = (product_shares(paths[0], peak, bandwidth, 2, of) for of in layouts)
            products = {**forward, "input_grad": inputs["shares"], "weight_grad": weights["shares"],
                        "weight_grad_half": half["shares"], "origin": origin}
        put(lines, "products", products)
    elif what == "fp8-products":
        peak = numbers["fp8_flops_per_second"]["value"]
        products = product_shares(paths[0], peak, numbers["memory_bytes_per_second"]["value"], 1)
        put(lines, "fp8_products", {**products, "origin": origin})
    elif what == "attention":
        peak = numbers["half_flops_per_second"]["value"]
        for name, size in (("attention", 128), ("narrow_attention", 64)):
            if table := attention_shares(paths[0], peak, size):
                put(lines, name, {**table, "origin": noted(origin, "attention")})
    elif what == "training-attention":
        put(lines, "attention", {**training_attention(*paths, False), "origin": origin})
        put(lines, "wide_attention", {**training_attention(*paths, True), "origin": origin})
    elif what == "torch-attention":
        peak, launch = (numbers[key]["value"] for key in ("half_flops_per_second", "launch_seconds"))
        for name, size in (("attention", 128), ("narrow_attention", 64)):
            put(lines, name, {**torch_attention(paths[0], peak, launch, size), "origin": origin})
    elif what == "times":
        put(lines, "collective_times", measured_times(paths[0], link, noted(origin, "collectives")))
    elif what == "links":
        put(lines, "collective_times", formula_times(paths[0], link, origin))
    elif what == "experts":
        put(lines, "experts", {**expert_shares(paths[0]), "origin": origin})
    elif what == "passes":
        put(lines, "passes", pass_shares(paths[0], numbers["memory_bytes_per_second"]["value"],
                                         numbers["launch_seconds"]["value"], origin))
    text = "\n".join(lines) + "\n"
    json.loads(text)
    with open(machine, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
