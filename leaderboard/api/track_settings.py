"""The schema of a track's settings, derived from their declaration in the model."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.db import models
from ninja import Schema
from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, create_model

from evaluation.conventions import CONVENTIONS
from evaluation.reading.recognition import RUN_FORMATS
from leaderboard.actions.names import MOST_MEASURES, clean_commit_url
from leaderboard.api.fields import FactName, Instant, Label, Measure, Text, Version
from leaderboard.models import Benchmark, Track
from leaderboard.models.track_settings import setting_fields, site_defaults
from leaderboard.scoring.answer_runs import ANSWER_CHOICES
from leaderboard.scoring.kinds import KINDS

API_NAMES = {"judgment_set": "judgments"}
# Settings whose values have a narrower type in the API than in the database.
SETTING_TYPES: dict[str, Any] = {
    "measures": Annotated[list[Measure], Field(min_length=1, max_length=MOST_MEASURES)],
    "convention": Literal[tuple(CONVENTIONS)],
    "excluded_topics": Annotated[list[Label], Field(max_length=10_000)],
    "public_topics": Annotated[list[Label], Field(max_length=10_000)],
    "run_formats": Annotated[list[Literal[tuple(RUN_FORMATS)]], Field(min_length=1)],
    "required_facts": list[FactName],
    "run_kind": Literal[tuple(KINDS)],
    **{name: Literal[choices] for name, choices in ANSWER_CHOICES.items()},
    "commit_url": Annotated[
        Text, StringConstraints(max_length=300), AfterValidator(clean_commit_url)
    ],
}


def setting_type(model_field: models.Field) -> Any:
    """Return the type of a setting in the API, from its declaration in the model."""
    if model_field.name in SETTING_TYPES:
        return SETTING_TYPES[model_field.name]
    if model_field.is_relation:
        return Version
    if isinstance(model_field, models.BooleanField):
        return bool
    if isinstance(model_field, models.DateTimeField):
        return Instant
    if model_field.choices:
        return type(model_field.default)
    if model_field.max_length:
        shortest = None if model_field.blank else 1
        limits = StringConstraints(min_length=shortest, max_length=model_field.max_length)
        return Annotated[Text, limits]
    bounds = {"ge": model_field.setting.least, "le": model_field.setting.most}
    if isinstance(model_field, models.FloatField):
        return Annotated[float, Field(**bounds)]
    return Annotated[int, Field(**bounds, strict=True)]


def setting_default(model_field: models.Field) -> Any:
    """Return the value of a new track, if the call names none."""
    return site_defaults(Track).get(model_field.name, model_field.get_default())


def setting_schema_fields() -> dict[str, tuple[Any, Any]]:
    """Return a schema field for each setting of a track or its benchmark, and for a share."""
    fields: dict[str, tuple[Any, Any]] = {}
    for model_field in (*setting_fields(Track), *setting_fields(Benchmark)):
        kind = setting_type(model_field) | None if model_field.null else setting_type(model_field)
        default = Field(setting_default(model_field), description=model_field.setting.description)
        fields[API_NAMES.get(model_field.name, model_field.name)] = (kind, default)
        if model_field.name == "public_topics":
            words = "Percentage of topics to draw as public."
            share = Field(None, ge=1, le=99, strict=True, description=words)
            fields["public_share"] = (int | None, share)
    return fields


class SettingsBase(Schema):
    model_config = ConfigDict(use_enum_values=True)


TrackSettings = create_model(
    "TrackSettings",
    __base__=SettingsBase,
    __doc__="Settings an organiser can change.",
    **setting_schema_fields(),
)
