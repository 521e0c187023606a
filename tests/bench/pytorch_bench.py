#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tokens per second of a model on one rank, beside the same model in PyTorch on the same device: one
CPU thread, or with --device cuda one GPU. The two take turns, so that both meet the same machine.
Never needed to build or test.

    tests/bench/pytorch_bench.py [--turns 5] [--steps 40] [ENGINE]
    tests/bench/pytorch_bench.py --device cuda [--micro-batch 8] [--microbatches 1] [ENGINE]

PyTorch trains the model twice: micro-batch after micro-batch with gradient accumulation, as the
engine does, and all sequences of a step in one batch, which suits it better. In 16 bit it runs under
autocast, with fp32 parameters, where the engine keeps bf16 parameters and an fp32 master; on a GPU
once more after torch.compile. There the last line is what products of 8192 reach, and beside every
rate stands the share of it: 6 FLOPs for each token and parameter and 12 layers hidden sequence for
attention (Chowdhery et al. 2022, PaLM, appendix B). Any PyTorch from 1.13 on for the CPU (Debian 12
has python3-torch), from 2.0 on for GPUs."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]


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


def pytorch_turn(gpt, optimizer, batches, steps, options):
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


def engine_turn(options):
    arguments = ["--model", options.model, "--precision", options.precision, "--pp", "1",
                 "--backend", "cuda" if options.device == "cuda" else "cpu", "--steps", str(options.steps)]
    if options.device == "cuda":
        arguments += ["--attention", "fused", "--devices", "0"]
    if options.micro_batch:
        arguments += ["--micro-batch", str(options.micro_batch)]
    if options.microbatches:
        arguments += ["--microbatches", str(options.microbatches)]
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "run.json"
        with document.open("w") as out:
            subprocess.run([options.engine, "run", *arguments, "--json"], check=True, stdout=out,
                           stderr=subprocess.DEVNULL)
        return json.loads(document.read_text())


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


def main():
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
    kinds = [("micro-batch after micro-batch", False, False), ("all sequences in one batch", True, False)]
    if on_gpu:
        kinds.append(("the same, compiled", True, True))
    ours, idle, theirs = [], [], [[] for _ in kinds]
    torch.manual_seed(1)
    for _ in range(options.turns):
        run = engine_turn(options)
        setup = run["setup"]
        sequences = setup["microbatches"] * setup["micro_batch"]
        ours.append(run["step"]["tokens_per_second"])
        idle.append(1 - run["explain"]["idle_shares"]["busy"])
        tokens = torch.randint(0, model["vocab"], (sequences, model["sequence"] + 1), device=options.device)
        for (_, in_one, compiled), rates in zip(kinds, theirs):
            gpt = Gpt(model).to(options.device)
            parameters = sum(p.numel() for p in gpt.parameters())
            optimizer = torch.optim.AdamW(gpt.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1,
                                          **({"fused": True} if on_gpu else {}))
            batches = (tokens,) if in_one else tokens.split(setup["micro_batch"])
            if compiled:
                gpt = torch.compile(gpt)
                pytorch_turn(gpt, optimizer, batches, 3, options)
            times = pytorch_turn(gpt, optimizer, batches, options.steps, options)
            rates.append(sequences * model["sequence"] / statistics.median(times))
    where = torch.cuda.get_device_name() if on_gpu else "one thread"
    print(f"{model['title']}, {options.precision}, {where}, {sequences} sequences of {model['sequence']} tokens a "
          f"step; median of {options.turns} turns of {options.steps} steps, in tokens/s")
    flops = 6 * parameters + 12 * model["layers"] * model["hidden"] * model["sequence"]
    peak = product_flops() if on_gpu else None
    rows = [("this engine", ours)]
    rows += [(f"PyTorch {torch.__version__}, {name}", rates) for (name, _, _), rates in zip(kinds, theirs)]
    for name, rates in rows:
        middle = statistics.median(rates)
        share = f"   {middle * flops / peak:6.1%} of products" if peak else ""
        print(f"{name:58} {middle:9,.0f}   ({min(rates):,.0f} to {max(rates):,.0f}){share}")
    if peak:
        print(f"bf16 products of 8192: {peak / 1e12:.0f} TFLOP/s; this engine's step outside its ops: "
              f"{statistics.median(idle):.1%}")


if __name__ == "__main__":
    main()
