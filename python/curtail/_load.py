"""Loads the part of the package that is written in Rust: from the package, or from where `curtail.spark.ship` puts it."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import _native as native

__all__ = ["SHIPPED", "native"]


#: The name under which the module is sent to executors.
SHIPPED = "curtail_native.so"


def _shipped() -> ModuleType:
    from pyspark import SparkFiles

    path = SparkFiles.get(SHIPPED)
    spec = importlib.util.spec_from_file_location("curtail._native", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module in {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["curtail._native"] = module
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    try:
        from . import _native as native
    except ImportError:
        if "pyspark" not in sys.modules:
            raise
        native = _shipped()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=native.before_fork, after_in_parent=native.after_fork, after_in_child=native.after_fork
    )
