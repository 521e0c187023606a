#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tokens per second of a model on one rank, beside the same model in PyTorch on the same device: one
CPU thread, or with --device cuda one GPU. The two take turns, so that both meet the same machine.
Never needed to build or test.

    tests/bench/pytorch_bench.py [--turns 5] [--steps 40] [ENGINE]
    tests/bench/pytorch_bench.py --device cuda [--micro-batch 8] [--microbatches 1] [ENGINE]

Both are timed by the host's clock over whole steps; the engine's rate by the spans of its ops alone
stands below. PyTorch trains the model twice: micro-batch after micro-batch with gradient
accumulation, as the engine does, and all sequences of a step in one batch, which suits it better;
of one micro-batch both are the same, and it trains once. In 16 bit it runs under autocast, with
fp32 parameters, where the engine keeps bf16 parameters and an fp32 master; on a GPU once more after
torch.compile. There, beside every rate stands its share of what products of 8192 reach: 6 FLOPs for
each token and parameter and 12 layers hidden sequence for attention (Chowdhery et al. 2022, PaLM,
appendix B). Then the time of a step by groups of kernels: the engine's spans, torch.profiler's
kernels, and the least: the group's FLOPs at the best product, or its bytes at the copy rate, that
`machines local-gpus` has from calibration. Last the engine's spans by piece and phase, each beside
its own least, the largest gap first. Any PyTorch from 1.13 on for the CPU (Debian 12 has
python3-torch), from 2.0 on for GPUs."""
import argparse
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]

# What the engine calls its pieces, by group; all else is "other".
PIECES = {
    "matmul": ["QKV", "projection", "MLP in", "MLP out", "head"],
    "attention": ["attention"],
    "norm": ["norm 1", "norm 2", "final norm"],
    "elementwise": ["residual 1", "residual 2", "activation"],
    "optimizer": ["gradient norm", "optimizer"],
    "loss": ["loss maximum", "loss sum", "loss"],
}
GROUPS = [*PIECES, "other"]
# Names of PyTorch's kernels; the first that is found in one decides.
KERNELS = [
    ("attention", "flash|fmha|sdpa|attention"),
    ("optimizer", "multi_tensor|adam"),
    ("loss", "softmax|nll_loss|cross_entropy"),
    ("norm", "layer_?norm|gammabeta"),
    ("matmul", "gemm|gemv|cutlass|xmma|nvjet|cublas|splitk|triton_tem"),
    ("other", "embedding|index|gather|scatter|sort|memcpy|memset"),
    ("elementwise", "elementwise|triton|reduce"),
]


class Layer(torch.nn.Module):
    def __init__(self, hidden, heads, ffn):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(hidden), torch.nn.LayerNorm(hidden)
        self.qkv = torch.nn.Linear(hidden, 3 * hidden)
        self.projection = torch.nn.Linear(hidden, hidden)
        self.mlp_in, self.mlp_out = torch.nn.Linear(hidden, ffn), torch.nn.Linear(ffn, hidden)

    def attention(self, x):
        batch, tokens, hidden = x.shape
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).split(hidden, -1))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-1, -2)) * (hidden // self.heads) ** -0.5
            mask = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
            y = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
        return self.projection(y.transpose(1, 2).reshape(batch, tokens, hidden))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp_out(F.gelu(self.mlp_in(self.norm2(x)), approximate="tanh"))


class Gpt(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        hidden = model["hidden"]
        self.token = torch.nn.Embedding(model["vocab"], hidden)
        self.position = torch.nn.Parameter(0.02 * torch.randn(model["sequence"], hidden))
        self.layers = torch.nn.Sequential(
            *(Layer(hidden, model["heads"], model["ffn"]) for _ in range(model["layers"])))
        self.norm = torch.nn.LayerNorm(hidden)
        torch.nn.init.normal_(self.token.weight, std=0.02)

    def forward(self, tokens):
        x = self.layers(self.token(tokens) + self.position)
        return F.linear(self.norm(x), self.token.weight)  # tied head


class Kind:
    """One way in which PyTorch trains the model, and what was seen of it."""

    def __init__(self, name, in_one, compiled):
        self.name, self.in_one, self.compiled = name, in_one, compiled
        self.rates, self.failure = [], ""
        self.step_seconds, self.groups = 0, None  # of the last turn; seconds of a step by group


def pytorch_steps(gpt, optimizer, batches, steps, options):
    """Seconds of each step; `batches` are the micro-batches of one."""
    half = torch.autocast(options.device, torch.bfloat16, enabled=options.precision != "fp32")
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        for batch in batches:
            with half:
                logits = gpt(batch[:, :-1])
                loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
            (loss / len(batches)).backward()
        optimizer.step()
        if options.device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return times


def profiled(run_steps, steps):
    """Seconds that a step's kernels take, by group."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        run_steps(steps)
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    groups = dict.fromkeys(GROUPS, 0.0)
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            name = event["name"] if event["cat"] == "kernel" else event["cat"]
            group = next((g for g, words in KERNELS if re.search(words, name, re.IGNORECASE)), "other")
            groups[group] += event["dur"] * 1e-6 / steps
    if not any(groups.values()):
        raise RuntimeError("the profiler saw no kernel")
    return groups


