"""A training run against the clock: Adam along a cosine, checkpoints that resume it bit by bit, weights at the end."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from pellucid.core.atomic import write_whole
from pellucid.neural_network.training.devices import device_named

KEY = "pellucid training run"
LONG, SLOWLY = 20, 0.02
"""Kernels longer than that learn at this share of the rate: a thousand weights of one sum move together."""
SAY_EVERY, WRITE_EVERY = 5.0, 60.0
"""Seconds between two lines of progress, and between two checkpoints."""
WARM_UP = 0.01
"""Share of the run in which the rate of learning rises from 0."""
GRAY_LEVELS = 255.0**2
"""The loss is in squared gray levels: gradients are then of a size at which Adam's own epsilon is nothing."""

Draw = Callable[[int, torch.Generator], tuple[Tensor, Tensor]]
"""``(step, generator)`` -> what the network is given and what it should find."""


@dataclass(frozen=True)
class Schedule:
    """How long a run lasts, in minutes or, if a test wants the same bits twice, in steps; and how fast it learns."""

    minutes: float = 9.0
    steps: int | None = None
    rate: float = 1e-3
    seed: int = 0
    precision: str = "bf16"
    """Of products on a graphics card: ``bf16`` or ``tf32``; sums and weights are in float32."""

    def share(self, step: int, seconds: float) -> float:
        """Return how much of the run is done, from 0 to 1."""
        return min(1.0, seconds / (60.0 * self.minutes) if self.steps is None else step / self.steps)

    def rate_at(self, share: float) -> float:
        """Return the rate of learning: up along a line, then down along half a cosine to 0."""
        return self.rate * min(share / WARM_UP, 1.0) * 0.5 * (1.0 + math.cos(math.pi * share))


@dataclass
class Run:
    """Where a run stands."""

    module: nn.Module
    optimizer: torch.optim.Adam
    generator: torch.Generator
    step: int = 0
    seconds: float = 0.0


def start(module: nn.Module, schedule: Schedule, device: torch.device) -> Run:
    """Return a run that has not begun."""
    module = module.to(device, memory_format=torch.channels_last).train()  # type: ignore[call-overload]  # torch's stub lacks it
    is_slow = [max(weight.shape[2:], default=1) > LONG for weight in module.parameters()]
    groups = [
        {"params": [w for w, slow in zip(module.parameters(), is_slow, strict=True) if slow == which], "share": share}
        for which, share in ((False, 1.0), (True, SLOWLY))
    ]
    optimizer = torch.optim.Adam(
        [group for group in groups if group["params"]], lr=schedule.rate, fused=device.type == "cuda"
    )
    return Run(module, optimizer, torch.Generator(device).manual_seed(schedule.seed))


def train(
    run: Run, draw: Draw, schedule: Schedule, checkpoint: Path | None = None, stop_after: int | None = None
) -> None:
    """Run the loop until the schedule ends, or until so many steps are done; the run itself is changed."""
    device = run.generator.device
    is_cuda = device.type == "cuda"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    network = torch.compile(run.module) if is_cuda and schedule.precision == "bf16" else run.module
    began, said, written = time.monotonic() - run.seconds, -math.inf, run.seconds
    while (share := schedule.share(run.step, run.seconds)) < 1.0 and (stop_after is None or run.step < stop_after):
        for group in run.optimizer.param_groups:
            group["lr"] = schedule.rate_at(share) * group["share"]
        given, wanted = draw(run.step, run.generator)
        mixed = torch.autocast("cuda", torch.bfloat16) if is_cuda and schedule.precision == "bf16" else nullcontext()
        with mixed:
            found = network(given.contiguous(memory_format=torch.channels_last))
        loss = GRAY_LEVELS * mse_loss(found.float(), wanted)
        run.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        run.optimizer.step()
        run.step += 1
        run.seconds = time.monotonic() - began
        if run.seconds - said > SAY_EVERY:
            said = run.seconds
            _say(run, share, loss.item())  # waits for the device, which is then not more than a moment behind
        if checkpoint is not None and run.seconds - written > WRITE_EVERY:
            written = run.seconds
            write_run(checkpoint, run, schedule)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False  # in use every image has another size
    if checkpoint is not None:
        write_run(checkpoint, run, schedule)


def _say(run: Run, share: float, loss: float) -> None:
    if not math.isfinite(loss):
        raise FloatingPointError(f"loss must stay finite, got {loss} at step {run.step}. Take a smaller --rate.")
    decibels = 10.0 * math.log10(GRAY_LEVELS / max(loss, 1e-12))
    print(f"{share:4.0%}  {run.seconds:6.0f} s  step {run.step}  {decibels:.2f} dB", file=sys.stderr, flush=True)


