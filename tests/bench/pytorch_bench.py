#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tokens per second of the default model on one rank, beside the same model in PyTorch on one CPU
thread. The two take turns, so that both meet the same machine. Never needed to build or test.

    tests/bench/pytorch_bench.py [--turns 5] [--steps 40] [ENGINE]

PyTorch trains the model twice: micro-batch after micro-batch with gradient accumulation, as the
engine does, and all sequences of a step in one batch, which suits it better. Any PyTorch from 1.13
on; Debian 12 has one as python3-torch."""
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


def pytorch_turn(gpt, optimizer, batches, steps):
    """Seconds of each step; `batches` are the micro-batches of one."""
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        for batch in batches:
            logits = gpt(batch[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
            (loss / len(batches)).backward()
        optimizer.step()
        times.append(time.perf_counter() - begin)
    return times


def engine_turn(engine, steps):
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "run.json"
        with document.open("w") as out:
            subprocess.run([engine, "run", "--pp", "1", "--backend", "cpu", "--steps", str(steps), "--json"],
                           check=True, stdout=out, stderr=subprocess.DEVNULL)
        return json.loads(document.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("engine", nargs="?", default=ROOT / "build/release/bin/parallelarium-engine")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    options = parser.parse_args()

    model = json.loads((ROOT / "resources/models/gpt-tiny.json").read_text())
    ours, by_microbatch, by_batch = [], [], []
    torch.manual_seed(1)
    for _ in range(options.turns):
        run = engine_turn(options.engine, options.steps)
        setup = run["setup"]
        sequences = setup["microbatches"] * setup["micro_batch"]
        ours.append(run["step"]["tokens_per_second"])
        tokens = torch.randint(0, model["vocab"], (sequences, model["sequence"] + 1))
        for batches, rates in ((tokens.split(setup["micro_batch"]), by_microbatch), ((tokens,), by_batch)):
            gpt = Gpt(model)
            optimizer = torch.optim.AdamW(gpt.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
            times = pytorch_turn(gpt, optimizer, batches, options.steps)
            rates.append(sequences * model["sequence"] / statistics.median(times))
    print(f"GPT tiny, fp32, one thread, {sequences} sequences of {model['sequence']} tokens a step; "
          f"median of {options.turns} turns of {options.steps} steps, in tokens/s")
    for name, rates in (("this engine", ours),
                        (f"PyTorch {torch.__version__}, micro-batch after micro-batch", by_microbatch),
                        (f"PyTorch {torch.__version__}, all sequences in one batch", by_batch)):
        print(f"{name:58} {statistics.median(rates):9,.0f}   ({min(rates):,.0f} to {max(rates):,.0f})")


if __name__ == "__main__":
    main()
