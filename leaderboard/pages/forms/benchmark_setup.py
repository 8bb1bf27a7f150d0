"""Forms that make a benchmark of tracks and change its settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q

from leaderboard.actions.benchmark_setup import PlacedTrack, plan_copy
from leaderboard.actions.default_tracks import build_internal_track
from leaderboard.actions.names import clean_commit_url, unused_slug
from leaderboard.actions.track_settings import check
from leaderboard.models import Benchmark, Collection, System, Track, User
from leaderboard.models.collections import ImportState
from leaderboard.models.tracks import DATE_PATTERN
from leaderboard.pages.forms.fields import (
    SHORT_NAME,
    TAKEN,
    SeveralRowsField,
    TextareaWithPlainLineEnds,
    refuse_reserved,
)
from leaderboard.pages.forms.other_saves import SeesOtherSaves
from leaderboard.pages.forms.track_sections import FieldRow, Section, list_rows


class NamedBenchmarkForm(forms.ModelForm):
    """The name of a new benchmark, and its short name, which is made of it if none is given."""

    class Meta:
        model = Benchmark
        fields = ["name", "slug"]
        labels = {"slug": "Short name"}
        help_texts = {"slug": SHORT_NAME}
        error_messages = {"slug": {"unique": TAKEN}}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False

    def clean_slug(self) -> str:
        return refuse_reserved(self.cleaned_data["slug"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("slug") and cleaned.get("name"):
            cleaned["slug"] = unused_slug(cleaned["name"], Benchmark)
        return cleaned


class NewBenchmarkForm(NamedBenchmarkForm):
    """The name of a benchmark, and what it is made of: tracks, and collections without a track."""

    tracks = SeveralRowsField(
        Track.objects.none(),
        label="Your tracks",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    collections = SeveralRowsField(
        Collection.objects.none(),
        label="Your collections without a track",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Each gets an internal track: all users of this site see its scores and can "
        "submit. You can change that later.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tracks = find_tracks_alone(user)
        self.fields["tracks"].queryset = tracks
        self.fields["collections"].queryset = collections_without_track(user)
        if not tracks:
            del self.fields["tracks"]
        if not self.fields["collections"].queryset:
            del self.fields["collections"]
        elif not tracks:
            self.initial["collections"] = self.fields["collections"].queryset

    @property
    def has_choice(self) -> bool:
        """Whether there is anything to make a benchmark of."""
        return "tracks" in self.fields or "collections" in self.fields

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not cleaned.get("tracks") and not cleaned.get("collections"):
            raise ValidationError("Choose what the benchmark is made of: at least one track.")
        return cleaned

    def list_tracks(self) -> list[Track]:
        """Return the chosen tracks, then new ones of the chosen collections, not saved yet."""
        chosen = list(self.cleaned_data.get("tracks") or [])
        collections = self.cleaned_data.get("collections") or []
        return chosen + [build_internal_track(collection) for collection in collections]


def find_tracks_alone(user: User) -> Any:
    """Return the user's tracks that are the only ones of their benchmarks."""
    several = Benchmark.objects.of_several_tracks().values("pk")
    return Track.objects.organised_by(user).exclude(benchmark__in=several).order_by("name")


def collections_without_track(user: User) -> Any:
    """Return the user's collections that have judgments and no track yet."""
    ready = Collection.objects.ready().organised_by(user).filter(tracks=None)
    return ready.filter(judgment_sets__state=ImportState.READY).distinct().order_by("name")


