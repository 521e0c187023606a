#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives what `export --as` writes to the frameworks' own parsers, and compares what they understood with the Setup.

    parsers.py ENGINE [--megatron CHECKOUT] [--nanotron CHECKOUT] [--torchtitan CHECKOUT] [--only FRAMEWORK]
               [--setup FILE]...

Without --setup: the Setup of every published row that can be said. Never needed to build or test; each framework
that is not there is skipped with a reason. Where it was tried, Python 3.11 or newer had PyTorch, deepspeed,
accelerate, torchao, transformers, dacite, datasets, torchtyping, and what torchtitan's pyproject.toml names, from PyPI,
and the checkouts were of the commits that the exported files name. No GPU is needed: Megatron asks for the capability of one, and is told 9.0.
Megatron-Bridge's own classes are not asked: they need Python 3.12, and importing them imports PyTorch, megatron-core,
transformers and all of its models (megatron-bridge 0.6.2). What is written for it is only read back by the engine.
Exits with 1 if a parser refuses a text or understands another mesh, batch or model."""
import argparse
import collections
import contextlib
import importlib
import io
import json
import logging
import os
import shlex
import subprocess
import sys
import tempfile
import types
import typing
from unittest import mock


class Refused(Exception):
    pass


class Engine:
    def __init__(self, path):
        self.path = path

    def __call__(self, *words, text=None):
        done = subprocess.run([self.path, *words], input=text, capture_output=True, text=True)
        if done.returncode == 2:  # refused with a sentence
            raise Refused(done.stderr.strip())
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)


def same(what, understood, meant):
    if understood != meant:
        raise AssertionError(f"{what} is {understood} to the framework, {meant} in the Setup")


def ranks_of(setup):
    mesh = setup["mesh"]
    return mesh["dp"] * mesh["tp"] * mesh["pp"] * mesh["cp"]


def batch_of(setup):
    return setup["mesh"]["dp"] * setup["micro_batch"] * setup["microbatches"]


def said(written, *fields):
    """Whether the framework can say all of these fields, so that they can be compared."""
    return not {sentence["field"] for sentence in written["not_expressible"]} & set(fields)


def deepspeed_parser(_):
    import deepspeed.comm
    from deepspeed.runtime.config import DeepSpeedConfig
    deepspeed.comm.get_rank = lambda *_: 0  # of no group that was started
    logging.disable(logging.WARNING)

    def parse(written, setup, folder):
        path = os.path.join(folder, "ds.json")
        with open(path, "w") as file:
            file.write(written["text"])
        replicas = setup["mesh"]["dp"]
        config = DeepSpeedConfig(path, mpu=types.SimpleNamespace(get_data_parallel_world_size=lambda: replicas))
        same("the global batch", config.train_batch_size, batch_of(setup))
        same("micro_batch", config.train_micro_batch_size_per_gpu, setup["micro_batch"])
        if said(written, "zero"):
            same("zero", config.zero_config.stage, setup["zero"])
        if said(written, "mesh.tp"):
            same("tp", max(1, config.tensor_parallel_config.autotp_size), setup["mesh"]["tp"])
    return parse


def accelerate_parser(_):
    from accelerate.commands.config.config_args import load_config_from_file
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser, prepare_multi_gpu_env
    from accelerate.parallelism_config import ParallelismConfig

    def parse(written, setup, folder):
        path = os.path.join(folder, "accelerate.yaml")
        with open(path, "w") as file:
            file.write(written["text"])
        if said(written, *(f"mesh.{axis}" for axis in setup["mesh"])):
            same("the number of processes", load_config_from_file(path).num_processes, ranks_of(setup))
        with mock.patch.dict(os.environ):
            args, *_ = _validate_launch_command(
                launch_command_parser().parse_args(["--config_file", path, "train.py"]))
            os.environ.update({key: str(value) for key, value in prepare_multi_gpu_env(args).items()})
            if os.environ.get("ACCELERATE_USE_PARALLELISM_CONFIG") == "true":
                mesh = ParallelismConfig()
                for axis in ("tp", "cp"):
                    if said(written, f"mesh.{axis}"):
                        same(axis, getattr(mesh, f"{axis}_size"), setup["mesh"][axis])
                if said(written, "mesh.dp", "mesh.tp", "mesh.cp", "mesh.pp"):
                    same("dp", mesh.dp_replicate_size * mesh.dp_shard_size, setup["mesh"]["dp"])
    return parse


def megatron_parser(checkout):
    if not checkout:
        raise ImportError("--megatron names no checkout of Megatron-LM")
    import torch
    if not hasattr(typing, "override"):  # before Python 3.12
        typing.override = importlib.import_module("typing_extensions").override
    torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(major=9, minor=0)
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    sys.path.insert(0, checkout)
    from megatron.core import utils
    from megatron.core.models.common.embeddings import rope_utils
    utils.get_te_version = lambda: utils.PkgVersion("2.14.0")  # kernels that a configuration only asks for
    rope_utils.fused_apply_rotary_pos_emb = rope_utils.fused_apply_rotary_pos_emb_thd = object()
    from megatron.training import arguments
    logging.disable(logging.WARNING)

    def parse(written, setup, _):
        words = shlex.split(written["text"].replace("\\\n", " "), comments=True)
        words = words[words.index("pretrain_gpt.py"):]
        environment = {"WORLD_SIZE": str(ranks_of(setup)), "RANK": "0"}
        environment.update(word.split("=") for word in shlex.split(written["text"], comments=True)
                           if word.startswith(("CUDA_", "NVTE_", "NCCL_")) and "=" in word)
        with mock.patch.dict(os.environ, environment), mock.patch.object(sys, "argv", words):
            args = arguments.parse_args()
            args = arguments.validate_args(args) or args
        config = arguments.core_transformer_config_from_args(args)
        mesh, model = setup["mesh"], setup["model"]
        same("dp", args.data_parallel_size, mesh["dp"])
        for axis, name in (("tp", "tensor"), ("pp", "pipeline"), ("cp", "context"), ("ep", "expert")):
            suffix = "_parallel_size" if name in ("context",) else "_model_parallel_size"
            same(axis, getattr(config, name + suffix), mesh[axis])
        if mesh["ep"] > 1:
            same("etp", config.expert_tensor_parallel_size,
                 mesh["tp"] if mesh.get("expert_tensor", True) else 1)
        same("the global batch", args.global_batch_size, batch_of(setup))
        if isinstance(model, dict):  # not a preset's name
            same("layers", config.num_layers, model["layers"])
            same("hidden", config.hidden_size, model["hidden"])
            same("ffn", config.ffn_hidden_size, model["ffn"])
        same("sequence_parallel", config.sequence_parallel, setup["sequence_parallel"])
    return parse


def nanotron_parser(checkout):
    if not checkout:
        raise ImportError("--nanotron names no checkout of nanotron")
    sys.path.insert(0, os.path.join(checkout, "src"))

    # Kernels of attention that need a GPU to be built; the configuration does not use them.
    class Kernels:
        def find_spec(self, name, *_):
            if name.split(".")[0] in ("flash_attn", "triton", "functorch"):
                return importlib.machinery.ModuleSpec(name, self, is_package=True)

        def create_module(self, spec):
            return mock.MagicMock(name=spec.name, __spec__=spec, __path__=[], __version__="2.7.0")

        def exec_module(self, _):
            pass
    sys.meta_path.append(Kernels())
    from nanotron.config import get_config_from_file

    def parse(written, setup, folder):
        path = os.path.join(folder, "nanotron.yaml")
        with open(path, "w") as file:
            file.write(written["text"])
        config = get_config_from_file(path)
        for axis, name in (("dp", "dp"), ("tp", "tp"), ("pp", "pp"), ("cp", "context_parallel_size"),
                           ("ep", "expert_parallel_size")):
            same(axis, getattr(config.parallelism, name), setup["mesh"][axis])
        same("microbatches", config.tokens.batch_accumulation_per_replica, setup["microbatches"])
        if isinstance(setup["model"], dict):
            same("hidden", config.model.model_config.hidden_size, setup["model"]["hidden"])
    return parse


def torchtitan_parser(checkout):
    if not checkout:
        raise ImportError("--torchtitan names no checkout of torchtitan")
    sys.path.insert(0, checkout)
    importlib.import_module("torchtitan.tools.utils").has_cuda_capability = lambda *_: True
    own = {kind: getattr(importlib.import_module(f"torchtitan.models.{kind}.config_registry"), name)
           for kind, name in (("llama3", "llama3_8b"), ("deepseek_v3", "deepseek_v3_16b"))}

    def parse(written, setup, _):
        names = {}
        exec(written["text"], names)
        recipe = names["recipe"]
        # Of a model that torchtitan does not have, the configuration is the user's.
        has_experts = setup["mesh"]["ep"] > 1
        config = recipe(own["deepseek_v3" if has_experts else "llama3"]()) if recipe.__code__.co_argcount else recipe()
        mesh, degrees = setup["mesh"], config.parallelism
        for axis, name in (("tp", "tensor"), ("pp", "pipeline"), ("cp", "context"), ("ep", "expert")):
            if said(written, f"mesh.{axis}"):
                same(axis, getattr(degrees, f"{name}_parallel_degree"), mesh[axis])
        same("dp", degrees.data_parallel_replicate_degree * degrees.data_parallel_shard_degree, mesh["dp"])
        training = config.training
        if said(written, "micro_batch", "microbatches"):
            length = training.max_context_length
            same("the global batch", training.num_tokens_per_train_step // length, batch_of(setup))
            same("micro_batch", training.num_tokens_per_microbatch_per_dp_rank // length, setup["micro_batch"])
    return parse


PARSERS = {"deepspeed": deepspeed_parser, "accelerate": accelerate_parser, "megatron": megatron_parser,
           "nanotron": nanotron_parser, "torchtitan": torchtitan_parser}


def check(engine, framework, parse, setups):
    """Prints what went wrong, most frequent first. Returns how many parsed and how many did not."""
    faults, parsed, unsaid = collections.defaultdict(list), 0, 0
    for name, setup in setups:
        try:
            written = engine("export", "--as", framework, "--setup", "-", "--json", text=json.dumps(setup))
        except Refused:
            unsaid += 1
            continue
        quiet = io.StringIO()
        try:
            with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(quiet), \
                    contextlib.redirect_stderr(quiet):
                parse(written, written["resolved"], folder)
            parsed += 1
        except (Exception, SystemExit) as error:
            lines = quiet.getvalue().strip().splitlines()
            why = lines[-1] if isinstance(error, SystemExit) and lines else f"{type(error).__name__}: {error}"
            faults[why[:300]].append(name)
    print(f"{framework}: {parsed} understood as meant, {sum(map(len, faults.values()))} not, "
          f"{unsaid} cannot be written")
    for why, names in sorted(faults.items(), key=lambda fault: -len(fault[1])):
        print(f"  {len(names)} x {why}\n    first: {names[0]}")
    return bool(faults) or parsed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--megatron")
    parser.add_argument("--nanotron")
    parser.add_argument("--torchtitan")
    parser.add_argument("--only", choices=PARSERS)
    parser.add_argument("--setup", action="append", default=[])
    options = parser.parse_args()
    engine = Engine(options.engine)
    setups = []
    for path in options.setup:
        with open(path) as file:
            setups.append((path, json.load(file)))
    if not setups:
        setups = [(f"{row['case']}, {row['row']}", row["setup"]) for row in engine("cases", "--json")
                  if row["setup"]]
    failed, checked = False, 0
    for framework, prepare in PARSERS.items():
        if options.only in (None, framework):
            try:
                parse = prepare(getattr(options, framework, None))
            except ImportError as error:
                print(f"{framework}: skipped, {error}")
                continue
            failed |= check(engine, framework, parse, setups)
            checked += 1
    sys.exit(failed or checked == 0)


if __name__ == "__main__":
    main()
