"""Requests and jobs as spans of OpenTelemetry, if the operator names a collector.

A span has the route and not the path, and no query, user or content.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


@dataclass
class Trace:
    """What is told of a request or a job, filled in while it goes on."""

    name: str
    facts: dict[str, str | int] = field(default_factory=dict)


@contextmanager
def trace(name: str, **facts: str | int) -> Iterator[Trace]:
    """Time what happens meanwhile. Without a collector nothing is imported and nothing is kept."""
    told = Trace(name, {f"rankfield.{key}": value for key, value in facts.items() if value != ""})
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        yield told
        return
    from opentelemetry.trace import Status, StatusCode

    tracer = open_tracer(os.getpid())
    with tracer.start_as_current_span(
        name, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield told
        except BaseException as error:
            span.set_status(Status(StatusCode.ERROR))
            span.set_attribute("error.type", type(error).__qualname__)
            raise
        finally:
            span.update_name(told.name)
            span.set_attributes(told.facts)


@cache
def open_tracer(process: int) -> Tracer:
    """Make the tracer of this process; a fork makes its own, because threads do not survive it."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    about = {"service.name": "rankfield", "service.version": settings.VERSION}
    provider = TracerProvider(resource=Resource.create(about))
    address = settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip("/") + "/v1/traces"
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address)))
    return provider.get_tracer("rankfield")
