"""Compiling the scanner while its wheel is built."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

from rankfield_scanner import compile_library


class CompilingHook(BuildHookInterface):
    """Adds the library to the wheel, whose name says for which platform it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        library = Path(self.directory, "scanner.so")
        library.parent.mkdir(parents=True, exist_ok=True)
        compile_library(library)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False
        build_data["force_include"][str(library)] = "rankfield_scanner/scanner.so"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        Path(self.directory, "scanner.so").unlink()
