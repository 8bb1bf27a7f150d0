"""The software bill of materials of a release, from its pins, as CycloneDX.

    python -m tests.security.bill_of_materials requirements-server.txt > dist/rankfield.cdx.json

It lists what an operator installs: each package with its version and the SHA-256 of every file of
it that may be installed. The same pins make the same file.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

from rankfield.version import VERSION

ROOT = Path(__file__).parent.parent.parent
PIN = re.compile(r"^([\w.-]+)(?:\[[\w,-]+\])?==(\S+)(?: ; ([^\\]+?))?((?:\s+--hash=\S+)+)$", re.M)


def main(file: str) -> None:
    print(json.dumps(describe(Path(file).read_text()), indent=1))


def describe(pins: str) -> dict[str, Any]:
    """Return the bill of these pins."""
    packages = [describe_package(*found) for found in PIN.findall(pins.replace("\\\n", ""))]
    product = f"pkg:pypi/rankfield@{VERSION}"
    license = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, product + pins)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": product,
                "name": "rankfield",
                "version": VERSION,
                "purl": product,
                "licenses": [{"license": {"id": license}}],
            }
        },
        "components": packages,
        "dependencies": [
            {"ref": product, "dependsOn": [package["bom-ref"] for package in packages]}
        ],
    }


def describe_package(name: str, version: str, condition: str, hashes: str) -> dict[str, Any]:
    """Return a component; a condition says on which systems it is installed."""
    url = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    digests = re.findall(r"--hash=sha256:([0-9a-f]{64})", hashes)
    described = {
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "purl": url,
        # Each is the hash of one file: a wheel of one system, or the source.
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{name}/{version}/#files",
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in digests],
            }
        ],
    }
    if condition:
        described["properties"] = [{"name": "python:marker", "value": condition.strip()}]
    return described


if __name__ == "__main__":
    main(*sys.argv[1:])
