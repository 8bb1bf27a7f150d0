"""What `import evaluation` offers."""

import subprocess
import sys
from pathlib import Path

import evaluation
from tests.test_house import late_imports

# Of Python itself.
BORROWED = {"Any", "TYPE_CHECKING", "import_module"}


def test_the_public_names_are_sorted_and_there():
    constants = [name for name in evaluation.__all__ if name.isupper()]
    classes = [name for name in evaluation.__all__ if name[0].isupper() and name not in constants]
    others = [name for name in evaluation.__all__ if name[0].islower()]
    assert evaluation.__all__ == sorted(constants) + sorted(classes) + sorted(others)
    assert all(hasattr(evaluation, name) for name in evaluation.__all__)


def test_nothing_else_is_public_but_the_modules():
    public = {name for name in dir(evaluation) if not name.startswith("_")}
    modules = {name for name in public if getattr(evaluation, name).__class__.__name__ == "module"}
    assert public - modules - BORROWED == set(evaluation.__all__)


def test_the_type_checker_is_told_of_all_that_is_loaded_late():
    told = set(late_imports(Path(evaluation.__file__)))
    assert told == {f"evaluation.library.{file}.{name}" for name, file in evaluation._LATE.items()}


def loaded_after(program: str) -> set[str]:
    """Return the packages that a program has loaded."""
    root = str(Path(evaluation.__file__).parent.parent)
    shown = f"{program}; import sys; print(*{{m.split('.')[0] for m in sys.modules}})"
    words = [sys.executable, "-c", shown]
    environment = {"PYTHONPATH": root}
    ended = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    return set(ended.stdout.split())


EVALUATE = "import evaluation; evaluation.evaluate({7: {'d1': 1}}, {7: {'d1': 1}}, 'AP').means"


def test_evaluating_loads_numpy_alone():
    assert loaded_after(EVALUATE) & {"numpy", "scipy", "pandas", "django"} == {"numpy"}


def test_a_pool_needs_numpy_alone():
    assert "scipy" not in loaded_after("import evaluation; evaluation.pool([{7: {'d1': 1}}], 1)")
