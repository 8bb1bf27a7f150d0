"""Settings of a track: model fields that organisers change in the form or by the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import models


@dataclass(frozen=True)
class Setting:
    """How the form and the API show a field; its type and default are those of the field.

    Labels and bounds are not options of the field, because a change of them would be a migration.
    """

    label: str | None = None
    hint: str = ""
    # For the API documentation.
    description: str | None = None
    # The choices in the form, if not those of the field.
    choices: Mapping[str, str] = field(default_factory=dict)
    least: float = 0
    most: float = 2**31 - 1
    # Whether an empty form field means the default.
    may_be_empty: bool = False
    # The Django setting with the value of new tracks.
    site_setting: str = ""


def setting(model_field: models.Field, label: str | None = None, **words: Any) -> models.Field:
    """Declare a field of the track as a setting.

    The form and the schema of the API derive from this declaration. The template of the form says
    where the setting appears on the page.
    """
    model_field.setting = Setting(label, **words)
    return model_field


def setting_fields(model: type[models.Model]) -> list[models.Field]:
    """Return the fields that are settings, in the order of the API."""
    return [
        model_field
        for model_field in model._meta.concrete_fields
        if hasattr(model_field, "setting")
    ]


def site_defaults(model: type[models.Model]) -> dict[str, Any]:
    """Return the values that this site's configuration gives new tracks."""
    names = {
        model_field.name: model_field.setting.site_setting for model_field in setting_fields(model)
    }
    return {name: getattr(settings, from_site) for name, from_site in names.items() if from_site}
