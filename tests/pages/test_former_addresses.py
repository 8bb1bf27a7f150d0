"""Addresses of before lead on for good."""

from __future__ import annotations

import pytest

MOVED = {
    "/tracks/run-a-task/": "/organise/",
    "/tracks/bread/": "/benchmarks/bread/board/",
    "/tracks/bread/?measure=P@5": "/benchmarks/bread/board/?measure=P@5",
    "/tracks/bread/overview/": "/benchmarks/bread/",
    "/tracks/bread/about/": "/benchmarks/bread/",
    "/tracks/bread/task/?format=bib": "/benchmarks/bread/?format=bib",
    "/tracks/bread/manage/task/": "/benchmarks/bread/manage/overview/",
    "/tracks/bread/topic/?number=a%20b": "/benchmarks/bread/topic/?number=a%20b",
    "/collections/bread/fill-holes/": "/collections/bread/fill-unjudged/",
    "/tasks/": "/benchmarks/",
    "/tasks/meal/": "/benchmarks/meal/",
    "/benchmarks/meal/about/": "/benchmarks/meal/",
    "/tasks/meal/systems/7/?all=1": "/benchmarks/meal/systems/7/?all=1",
    "/task-badges/code-of-meal.svg": "/benchmark-badges/code-of-meal.svg",
}


@pytest.mark.parametrize(("former", "present"), MOVED.items(), ids=list(MOVED))
@pytest.mark.django_db
def test_a_former_address_leads_to_the_present_one(client, former, present):
    answer = client.get(former)
    assert (answer.status_code, answer["Location"]) == (301, present)


def test_no_former_address_leads_elsewhere(client):
    assert client.get("/tasks//evil.example/")["Location"] == "/benchmarks//evil.example/"
