"""The reference of answers lists what the code has."""

import re
from pathlib import Path

from evaluation.__main__ import main
from evaluation.answers.dialects import DIALECTS
from evaluation.answers.measures import ALIASES
from evaluation.answers.nugget_files import FORMATS
from evaluation.answers.rules import FIXES, PRESETS

ROOT = Path(__file__).parents[3]
REFERENCE = (ROOT / "docs/reference/answers.md").read_text()
# A warning of what is an error elsewhere is written with its first letter in the code.
CODE = re.compile(r'"(E_[A-Z_]+|W_[A-Z_]+)"')


def test_every_code_is_described():
    sources = "".join(path.read_text() for path in (ROOT / "evaluation/answers").rglob("*.py"))
    codes = {*CODE.findall(sources)} - {"E_DUP_CITATION", "E_LENGTH_FIELD", "E_WEIGHT_RANGE"}
    codes -= {"E_FAILED", "E_ENCODING"}
    assert not {code for code in codes if f"`{code}`" not in REFERENCE}


def test_every_dialect_preset_repair_and_format_is_described():
    names = [*DIALECTS, *PRESETS, *FIXES, *FORMATS, *ALIASES]
    assert not [name for name in names if f"`{name}`" not in REFERENCE]


def test_the_table_of_measures_is_that_of_the_command(capfd):
    main(["measures", "--answers", "--format", "md"])
    assert capfd.readouterr().out in REFERENCE
