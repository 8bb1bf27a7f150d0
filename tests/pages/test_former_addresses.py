"""Addresses of before lead on for good."""

from __future__ import annotations

import pytest

MOVED = {
    "/tracks/run-a-task/": "/organise/",
    "/tracks/bread/about/": "/tracks/bread/overview/",
    "/tracks/bread/task/?format=bib": "/tracks/bread/overview/?format=bib",
    "/tracks/bread/manage/task/": "/tracks/bread/manage/overview/",
    "/collections/bread/fill-holes/": "/collections/bread/fill-unjudged/",
    "/tasks/": "/benchmarks/",
    "/tasks/meal/": "/benchmarks/meal/",
    "/tasks/meal/systems/7/?all=1": "/benchmarks/meal/systems/7/?all=1",
    "/task-badges/code-of-meal.svg": "/benchmark-badges/code-of-meal.svg",
}


@pytest.mark.parametrize(("former", "present"), MOVED.items(), ids=list(MOVED))
def test_a_former_address_leads_to_the_present_one(client, former, present):
    answer = client.get(former)
    assert (answer.status_code, answer["Location"]) == (301, present)


def test_no_former_address_leads_elsewhere(client):
    assert client.get("/tasks//evil.example/")["Location"] == "/benchmarks//evil.example/"
