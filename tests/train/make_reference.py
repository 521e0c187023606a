#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data/gpt.json and data/llama.json: loss, gradients and two AdamW steps of two tiny models,
computed by PyTorch in double precision. Run by hand with any PyTorch from 1.13 on; the files are
part of the repository, so the tests need no PyTorch."""
import json
import math
import pathlib

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
B, T, C, H, LAYERS, V = 2, 5, 8, 4, 2, 11


def rotate(x):  # [B, heads, T, D], as in the Llama code of Hugging Face
    D = x.shape[-1]
    angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64),
                         10000.0 ** (-torch.arange(0, D, 2) / D))
    cos, sin = (torch.cat([f(angles)] * 2, -1) for f in (torch.cos, torch.sin))
    half = torch.cat((-x[..., D // 2:], x[..., : D // 2]), -1)
    return x * cos + half * sin


class Reference:
    def __init__(self, kind, seed):
        self.llama = kind == "llama"
        self.K = 2 if self.llama else H
        self.Fi = 12 if self.llama else 16
        self.D = 4 if self.llama else C // H
        generator = torch.Generator().manual_seed(seed)
        self.p = {}

        def make(name, *shape, around=0.0, scale=0.4):
            value = around + scale * torch.randn(*shape, generator=generator)
            # Exact in float, so that both sides start from the same numbers.
            self.p[name] = value.float().double().requires_grad_()

        A = (H + 2 * self.K) * self.D
        make("token table", V, C)
        if not self.llama:
            make("position table", T, C)
        for layer in range(LAYERS):
            def part(name, *shape, **options):
                make(f"{layer} {name}", *shape, **options)
            for norm in ("norm1", "norm2"):
                part(f"{norm} gain", C, around=1.0, scale=0.1)
                if not self.llama:
                    part(f"{norm} bias", C)
            inner = 2 * self.Fi if self.llama else self.Fi
            for name, out, into in (("qkv", A, C), ("projection", C, H * self.D),
                                    ("mlp in", inner, C), ("mlp out", C, self.Fi)):
                part(f"{name} weight", out, into)
                if not self.llama:
                    part(f"{name} bias", out)
        make("final norm gain", C, around=1.0, scale=0.1)
        if self.llama:
            make("head weight", V, C)
        else:
            make("final norm bias", C)
        self.tokens = torch.randint(0, V, (B, T), generator=generator)
        self.targets = torch.randint(0, V, (B, T), generator=generator)

    def norm(self, x, name):
        if self.llama:
            return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.p[name + " gain"]
        return F.layer_norm(x, (C,), self.p[name + " gain"], self.p[name + " bias"], 1e-5)

    def linear(self, x, name):
        return F.linear(x, self.p[name + " weight"], self.p.get(name + " bias"))

    def attention(self, qkv):
        heads = qkv.view(B, T, H + 2 * self.K, self.D).transpose(1, 2)
        q, k, v = heads.split((H, self.K, self.K), 1)
        if self.llama:
            q, k = rotate(q), rotate(k)
        k, v = (x.repeat_interleave(H // self.K, 1) for x in (k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.D)
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, H * self.D)

    def gelu(self, u):
        return 0.5 * u * (1 + torch.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u ** 3)))

    def loss(self):
        x = self.p["token table"][self.tokens]
        if not self.llama:
            x = x + self.p["position table"]
        for layer in range(LAYERS):
            y = self.norm(x, f"{layer} norm1")
            x = x + self.linear(self.attention(self.linear(y, f"{layer} qkv")), f"{layer} projection")
            u = self.linear(self.norm(x, f"{layer} norm2"), f"{layer} mlp in")
            if self.llama:
                gate, up = u.chunk(2, -1)
                g = F.silu(gate) * up
            else:
                g = self.gelu(u)
            x = x + self.linear(g, f"{layer} mlp out")
        head = self.p["head weight" if self.llama else "token table"]
        logits = F.linear(self.norm(x, "final norm"), head)
        return F.cross_entropy(logits.view(-1, V), self.targets.view(-1))


def numbers(tensor):
    return [float(f"{value:.10g}") for value in tensor.detach().reshape(-1).tolist()]


def main():
    folder = pathlib.Path(__file__).parent / "data"
    folder.mkdir(exist_ok=True)
    for kind, seed in (("gpt", 1), ("llama", 2)):
        model = Reference(kind, seed)
        start = {name: numbers(value) for name, value in model.p.items()}
        decayed = [value for value in model.p.values() if value.dim() > 1]
        kept = [value for value in model.p.values() if value.dim() == 1]
        optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": 0.1}, {"params": kept, "weight_decay": 0.0}],
            lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
        losses, norms, gradients = [], [], {}
        for _ in range(2):
            optimizer.zero_grad()
            loss = model.loss()
            loss.backward()
            losses.append(loss.item())
            if not gradients:
                gradients = {name: numbers(value.grad) for name, value in model.p.items()}
            norms.append(float(torch.nn.utils.clip_grad_norm_(model.p.values(), 0.5)))
            optimizer.step()
        document = {
            "about": f"made by make_reference.py with PyTorch {torch.__version__} in double precision",
            "shape": {"B": B, "T": T, "C": C, "H": H, "K": model.K, "D": model.D, "F": model.Fi, "V": V,
                      "layers": LAYERS, "llama": model.llama},
            "clip": 0.5, "tokens": model.tokens.reshape(-1).tolist(),
            "targets": model.targets.reshape(-1).tolist(), "losses": losses, "norms": norms,
            "parameters": start, "gradients": gradients,
            "updated": {name: numbers(value) for name, value in model.p.items()},
        }
        (folder / f"{kind}.json").write_text(json.dumps(document) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
