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

from sqlwright.errors import ModelUnavailable

if TYPE_CHECKING:
    import onnxruntime

SILENCE = "ORT_DISABLE_TELEMETRY"


def silence() -> None:
    """Have an onnxruntime that isn't loaded yet report nothing, whatever the environment said."""
    os.environ[SILENCE] = "1"


def is_silent() -> bool:
    """Whether an onnxruntime loaded now would report nothing."""
    return os.environ.get(SILENCE) == "1"


def quantization() -> ModuleType:
    """onnxruntime's package that makes graphs smaller. Needs the package onnx."""
    silence()
    package = importlib.import_module("onnxruntime.quantization")
    importlib.import_module("onnxruntime.quantization.shape_inference")
    return package


def open_session(path: Path, *, threads: int = 1) -> onnxruntime.InferenceSession:
    """An ONNX graph on the CPU. Raises ModelUnavailable when it is missing or damaged."""
    silence()
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as failures

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    # Without VNNI, products of unsigned and signed bytes overflow in the processor's 16 bits, and
    # answers differ from one machine to another. The slower way is taken there, and only there.
    settings.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(
            path.read_bytes(), settings, providers=["CPUExecutionProvider"]
        )
    except (
        OSError,
        RuntimeError,
        failures.Fail,
        failures.InvalidArgument,
        failures.InvalidGraph,
        failures.InvalidProtobuf,
        failures.NotImplemented,
        failures.RuntimeException,
    ) as error:
        raise ModelUnavailable(
            f"the model {path.name} in {path.parent} can't be read: {error}",
            hint="Reinstall sqlwright; its package brings the weights along.",
        ) from error
