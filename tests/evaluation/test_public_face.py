"""What `import evaluation` offers."""

import evaluation


def test_the_public_names_are_sorted_and_there():
    constants = [name for name in evaluation.__all__ if name.isupper()]
    classes = [name for name in evaluation.__all__ if name[0].isupper() and name not in constants]
    others = [name for name in evaluation.__all__ if name[0].islower()]
    assert evaluation.__all__ == sorted(constants) + sorted(classes) + sorted(others)
    assert all(hasattr(evaluation, name) for name in evaluation.__all__)


def test_nothing_else_is_public_but_the_modules():
    public = {name for name in vars(evaluation) if not name.startswith("_")}
    modules = {name for name in public if getattr(evaluation, name).__class__.__name__ == "module"}
    assert public - modules == set(evaluation.__all__)
