#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times on one GPU, with PyTorch, what a training step does beside its dense products: passes at memory speed,
fused attention, and the grouped products of experts. Never needed to build or test.

    torch_passes.py passes PASSES.csv     columns kernel, bytes, seconds
    torch_passes.py attention ATTN.csv    columns heads, length, size, forward_seconds, backward_seconds; of one
                                          causal call in bf16; --backend flash (FlashAttention-2) or cudnn
    torch_passes.py experts GROUPED.csv   columns M, stage, main_grad_dtype, share_of_peak; for --peak TFLOP/s

`kernel` is the engine's name of a pass (engine/plan/program/kernels_of_pieces.h); `bytes` are those that the
engine counts for it (Work::bytes), each tensor once, however often PyTorch's kernels move them; `seconds` are of
all kernels of the pass. Buffers take turns, so that none is in a cache from the call before. A call is
recorded as a CUDA graph, so that no host is waited for. shares.py makes the tables of a Machine of it.
Needs PyTorch 2.9 or newer (a fused rms_norm), for experts torch._grouped_mm (compute capability 9.0)."""
import argparse
import csv
import functools

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BF16 = torch.bfloat16
HIDDEN = 4096
VOCABULARY = 128256
SIZES = [2 ** n for n in range(20, 33, 2)]  # bytes of a pass
COLD = 256 << 20  # more than any cache
torch._dynamo.config.recompile_limit = 64  # one for each size


def seconds_of(calls, least=0.02):
    """Of one of `calls`, functions without arguments that do the same on other buffers."""
    for call in calls[:2]:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    graph.replay()
    torch.cuda.synchronize()
    turns, best = 1, None
    while True:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(turns):
            graph.replay()
        end.record()
        end.synchronize()
        passed = begin.elapsed_time(end) / 1000
        if passed >= least:
            each = passed / turns / len(calls)
            if best is not None:
                return min(best, each)
            best = each
        else:
            turns *= 2


def compiled(function):
    """Fused for one size at a time, as trainings of fixed shapes do."""
    return torch.compile(function, dynamic=False)


def swiglu(both):
    gate, up = both.chunk(2, -1)
    return F.silu(gate) * up


def swiglu_grad(dy, both):
    gate, up = (part.float() for part in both.chunk(2, -1))
    s, dy = torch.sigmoid(gate), dy.float()
    return torch.cat((dy * up * s * (1 + gate * (1 - s)), dy * gate * s), -1).to(BF16)


def gelu(x):
    return F.gelu(x, approximate="tanh")


def gelu_grad(dy, x):
    return torch.ops.aten.gelu_backward(dy, x, approximate="tanh")


def cross_entropy(logits, targets):
    logits = logits.float()
    sums = torch.logsumexp(logits, -1)
    return sums, (sums - logits.gather(-1, targets[:, None])[:, 0]).mean()


def cross_entropy_grad(logits, targets, sums):
    hit = torch.arange(logits.shape[-1], device=logits.device) == targets[:, None]
    return ((torch.exp(logits.float() - sums[:, None]) - hit.float()) / logits.shape[0]).to(BF16)


def add_choices(x, order, gates):
    """Rows of two choices, weighted by their gates, become one of a token."""
    return (x[order] * gates[..., None]).sum(1).to(BF16)


def rows_like(rows, columns, type=BF16):
    return torch.randn(rows, columns, device="cuda", dtype=type)


def norm_pass(name, forward, backward):
    """Forward reads and writes a number each. Backward is what norm_input_grad (three read, one written: it adds
    to the gradient of the residual) and norm_weight_grad (two read) do together."""
    forward, backward = compiled(forward), compiled(backward)

    def make_forward(bytes):
        rows = max(1, bytes // (4 * HIDDEN))
        x = rows_like(rows, HIDDEN)
        return rows * HIDDEN * 4, lambda: forward(x)

    def make_backward(bytes):
        rows = max(1, bytes // (12 * HIDDEN))
        x, dy, stream = (rows_like(rows, HIDDEN) for _ in range(3))
        kept = forward(x)[1:]
        return rows * HIDDEN * 12, lambda: backward(stream, dy, x, kept)
    return [(name, make_forward), (name + "_grad", make_backward)]


def norms():
    gain, bias = (torch.ones(HIDDEN, device="cuda", dtype=BF16) for _ in range(2))
    aten, shape = torch.ops.aten, [HIDDEN]

    def layer_grad(stream, dy, x, kept):
        dx, *weights = aten.native_layer_norm_backward(dy, x, shape, *kept, gain, bias, [True, True, True])
        return stream + dx, weights

    def rms(x):
        scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-5)
        return (x.float() * scale).to(BF16) * gain, scale

    def rms_grad(stream, dy, x, kept):
        scale, unit = kept[0], x.float() * kept[0]
        scaled = dy.float() * gain.float()
        dx = scale * (scaled - unit * (scaled * unit).mean(-1, keepdim=True))
        return stream + dx.to(BF16), (dy.float() * unit).sum(0).to(BF16)
    return [*norm_pass("norm", lambda x: aten.native_layer_norm(x, shape, gain, bias, 1e-5), layer_grad),
            *norm_pass("rms_norm", rms, rms_grad)]


def of_rows(moved, make):
    """A pass over rows of HIDDEN numbers of 16 bit, of which it reads or writes `moved` for each."""
    def build(bytes):
        each = int(2 * moved * HIDDEN)
        rows = max(1, bytes // each)
        return rows * each, make(rows)
    return build


def add(rows):
    a, b, out = rows_like(rows, HIDDEN), rows_like(rows, HIDDEN), rows_like(rows, HIDDEN)
    return lambda: torch.add(a, b, out=out)


def reduce(rows):
    a, b = rows_like(rows, HIDDEN), rows_like(rows, HIDDEN)
    return lambda: a.add_(b)


def unary(function, width=1):
    def make(rows):
        apply, x = compiled(function), rows_like(rows, width * HIDDEN)
        return lambda: apply(x)
    return make


def binary(function, width=1):
    def make(rows):
        apply, dy, x = compiled(function), rows_like(rows, HIDDEN), rows_like(rows, width * HIDDEN)
        return lambda: apply(dy, x)
    return make


def cast(rows):
    x = rows_like(rows, HIDDEN)
    return lambda: x.to(torch.float8_e4m3fn)


def permute(rows):
    x = rows_like(rows, HIDDEN).view(-1, HIDDEN // 128, 128)
    return lambda: x.transpose(0, 1).contiguous()


def gather(rows):
    x, order = rows_like(rows, HIDDEN), torch.randperm(rows, device="cuda")
    return lambda: x.index_select(0, order)


def unpermute(bytes):
    """Two rows read and one written for each token."""
    tokens = max(1, bytes // (6 * HIDDEN))
    x, gates = rows_like(2 * tokens, HIDDEN), torch.rand(tokens, 2, device="cuda")
    order, apply = torch.randperm(2 * tokens, device="cuda").view(tokens, 2), compiled(add_choices)
    return tokens * 6 * HIDDEN, lambda: apply(x, order, gates)


@functools.cache
def table():
    return rows_like(VOCABULARY, HIDDEN)


def embedding(rows):
    tokens = torch.randint(VOCABULARY, (rows,), device="cuda")
    return lambda: F.embedding(tokens, table())


def loss(bytes):
    """Reads the logits once, as fused losses do (torchtitan compiles its loss; Transformer Engine has one)."""
    rows = max(1, bytes // (2 * VOCABULARY))
    logits, targets = rows_like(rows, VOCABULARY), torch.randint(VOCABULARY, (rows,), device="cuda")
    apply = compiled(cross_entropy)
    return rows * VOCABULARY * 2, lambda: apply(logits, targets)


def loss_grad(bytes):
    """Reads logits and writes their gradients."""
    rows = max(1, bytes // (4 * VOCABULARY))
    logits, targets = rows_like(rows, VOCABULARY), torch.randint(VOCABULARY, (rows,), device="cuda")
    sums, apply = torch.logsumexp(logits.float(), -1), compiled(cross_entropy_grad)
    return rows * VOCABULARY * 4, lambda: apply(logits, targets, sums)


def adamw(bytes):
    """Reads parameter, gradient and two moments of 4 bytes, writes three of them."""
    count = max(1024, bytes // 28)
    parameter, gradient, m, v = (torch.randn(count, device="cuda").abs_() for _ in range(4))
    step = torch.ones((), device="cuda")
    return count * 28, lambda: torch._fused_adamw_(
        [parameter], [gradient], [m], [v], [], [step], lr=1e-4, beta1=0.9, beta2=0.95, weight_decay=0.1,
        eps=1e-8, amsgrad=False, maximize=False)


def flat(bytes_each, make):
    def build(bytes):
        count = max(1024, bytes // bytes_each)
        return count * bytes_each, make(count)
    return build


def grad_norm(count):
    gradient = torch.randn(count, device="cuda")
    return lambda: torch._foreach_norm([gradient])


def zero(count):
    gradient = torch.randn(count, device="cuda")
    return lambda: gradient.zero_()


def softmax(bytes):
    """Of scores of 4096 keys: one read, one written."""
    rows = max(1, bytes // (4 * 4096))
    x = rows_like(rows, 4096)
    return rows * 4096 * 4, lambda: torch.softmax(x, -1)


def softmax_grad(bytes):
    """Two read, one written."""
    rows = max(1, bytes // (6 * 4096))
    dy, y = rows_like(rows, 4096), torch.softmax(rows_like(rows, 4096), -1)
    return rows * 4096 * 6, lambda: torch.ops.aten._softmax_backward_data(dy, y, -1, BF16)


def passes():
    return [*norms(),
            ("residual", of_rows(3, add)), ("reduce", of_rows(3, reduce)),
            ("gelu", of_rows(2, unary(gelu))), ("gelu_grad", of_rows(3, binary(gelu_grad))),
            ("swiglu", of_rows(3, unary(swiglu, 2))), ("swiglu_grad", of_rows(5, binary(swiglu_grad, 2))),
            ("softmax", softmax), ("softmax_grad", softmax_grad),
            ("cast", of_rows(1.5, cast)), ("permute", of_rows(2, permute)),
            ("dispatch", of_rows(2, gather)), ("unpermute", unpermute),
            ("embedding", of_rows(2, embedding)), ("loss", loss), ("loss_grad", loss_grad),
            ("adamw", adamw), ("grad_norm", flat(4, grad_norm)), ("zero", flat(4, zero))]


def write_passes(path, only, sizes):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["kernel", "bytes", "seconds"])
        for kernel, build in passes():
            for size in sizes if not only or kernel in only else []:
                try:
                    copies = max(1, min(256, -(-COLD // size)))
                    moved, calls = 0, []
                    for _ in range(copies):
                        moved, call = build(size)
                        calls.append(call)
                    out.writerow([kernel, moved, f"{seconds_of(calls):.4g}"])
                    file.flush()
                except Exception as error:  # of one size; the others are still of use
                    print(f"{kernel} of {size} bytes: {error}", flush=True)
                calls = call = None
                torch.cuda.empty_cache()


def attention_seconds(heads, length, size, backend):
    """Of forward, and of backward, which is what both take less forward."""
    q, k, v = (torch.randn(1, heads, length, size, device="cuda", dtype=BF16, requires_grad=True) for _ in range(3))
    dy = torch.randn(1, heads, length, size, device="cuda", dtype=BF16)

    def forward():
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def both():
        torch.autograd.grad(forward(), (q, k, v), dy)
    with sdpa_kernel(backend):
        with torch.no_grad():
            alone = seconds_of([forward] * 2)
        return alone, seconds_of([both] * 2) - alone


def write_attention(path, backend):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["heads", "length", "size", "forward_seconds", "backward_seconds"])
        for size in (128, 64):
            for rows in [2 ** n for n in range(13, 24, 2)]:
                for length in [2 ** n for n in range(10, 18) if 2 ** n <= rows]:
                    if rows * length > 2 ** 37 or rows // length > 4096:  # too long a call
                        continue
                    try:
                        times = attention_seconds(rows // length, length, size, backend)
                        out.writerow([rows // length, length, size, *(f"{time:.4g}" for time in times)])
                        file.flush()
                    except Exception as error:
                        print(f"{rows // length} heads of {length} x {size}: {error}", flush=True)
                    torch.cuda.empty_cache()


def write_experts(path, peak):
    """Grouped products of four models' experts, eight of them on a GPU: the first layer and the second."""
    shapes = [(2048, 1536), (768, 2048), (4096, 3072), (1536, 4096), (7168, 4096), (2048, 7168),
              (4096, 28672), (14336, 4096)]  # Qwen3 30B, Qwen3 235B, DeepSeek-V3, Mixtral 8x7B
    experts = 8
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["M", "stage", "main_grad_dtype", "share_of_peak"])
        for rows in (32, 128, 512, 2048, 8192):
            for k, n in shapes:
                x, dy = rows_like(experts * rows, k), rows_like(experts * rows, n)
                w = torch.randn(experts, k, n, device="cuda", dtype=BF16)
                ends = torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * rows
                stages = {"fwd": lambda: torch._grouped_mm(x, w, ends),
                          "bwd_grad_act": lambda: torch._grouped_mm(dy, w.transpose(1, 2), ends),
                          "bwd_grad_w": lambda: torch._grouped_mm(x.t(), dy, ends)}
                for stage, call in stages.items():
                    try:
                        rate = 2 * experts * rows * k * n / seconds_of([call] * 4, 0.01)
                        out.writerow([rows, stage, "bf16", f"{rate / (1e12 * peak):.4f}"])
                        file.flush()
                    except Exception as error:
                        print(f"{stage} of {rows} x {k} x {n}: {error}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["passes", "attention", "experts"])
    parser.add_argument("file")
    parser.add_argument("--peak", type=float, help="TFLOP/s of dense bf16")
    parser.add_argument("--backend", choices=["flash", "cudnn"], default="flash", help="of attention")
    parser.add_argument("--only", nargs="+", help="kernels; without it all")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="bytes of a pass")
    options = parser.parse_args()
    print(torch.__version__, torch.cuda.get_device_name(), flush=True)
    if options.what == "passes":
        write_passes(options.file, options.only, options.sizes)
    elif options.what == "attention":
        write_attention(options.file, SDPBackend.FLASH_ATTENTION if options.backend == "flash"
                        else SDPBackend.CUDNN_ATTENTION)
    elif options.peak is None:
        parser.error("experts need --peak")
    else:
        write_experts(options.file, options.peak)


if __name__ == "__main__":
    main()
