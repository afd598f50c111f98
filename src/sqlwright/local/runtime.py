"""The doorway to onnxruntime, which is silenced before it is loaded.

Left alone, onnxruntime reports how it is used to its vendor: from the moment it is loaded it keeps
an id of the device and a queue of events under the user's cache folder, and seconds later it
sends them. What turns it off afterwards (`disable_telemetry_events`) is too late for both. Only an
environment variable that is there when it is loaded stops everything; processes started from this
one inherit it.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from sqlwright.boundary.processors import processors
from sqlwright.errors import ModelUnavailable

if TYPE_CHECKING:
    import onnxruntime

SILENCE = "ORT_DISABLE_TELEMETRY"


def silence() -> None:
    """Have an onnxruntime that isn't loaded yet report nothing, whatever the environment said."""
    os.environ[SILENCE] = "1"


def is_silent() -> bool:
    """True if an onnxruntime loaded now would report nothing."""
    return os.environ.get(SILENCE) == "1"


def quantization() -> ModuleType:
    """onnxruntime's package that makes graphs smaller. Needs the package onnx."""
    silence()
    package = importlib.import_module("onnxruntime.quantization")
    importlib.import_module("onnxruntime.quantization.shape_inference")
    return package


def save_optimized(path: Path, to: Path) -> None:
    """Save an ONNX graph as onnxruntime's optimiser leaves it: it gives the same numbers, bit for
    bit, and opens in a third of the time and with less memory. Of the optimiser's levels the
    highest whose outcome runs on any processor."""
    silence()
    import onnxruntime

    settings = _settings(threads=1)
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    settings.optimized_model_filepath = str(to)
    onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])


def open_session(path: Path, *, small: bool = False) -> onnxruntime.InferenceSession:
    """An ONNX graph on the CPU. Raises ModelUnavailable when it is missing or damaged.

    Two processors share a call where there are two: the numbers are the same, bit for bit. Calls
    of a `small` graph are over before a second processor is told of them.
    """
    silence()
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as failures

    try:
        return onnxruntime.InferenceSession(
            _source(path),
            _settings(1 if small else threads()),
            providers=["CPUExecutionProvider"],
        )
    except (
        OSError,
        RuntimeError,
        failures.Fail,
        failures.InvalidArgument,
        failures.InvalidGraph,
        failures.InvalidProtobuf,
        failures.NoSuchFile,
        failures.NotImplemented,
        failures.RuntimeException,
    ) as error:
        raise ModelUnavailable(
            f"the model {path.name} in {path.parent} can't be read: {error}",
            hint="Reinstall sqlwright; its package brings the weights along.",
        ) from error


def threads() -> int:
    """Threads of a call: two where there are two processors. OMP_NUM_THREADS, the variable that
    numerical libraries share, may say one."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(2, processors(), int(said) if said.isdecimal() else 2))


def _settings(threads: int) -> onnxruntime.SessionOptions:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    # A thread that waits for its next call leaves the processor to others.
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    settings.log_severity_level = 3
    # Without VNNI, products of unsigned and signed bytes overflow in the processor's 16 bits, and
    # answers differ from one machine to another. The slower way is taken there, and only there.
    settings.add_session_config_entry("session.x64quantprecision", "1")
    return settings


def _source(path: Path) -> str | bytes:
    """The graph as onnxruntime takes it: the file's name, which spares a copy of it in memory, or
    its content where the name isn't UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return path.read_bytes()
    return str(path)