class BenchmarkForm(SeesOtherSaves, forms.ModelForm):
    """A section of the settings of a benchmark."""

    class Meta:
        model = Benchmark
        fields = [
            *("name", "description", "joining", "terms", "quota_per_day", "quota_total"),
            *("measure", "baseline", "main_branch", "commit_url"),
        ]
        labels = {
            "joining": "Who can join",
            "quota_per_day": "Runs per team per day, on all tracks together",
            "quota_total": "Runs per team in total, on all tracks together",
            "measure": "One measure for all tracks",
            "baseline": "Baseline system",
            "commit_url": "Commit link",
        }
        help_texts = {
            "terms": "Teams must accept these to join. All tracks have the same terms.",
            "joining": "All tracks have the same rule.",
            "quota_per_day": "Leave empty for no limit.",
            "quota_total": "Leave empty for no limit.",
            "measure": "Such as nDCG@10. Leave empty for the ranking measure of each track.",
            "main_branch": "If set, versions state their commit and branch and are compared with "
            "this branch.",
            "commit_url": "An https URL with {commit}.",
        }
        widgets = {
            "description": TextareaWithPlainLineEnds(attrs={"rows": 6}),
            "terms": TextareaWithPlainLineEnds(attrs={"rows": 4}),
            "joining": forms.RadioSelect,
        }

    def __init__(self, *args: Any, tracks: list[Track], section: Section, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section
        self.measures = list(dict.fromkeys(name for track in tracks for name in track.measures))
        self.fields["baseline"].queryset = System.objects.filter(benchmark=self.instance.pk)
        self.fields["baseline"].empty_label = "none"
        self.fields = {name: self.fields[name] for name in section.names}

    @property
    def rows(self) -> list[FieldRow]:
        return list_rows(self, self.section.rows)

    def clean_measure(self) -> str:
        measure = self.cleaned_data["measure"]
        if measure and measure not in self.measures and measure != self.initial.get("measure"):
            raise ValidationError(f"No track has this measure. Use one of {self.measures_text}.")
        return measure

    @property
    def measures_text(self) -> str:
        """The measures of the tracks, as an error lists them."""
        return ", ".join(self.measures)

    def clean_commit_url(self) -> str:
        try:
            return clean_commit_url(self.cleaned_data["commit_url"])
        except ValueError as reason:
            raise ValidationError(f"This {reason}.") from None

    @property
    def changes(self) -> dict[str, Any]:
        """The changed fields."""
        return {name: self.cleaned_data[name] for name in self.changed_data}


class PlaceForm(forms.Form):
    """The place of one track: its position, phase, group and date, and who has its judgments."""

    position = forms.IntegerField(label="Place", min_value=1, max_value=10000)
    phase = forms.CharField(label="Phase", max_length=60, required=False)
    group = forms.CharField(label="Group", max_length=60, required=False)
    dated = forms.RegexField(
        DATE_PATTERN,
        label="Date",
        max_length=10,
        required=False,
        error_messages={"invalid": "Enter 2026, 2026-05, 2026-05-31 or a number such as 1."},
    )
    is_private = forms.BooleanField(label="Private", required=False)

    def __init__(self, *args: Any, track: Track, number: int, **kwargs: Any) -> None:
        initial = {"position": number, "phase": track.phase, "group": track.group}
        initial |= {"dated": track.dated, "is_private": track.is_private}
        super().__init__(*args, prefix=track.slug, initial=initial, **kwargs)
        self.track = track

    @property
    def place(self) -> PlacedTrack:
        """The place of the track as entered."""
        names = ("phase", "group", "dated", "is_private")
        return PlacedTrack(self.track, *(self.cleaned_data[name] for name in names))


class AddTrackForm(forms.Form):
    track = forms.ModelChoiceField(
        Track.objects.none(),
        label="Track",
        help_text="Its teams become teams of the benchmark, whose joining and terms apply.",
    )
    phase = forms.CharField(label="Phase", max_length=60, required=False)
    group = forms.CharField(label="Group", max_length=60, required=False)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["track"].queryset = find_tracks_alone(user)


class NewTrackForm(forms.ModelForm):
    """A further track of a benchmark: its name and collection; the rest is that of another."""

    class Meta:
        model = Track
        fields = ["name", "slug", "collection"]
        labels = {"slug": "Short name"}
        help_texts = {"slug": SHORT_NAME}
        error_messages = {"slug": {"unique": TAKEN}}

    def __init__(self, *args: Any, user: User, copied: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.copied = copied
        self.fields["slug"].required = False
        organised = Collection.objects.ready().organised_by(user)
        self.fields["collection"].queryset = organised
        self.fields["collection"].empty_label = None
        self.initial.setdefault("collection", copied.collection_id)

    def clean_slug(self) -> str:
        return refuse_reserved(self.cleaned_data["slug"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("slug") and cleaned.get("name"):
            cleaned["slug"] = unused_slug(cleaned["name"], Track)
        if collection := cleaned.get("collection"):
            for problem in check(plan_copy(self.copied, collection), {}):
                self.add_error("collection", problem.message)
        return cleaned


class DeleteBenchmarkForm(forms.Form):
    name = forms.CharField(max_length=120)

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark

    def clean_name(self) -> str:
        if self.cleaned_data["name"].strip() != self.benchmark.name:
            raise ValidationError("This is not the name of the benchmark.")
        return self.cleaned_data["name"]


class CopyForm(NamedBenchmarkForm):
    """The name of next year's benchmark, and the collection of each of its tracks."""

    def __init__(self, *args: Any, user: User, tracks: Sequence[Track], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tracks = tracks
        own = Collection.objects.organised_by(user).ready().values("pk")
        for track in tracks:
            known = Collection.objects.filter(Q(pk__in=own) | Q(pk=track.collection_id))
            self.fields[f"collection-{track.pk}"] = forms.ModelChoiceField(
                known,
                label=f"Collection of {track.name}",
                required=False,
                initial=track.collection_id,
                empty_label=None,
            )

    @property
    def collections(self) -> dict[int, Collection]:
        """The chosen collections by the key of the track."""
        chosen = {track.pk: self.cleaned_data[f"collection-{track.pk}"] for track in self.tracks}
        return {key: collection for key, collection in chosen.items() if collection is not None}