def pytorch_turn(kind, model, setup, tokens, options, is_last):
    """Returns the count of parameters."""
    gpt = Gpt(model).to(options.device)
    parameters = sum(p.numel() for p in gpt.parameters())
    fused = {"fused": True} if options.device == "cuda" else {}
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, **fused)
    batches = (tokens,) if kind.in_one else tokens.split(setup["micro_batch"])
    if kind.compiled and not kind.failure:
        try:  # it needs Triton and a compiler
            gpt = torch.compile(gpt)
            pytorch_steps(gpt, optimizer, batches, 3, options)
        except Exception as error:
            kind.failure = one_line(error)
    if kind.failure:
        return parameters
    kind.step_seconds = statistics.median(pytorch_steps(gpt, optimizer, batches, options.steps, options))
    kind.rates.append(tokens.shape[0] * model["sequence"] / kind.step_seconds)
    if is_last and options.device == "cuda" and kind.in_one:
        try:
            kind.groups = profiled(lambda steps: pytorch_steps(gpt, optimizer, batches, steps, options), 3)
        except Exception as error:
            print(f"Kernels of PyTorch, {kind.name}, were not timed: {one_line(error)}")
    return parameters


def one_line(error):
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def engine_turn(options):
    """The run's JSON, and the seconds of the shown step's ops by piece and phase."""
    arguments = ["--model", options.model, "--precision", options.precision, "--pp", "1",
                 "--backend", "cuda" if options.device == "cuda" else "cpu", "--steps", str(options.steps)]
    if options.device == "cuda":
        arguments += ["--attention", "fused", "--devices", "0"]
    if options.micro_batch:
        arguments += ["--micro-batch", str(options.micro_batch)]
    if options.microbatches:
        arguments += ["--microbatches", str(options.microbatches)]
    pieces = {}
    with tempfile.TemporaryDirectory() as folder:
        document, table = pathlib.Path(folder) / "run.json", pathlib.Path(folder) / "step.csv"
        with document.open("w") as out:
            subprocess.run([options.engine, "run", *arguments, "--csv", str(table), "--json"], check=True,
                           stdout=out)
        run = json.loads(document.read_text())
        with table.open(newline="") as rows:
            for row in csv.DictReader(rows):
                kernel = row["piece"], row["phase"]
                seconds = float(row["end_seconds"]) - float(row["begin_seconds"])
                pieces[kernel] = pieces.get(kernel, 0.0) + seconds
    return run, pieces


def by_group(pieces):
    groups = dict.fromkeys(GROUPS, 0.0)
    for (piece, _), seconds in pieces.items():
        groups[next((g for g, names in PIECES.items() if piece in names), "other")] += seconds
    return groups


def product_flops(size=8192):
    """FLOP/s of a bf16 product of squares on the GPU."""
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    times = []
    for _ in range(20):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        a @ b
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return 2 * size**3 / statistics.median(times)


def measured_rates(options):
    """FLOP/s of the best product and bytes per second of a copy, read and written."""
    machine = json.loads(subprocess.run([options.engine, "machines", "local-gpus", "--json"], check=True,
                                        stdout=subprocess.PIPE).stdout)
    flops = machine["half_flops_per_second" if options.precision != "fp32" else "fp32_flops_per_second"]
    return flops["value"], machine["memory_bytes_per_second"]["value"]


