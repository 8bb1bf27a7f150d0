"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client, override_settings
from pytest_django import DjangoDbBlocker

from leaderboard.analysis.judge_agreement import (
    agreement_of_assessors,
    compute_layer_agreement,
    compute_version_agreement,
)
from leaderboard.analysis.planning import compute_depths
from leaderboard.analysis.reusability import compute_reusability
from leaderboard.analysis.unjudged import bound_verdicts
from leaderboard.assessments.samples import check_closed_samples
from leaderboard.collections.documents import known_docnos, open_documents
from leaderboard.collections.marked_pairs import load_people_pairs
from leaderboard.collections.nuggets import load_bank
from leaderboard.collections.word_index import open_word_index
from leaderboard.infrastructure import page_store
from leaderboard.jobs import running
from leaderboard.models import Collection, Track, User
from leaderboard.scoring import contest_tests, judgments, scores
from leaderboard.scoring.drawn_pairs import load_sample
from tests.builders import make_collection, make_track, make_user, signed_in
from tests.dealing import WholeFiles, begin_with_the_longest, group_of, keep_groups_together
from tests.recording import road
from tests.services.machines import OPENED, Site
from tests.white_space import squeeze_answers

# A program for an environment of its own.
collect_ignore = ["helm.py"]

DATA = os.environ.get("RANKFIELD_DATA")
TESTS_OF_JOBS = ("jobs", "services", "faults")


def pytest_configure() -> None:
    squeeze_answers()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not DATA:
        deselect_data(config, items)
    begin_with_the_longest(items)
    # Told to a process of pytest-xdist that is given `--dist loadgroup`.
    if getattr(config.option, "loadgroup", False):
        keep_groups_together(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WholeFiles | None:
    return WholeFiles(config, log) if config.getvalue("dist") == "loadgroup" else None


def deselect_data(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests on real collections are deselected where the collections are not."""
    wanted = [item for item in items if not item.get_closest_marker("data")]
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("data")])
    items[:] = wanted


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test on whole sites that fails shows what their processes said last."""
    report = yield
    if report.failed:
        report.sections += [said for site in sites_of(item) for said in site.said_last()]
    return report


def sites_of(item: pytest.Item) -> set[Site]:
    """The sites among the fixtures of a test, and those that its fixtures are about."""
    given = getattr(item, "funcargs", {}).values()
    found = [site for each in given for site in (each, getattr(each, "site", None))]
    return {site for site in found if isinstance(site, Site)}


def pytest_collection_finish() -> None:
    """What is imported by now stays: the collector of garbage need not look at it again."""
    gc.collect()
    gc.freeze()
    # Most of what a request makes is gone by its end; looking thirty times as often took 4 %.
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, Any, Any]:
    """Sites end with the last test of their group."""
    done = yield
    if group_of(item) is not None and group_of(nextitem) != group_of(item):
        for site in OPENED:
            site.close()
    return done


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where everything is installed, a skipped test is a test that failed to run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if os.environ.get("RANKFIELD_NO_SKIPS") and skipped:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real collections and recorded outputs; for tests marked `data`."""
    assert DATA
    return Path(DATA)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    connection.execute_wrappers.append(road.follow)


@pytest.fixture(autouse=True)
def files_of_its_own(settings, tmp_path: Path) -> None:
    """Uploads of a test lie in a folder of the test; what a worker remembers is forgotten."""
    settings.MEDIA_ROOT = tmp_path / "files"
    forget()


@pytest.fixture(autouse=True)
def real_steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is copied in tests of the jobs themselves, or once a test has patched the product."""
    is_about_jobs = request.path.parent.name in TESTS_OF_JOBS
    road.is_closed = lambda: bool(is_about_jobs or monkeypatch._setattr or monkeypatch._setitem)
    yield
    road.is_closed = lambda: False


def forget() -> None:
    """What processes remember of rows and files that never change."""
    for remembered in (
        load_bank,
        judgments.load_topics,
        judgments.load_judgments,
        load_people_pairs,
        load_sample,
        open_documents,
        known_docnos,
        open_word_index,
        bound_verdicts,
        compute_depths,
        compute_reusability,
        compute_layer_agreement,
        compute_version_agreement,
        agreement_of_assessors,
        check_closed_samples,
    ):
        remembered.cache_clear()
    scores.means_cache.clear()
    contest_tests.tests_cache.clear()
    page_store.forget_all()
    running.last_heartbeats.clear()
    cache.clear()


@pytest.fixture(scope="module")
def module_files(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    """Hold one transaction open around the tests of a module, and a folder for its files.

    Each test rolls back what it did itself, so the rows of a fixture of the module stay.
    """
    with django_db_blocker.unblock():
        around = transaction.atomic()
        around.__enter__()
    yield tmp_path_factory.mktemp("module") / "files"
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


@contextmanager
def made_once(blocker: DjangoDbBlocker, files: Path) -> Iterator[None]:
    """Let a fixture of a module make rows and files, as a fixture of a test may."""
    with blocker.unblock(), override_settings(MEDIA_ROOT=files):
        forget()
        yield


def copy_files(files: Path, settings: Any) -> None:
    """Give a test its own copy of the files of its module."""
    shutil.copytree(files, settings.MEDIA_ROOT, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def scene_of_all(
    request: pytest.FixtureRequest, module_files: Path, django_db_blocker: DjangoDbBlocker
) -> Any:
    """What `make_scene` of a module makes for Ada, Ben and Cat, once for all its tests."""
    with made_once(django_db_blocker, module_files):
        return request.module.make_scene(*(someone(name) for name in ("ada", "ben", "cat")))


@pytest.fixture
def scene(db: None, scene_of_all: Any, module_files: Path, settings: Any) -> Any:
    """The scene of the module as it was made: what a test does to it is rolled back."""
    copy_files(module_files, settings)
    return scene_of_all


def someone(name: str) -> User:
    """One of the cast, who may be there already."""
    found = User.objects.filter(username=name).first()
    return found or make_user(name, can_organise=name == "ada")


@pytest.fixture
def ada(db) -> User:
    """Ada organises."""
    return someone("ada")


@pytest.fixture
def ben(db) -> User:
    """Ben takes part."""
    return someone("ben")


@pytest.fixture
def cat(db) -> User:
    """Cat is a stranger."""
    return someone("cat")


@pytest.fixture
def dan(db: None) -> User:
    """Dan judges, and does not take part."""
    return someone("dan")


@pytest.fixture
def eve(db: None) -> User:
    """Eve judges too."""
    return someone("eve")


@pytest.fixture
def collection(ada: User) -> Collection:
    return make_collection(ada)


@pytest.fixture
def track(collection: Collection) -> Track:
    """Ada's open track."""
    return make_track(collection)


@pytest.fixture
def blind_track(collection: Collection) -> Track:
    """Ada's blind track, not yet released."""
    return make_track(collection, slug="blind", disclosure="blind")


@pytest.fixture
def leaderboard_track(collection: Collection) -> Track:
    """Ada's track of rounded means, not yet over."""
    return make_track(collection, slug="lead", disclosure="leaderboard")


@pytest.fixture
def as_ada(ada: User) -> Client:
    return signed_in(ada)


@pytest.fixture
def as_ben(ben: User) -> Client:
    return signed_in(ben)


@pytest.fixture
def as_cat(cat: User) -> Client:
    return signed_in(cat)
