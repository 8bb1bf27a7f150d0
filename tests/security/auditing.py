"""Known holes in the packages that are pinned: pip-audit, and a plain word where it was not told.

    python -m tests.security.auditing requirements.txt

Ends with 1 where a hole is known.  An index that knows no advisories is no reason to fail, and no
reason to say that all is well either.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

AUDIT = ["tool", "run", "pip-audit==2.10.1", "--disable-pip", "--no-deps", "--format", "json"]
PATIENCE = 300


def main(files: list[str]) -> int:
    found = [audit(file) for file in files]
    for file, packages in zip(files, found, strict=True):
        print(said(file, packages))
    return int(any(holes(packages) for packages in found if packages is not None))


def audit(file: str) -> list[dict[str, Any]] | None:
    """Every package with what is known of it; None where nobody could be asked."""
    uv = Path(sys.executable).parent / "uv"
    try:
        done = subprocess.run(
            [str(uv), *AUDIT, "-r", file], capture_output=True, text=True, timeout=PATIENCE
        )
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    return packages


def said(file: str, packages: list[dict[str, Any]] | None) -> str:
    known = [each for each in packages or [] if "skip_reason" not in each]
    if not known:
        return f"{file}: not audited; no list of known holes was reached."
    lines = [f"{file}: {len(known)} of {len(packages or [])} packages audited."]
    lines += [
        f"  {each['name']} {each['version']}: {hole['id']}, mended in {hole['fix_versions']}"
        for each, hole in holes(known)
    ]
    return "\n".join(lines)


def holes(packages: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(each, hole) for each in packages for hole in each.get("vulns", [])]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