def least_of_pieces(model, tokens, parameters, element, flops, memory):
    """By piece and phase, what a kernel of its own does not come below at these rates: products and
    attention by their FLOPs, all else by reading and writing each operand once. `element`: bytes of
    an activation, a parameter and a gradient."""
    layers, hidden, ffn = model["layers"], model["hidden"], model["ffn"]
    stream, inner = tokens * hidden * element / memory, tokens * ffn * element / memory
    logits, weights = tokens * model["vocab"] * element / memory, parameters * element / memory
    square, mlp = layers * hidden**2, layers * hidden * ffn
    products = {"QKV": 3 * square, "projection": square, "MLP in": mlp, "MLP out": mlp,
                "head": model["vocab"] * hidden}
    least = {(piece, phase): 2 * tokens * size / flops for piece, size in products.items()
             for phase in ("forward", "input gradient", "weight gradient")}
    # The half below the diagonal, and 2.5 forwards back.
    attention = 2 * tokens * model["sequence"] * hidden * layers / flops
    least.update({("attention", "forward"): attention, ("attention", "input gradient"): 2.5 * attention})
    for norm, count in (("norm 1", layers), ("norm 2", layers), ("final norm", 1)):
        # x, y; dy, x, and the residual's gradient read and written; dy, x.
        least.update({(norm, "forward"): 2 * count * stream, (norm, "input gradient"): 4 * count * stream,
                      (norm, "weight gradient"): 2 * count * stream})
    least.update({
        ("residual 1", "forward"): 3 * layers * stream, ("residual 2", "forward"): 3 * layers * stream,
        ("activation", "forward"): 2 * layers * inner,
        ("activation", "input gradient"): 3 * layers * inner,  # u, dg, du
        # Rows of the table are read, and x written; dx is read.
        ("embedding", "forward"): 2 * stream, ("embedding", "weight gradient"): stream,
        ("loss maximum", "forward"): logits, ("loss sum", "forward"): logits,
        ("loss", "input gradient"): 2 * logits,  # overwritten
        ("zero gradients", "update"): weights, ("gradient norm", "update"): weights,
        # Gradient, parameter or master, and both moments; all but the first written too.
        ("optimizer", "update"): 28 * parameters / memory,
    })
    return least


def least_of_groups(least):
    """Of kernels at their best: gradients of a norm's weights read what those of its input do, and
    neither a gradient's norm nor a loss's maximum has to have a pass of its own."""
    shares = {("norm 1", "weight gradient"), ("norm 2", "weight gradient"), ("final norm", "weight gradient"),
              ("gradient norm", "update"), ("loss maximum", "forward")}
    return by_group({kernel: seconds for kernel, seconds in least.items() if kernel not in shares})


def print_pieces(pieces, least):
    rows = [(seconds - least.get(kernel, 0), seconds, kernel) for kernel, seconds in pieces.items()]
    print("\nMilliseconds of the engine's step by piece and phase, the least of each, and what it is over it.")
    print(f"{'':32}{'engine':>10}{'least':>10}{'over':>10}")
    for gap, seconds, kernel in sorted(rows, reverse=True):
        cells = ""
        if kernel in least and seconds > 0:
            bound = least[kernel]
            cells = f"{1e3 * bound:10.3f}{1e3 * gap:10.3f}{bound / seconds:8.0%} of the roofline"
        print(f"{', '.join(kernel):32}{1e3 * seconds:10.3f}{cells}")


def print_kernels(model, tokens, parameters, run, pieces, kinds, options):
    flops, memory = measured_rates(options)
    element = 2 if options.precision != "fp32" else 4
    of_pieces = least_of_pieces(model, tokens, parameters, element, flops, memory)
    least, ours = least_of_groups(of_pieces), by_group(pieces)
    del least["other"]
    columns = [("this engine", run["observation"]["wall_seconds"], ours)]
    columns += [(kind.name, kind.step_seconds, kind.groups) for kind in kinds if kind.groups]
    print("\nMilliseconds of a step by kernels, and their share of it. Sums over rows, such as gradients of "
          "biases,\nare part of the engine's products and elementwise in PyTorch, as are autocast's copies. "
          f"Least: at\n{flops / 1e12:.0f} TFLOP/s or {memory / 1e9:.0f} GB/s.")
    print(f"{'':16}" + "".join(f"{name:>30}" for name, _, _ in columns) + f"{'least':>10}")

    def line(name, values):
        cells = "".join(f"{1e3 * value:21.3f} {value / step:6.1%}  " for value, (_, step, _) in
                        zip(values, columns))
        bound = f"{1e3 * least[name]:10.3f}" if name in least else ""
        print(f"{name:16}{cells}{bound}".rstrip())

    for name in GROUPS:
        line(name, [groups[name] for _, _, groups in columns])
    line("outside kernels", [step - sum(groups.values()) for _, step, groups in columns])
    line("whole step", [step for _, step, _ in columns])
    gaps = sorted(((ours[name] - bound, name) for name, bound in least.items()), reverse=True)
    print("The engine over the least, ms: " + ", ".join(f"{name} {1e3 * gap:.3f}" for gap, name in gaps))
    for name, step, groups in columns[1:]:
        gaps = sorted(((ours[group] - groups[group], group) for group in GROUPS), reverse=True)
        print(f"The engine over PyTorch, {name}, ms: "
              + ", ".join(f"{group} {1e3 * gap:+.3f}" for gap, group in gaps)
              + f"; whole step {1e3 * (run['observation']['wall_seconds'] - step):+.3f}")
    print_pieces(pieces, of_pieces)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("engine", nargs="?", default=ROOT / "build/release/bin/parallelarium-engine")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--model", help="gpt-tiny, or gpt2-124m on a GPU; with GPT's pieces")
    parser.add_argument("--precision", choices=["fp32", "mixed-16"], help="fp32, or mixed-16 on a GPU")
    parser.add_argument("--micro-batch", type=int, help="sequences; the engine's own, or 8 on a GPU")
    parser.add_argument("--microbatches", type=int, help="the engine's own, or 1 on a GPU")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()
    on_gpu = options.device == "cuda"
    if on_gpu and not torch.cuda.is_available():
        parser.exit(77, "skipped: this PyTorch finds no GPU\n")
    options.model = options.model or ("gpt2-124m" if on_gpu else "gpt-tiny")
    options.precision = options.precision or ("mixed-16" if on_gpu else "fp32")
    if on_gpu:
        options.micro_batch, options.microbatches = options.micro_batch or 8, options.microbatches or 1
    model = json.loads((ROOT / f"resources/models/{options.model}.json").read_text())
    if model["norm"] != "layer" or model["mlp"] != "gelu" or not model["tied"]:
        parser.error(f"{options.model} has other pieces than GPT's, which are all that is written here")
    return options, model


