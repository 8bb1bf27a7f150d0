"""T25: the bill of materials of a release lists what its pins install."""

from __future__ import annotations

import re

from tests.security.bill_of_materials import ROOT, describe

PINS = (ROOT / "requirements-server.txt").read_text()


def test_t25_the_bill_lists_every_pin_with_its_hashes():
    bill = describe(PINS)
    listed = {(each["name"], each["version"]) for each in bill["components"]}
    assert listed == set(re.findall(r"^([\w.-]+)(?:\[\S+\])?==(\S+)", PINS, re.M))
    files = [each["externalReferences"][0]["hashes"] for each in bill["components"]]
    assert sum(map(len, files)) == PINS.count("--hash=sha256:")


def test_t25_every_component_has_a_reference_of_its_own():
    bill = describe(PINS)
    references = [each["bom-ref"] for each in bill["components"]]
    assert len(set(references)) == len(references)
    assert bill["dependencies"][0]["dependsOn"] == references


def test_t25_the_same_pins_make_the_same_bill():
    assert describe(PINS) == describe(PINS)
    assert describe(PINS)["serialNumber"] != describe(PINS + "\n")["serialNumber"]


def test_t25_a_pin_of_some_systems_says_which():
    pin = "tzdata==2026.1 ; sys_platform == 'win32' \\\n    --hash=sha256:" + "a" * 64 + "\n"
    [found] = describe(pin)["components"]
    assert found["properties"] == [{"name": "python:marker", "value": "sys_platform == 'win32'"}]
    assert found["purl"] == "pkg:pypi/tzdata@2026.1"