def write_run(path: Path, run: Run, schedule: Schedule) -> None:
    """Write the whole state into one file, in place of the last one."""
    tensors = {f"weights/{name}": tensor for name, tensor in run.module.state_dict().items()}
    for number, state in run.optimizer.state_dict()["state"].items():
        tensors |= {f"adam/{number}/{name}": value for name, value in state.items()}
    tensors["generator"] = run.generator.get_state()
    document = {"step": run.step, "seconds": run.seconds, "schedule": repr(schedule)}
    stored = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(path, save(stored, metadata={KEY: json.dumps(document)}))


def resume(path: Path, run: Run, schedule: Schedule) -> None:
    """Put a run where the file says it stood."""
    document, tensors = _stored(path)
    if document["schedule"] != repr(schedule):
        raise ValueError(f"checkpoint must be of a run with the same schedule, got {path}. Remove it.")
    run.module.load_state_dict(_weights(tensors))
    states: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("adam/"):
            _, number, part = name.split("/")
            states.setdefault(int(number), {})[part] = tensor
    run.optimizer.load_state_dict({"state": states, "param_groups": run.optimizer.state_dict()["param_groups"]})
    run.generator.set_state(tensors["generator"])
    run.step, run.seconds = document["step"], document["seconds"]


def _stored(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return what a file says of a run, and its tensors."""
    try:
        with safe_open(path, framework="pt") as file:
            document = json.loads((file.metadata() or {})[KEY])
            return document, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise ValueError(f"checkpoint must be a file that a run has written, got {path}. Remove it.") from error


def _weights(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix("weights/"): t for name, t in tensors.items() if name.startswith("weights/")}


def run_from(arguments: argparse.Namespace, module: nn.Module, draw: Draw, schedule: Schedule) -> Run:
    """Train a module as the command line asks, going on from its checkpoint if there is one."""
    run = start(module, schedule, device_named(arguments.device))
    if arguments.start is not None:
        run.module.load_state_dict(_weights(_stored(arguments.start)[1]))
    if arguments.checkpoint is not None and arguments.checkpoint.exists():
        resume(arguments.checkpoint, run, schedule)
    train(run, draw, schedule, arguments.checkpoint)
    run.module.eval()
    return run


def arguments_of(description: str, *, minutes: float, batch: int, patch: int, rate: float) -> argparse.ArgumentParser:
    """Return the options that all training scripts share, with what each takes unless told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--images", type=Path, required=True, help="folder of training images of one size")
    parser.add_argument("--out", type=Path, required=True, help="file of the weights; the record stands beside it")
    parser.add_argument("--minutes", type=float, default=minutes, help="how long to train")
    parser.add_argument("--steps", type=int, help="train for so many steps instead")
    parser.add_argument("--checkpoint", type=Path, help="file to go on from, and to write on the way")
    parser.add_argument("--start", type=Path, help="checkpoint of an earlier run to take the first weights from")
    parser.add_argument("--test", type=Path, help="folder that holds the folders of test images")
    parser.add_argument("--device", default="auto", help="cuda, cpu or auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--patch", type=int, default=patch)
    parser.add_argument("--rate", type=float, default=rate)
    return parser


def opening(
    parser: argparse.ArgumentParser, words: Sequence[str] | None, precision: str = "bf16"
) -> tuple[argparse.Namespace, torch.device, Schedule]:
    """Read the command line and fix the seed; return what was asked for, where to train and for how long."""
    arguments = parser.parse_args(words)
    torch.manual_seed(arguments.seed)
    schedule = Schedule(arguments.minutes, arguments.steps, arguments.rate, arguments.seed, precision)
    return arguments, device_named(arguments.device), schedule


def write_weights(path: Path, module: nn.Module, record: dict[str, Any]) -> None:
    """Write the weights as ``pellucid.save`` does, and beside them how they came to be and what they reach."""
    from pellucid.core.files.saving import model_bytes

    write_whole(path, model_bytes(module))
    write_whole(path.with_suffix(".json"), (json.dumps(record, indent=1) + "\n").encode())


def record_of(run: Run, schedule: Schedule, arguments: argparse.Namespace, **more: Any) -> dict[str, Any]:
    """Return what a reader must know to make the weights again."""
    device = run.generator.device
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    before = {} if arguments.start is None else {"started_from": _stored(arguments.start)[0]}
    return {
        "images": arguments.images.name,
        "seed": schedule.seed,
        "steps": run.step,
        "minutes": round(run.seconds / 60.0, 2),
        "card": card,
        "torch": torch.__version__,
        "batch": arguments.batch,
        "patch": arguments.patch,
        "rate": schedule.rate,
        **before,
        **more,
    }