def main():
    options, model = arguments()
    on_gpu = options.device == "cuda"
    kinds = [Kind("all sequences in one batch", True, False)]
    if on_gpu:
        kinds.append(Kind("the same, compiled", True, True))
    ours, by_spans = [], []
    torch.manual_seed(1)
    for turn in range(options.turns):
        run, pieces = engine_turn(options)
        setup = run["setup"]
        if turn == 0 and setup["microbatches"] > 1:
            kinds.insert(0, Kind("micro-batch after micro-batch", False, False))
        sequences = setup["microbatches"] * setup["micro_batch"]
        tokens_of_step = sequences * model["sequence"]
        ours.append(tokens_of_step / run["observation"]["wall_seconds"])
        by_spans.append(run["observation"]["step"]["tokens_per_second"])
        tokens = torch.randint(0, model["vocab"], (sequences, model["sequence"] + 1), device=options.device)
        for kind in kinds:
            parameters = pytorch_turn(kind, model, setup, tokens, options, turn == options.turns - 1)
            if on_gpu:
                torch.cuda.empty_cache()  # the engine's turn needs the memory
    where = torch.cuda.get_device_name() if on_gpu else "one thread"
    print(f"{model['title']}, {options.precision}, {where}, {sequences} sequences of {model['sequence']} tokens a "
          f"step; median of {options.turns} turns of {options.steps} steps, in tokens/s")
    flops = 6 * parameters + 12 * model["layers"] * model["hidden"] * model["sequence"]
    peak = product_flops() if on_gpu else None
    rows = [("this engine", ours)] + [(f"PyTorch {torch.__version__}, {kind.name}", kind.rates) for kind in kinds
                                      if not kind.failure]
    for name, rates in [*rows, ("this engine, by its spans alone", by_spans)]:
        middle = statistics.median(rates)
        in_bf16 = peak and options.precision != "fp32"  # as the peak is
        share = f"   {middle * flops / peak:6.1%} of products" if in_bf16 else ""
        print(f"{name:58} {middle:9,.0f}   ({min(rates):,.0f} to {max(rates):,.0f}){share}")
    eager = max(statistics.median(kind.rates) for kind in kinds if not kind.compiled)
    middle = statistics.median(ours)
    print(f"tokens/s beside PyTorch eager: {100 * middle / eager:.1f} % ({middle:,.0f} beside {eager:,.0f})")
    for kind in kinds:
        if kind.failure:
            print(f"PyTorch, {kind.name}: FAILED: {kind.failure}")
    if not on_gpu:
        return
    print(f"bf16 products of 8192: {peak / 1e12:.0f} TFLOP/s")
    try:
        print_kernels(model, tokens_of_step, parameters, run, pieces, kinds, options)
    except Exception as error:  # the rates above stand without it
        print(f"Kernels were not compared: {one_line(error)}")


if __name__ == "__main__":
    main()
