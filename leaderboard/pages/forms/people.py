"""Forms for joining, tokens, email notices and webhooks."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField

from leaderboard.actions.registrations import RegistrationDetails
from leaderboard.models import Benchmark, JoinRequest, Registration, Team, User
from leaderboard.models.notices import WebhookEvent, WebhookFormat
from leaderboard.models.registrations import Asked
from leaderboard.notifications.webhooks import WebhookError, check_url

# Lifetimes of a token, in days.
LIFETIMES = [(7, "in 7 days"), (30, "in 30 days"), (90, "in 90 days"), (365, "in 1 year")]
DEFAULT_LIFETIME = 90
ORCID_ADDRESS = "HTTPS://ORCID.ORG/"
ORCID = re.compile(r"(?:[0-9]{4}-){3}[0-9]{3}[0-9X]")


class RegistrationForm(forms.Form):
    """What the organisers ask of a team, and the agreement to sign; often nothing."""

    person = forms.CharField(
        label="Person responsible", max_length=120, help_text="Answers for the team."
    )
    affiliation = forms.CharField(label="Affiliation", max_length=200)
    country = forms.CharField(label="Country", max_length=80)
    contact = forms.EmailField(label="Email", max_length=200)
    address = forms.CharField(
        label="Address of the institution",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    tracks = forms.MultipleChoiceField(
        label="Tracks of interest", widget=forms.CheckboxSelectMultiple
    )
    question = forms.CharField(max_length=1000, widget=forms.Textarea(attrs={"rows": 2}))
    agreement = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    signs = forms.BooleanField(
        label="I have read the agreement and sign it for the team",
        error_messages={"required": "Sign the agreement to take part."},
    )
    signed_name = forms.CharField(label="Sign with your full name", max_length=120)

    def __init__(
        self,
        *args: Any,
        benchmark: Benchmark,
        known: Registration | None = None,
        registers: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.to_sign = benchmark.agreement if registers else None
        asked = {*benchmark.asked} if registers else set()
        registers = registers and benchmark.registers_teams
        kept = {
            *(["person"] if registers else []),
            *asked,
            *(["agreement", "signs", "signed_name"] if self.to_sign else []),
        }
        for name in (*Asked.values, "person", "agreement", "signs", "signed_name"):
            if name not in kept:
                del self.fields[name]
        if "tracks" in self.fields:
            tracks = benchmark.tracks.opened().in_order()
            self.fields["tracks"].choices = [(track.slug, track.name) for track in tracks]
        if "question" in self.fields:
            self.fields["question"].label = benchmark.question or "Anything else"
        if known is not None:
            self.initial |= {"person": known.person, **known.answers}
        if self.to_sign is not None:
            self.initial["agreement"] = self.to_sign.version

    @property
    def answer_fields(self) -> list[BoundField]:
        """The fields of the team, without those of the signature."""
        return [self[name] for name in self.fields if name in ("person", *Asked.values)]

    def clean(self) -> dict[str, Any]:
        """Refuse a signature under another version or name than the page shows."""
        cleaned = super().clean() or {}
        person, signed = cleaned.get("person"), cleaned.get("signed_name")
        if person and signed and person.split() != signed.split():
            self.add_error("signed_name", f"This must be the person responsible: {person}.")
        read = cleaned.get("agreement")
        if self.to_sign is not None and read not in (None, self.to_sign.version):
            self.data = self.data.copy()
            self.data["agreement"] = self.to_sign.version
            self.add_error(
                "signs", "The agreement has changed since you opened this page. Read it again."
            )
        return cleaned

    @property
    def registration(self) -> RegistrationDetails:
        values = self.cleaned_data
        answers = {name: values[name] for name in Asked.values if name in values}
        return RegistrationDetails(
            values.get("person", ""),
            answers,
            values.get("agreement"),
            values.get("signed_name", ""),
        )


class JoinForm(RegistrationForm):
    team_name = forms.CharField(
        label="Team name",
        max_length=80,
        required=False,
        help_text="Shown on the board. Default: your own name.",
    )
    accepts_terms = forms.BooleanField(
        label="I accept the terms", error_messages={"required": "Accept the terms to take part."}
    )

    field_order = ["team_name"]

    def __init__(
        self, *args: Any, benchmark: Benchmark, asked: JoinRequest | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        if asked is not None and asked.state == JoinRequest.State.WAITING:
            self.initial["team_name"] = asked.team_name
        if not benchmark.terms:
            del self.fields["accepts_terms"]

    @property
    def details(self) -> dict[str, Any]:
        """What is sent beside the codes of an invitation."""
        names = ("team_name", "accepts_terms")
        sent = {name: self.cleaned_data[name] for name in names if name in self.cleaned_data}
        return {**sent, "registration": self.registration}


class MemberForm(forms.Form):
    """A member of a team, by account id."""

    user = forms.ModelChoiceField(User.objects.none())

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["user"].queryset = User.objects.filter(memberships__team=team)


class OrganiserForm(forms.Form):
    name = forms.CharField(label="User", max_length=150, help_text="The account name on this site.")


class MergeTeamsForm(forms.Form):
    """Two teams of a benchmark, of which the first gets everything."""

    kept = forms.ModelChoiceField(Team.objects.none(), label="Team that stays")
    team = forms.ModelChoiceField(Team.objects.none(), label="Team that is merged into it")

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        teams = benchmark.teams.filter(of_organisers=False).order_by("name")
        for field in self.fields.values():
            field.queryset = teams


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, required=False, label="Purpose")
    scopes = forms.MultipleChoiceField(
        label="Permissions",
        choices=[
            ("read", "Read what I can see"),
            ("submit", "Submit runs"),
            ("organise", "Organise my collections and tracks"),
        ],
        widget=forms.CheckboxSelectMultiple,
        initial=["read", "submit"],
    )
    days = forms.TypedChoiceField(
        label="Expires", choices=LIFETIMES, coerce=int, initial=DEFAULT_LIFETIME
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not user.may_organise:
            self.fields["scopes"].choices = self.fields["scopes"].choices[:2]


class EmailNoticesForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["mails"]
        labels = {"mails": "Also email me my notices"}


class ProfileForm(forms.Form):
    """Who the person of an account is."""

    display_name = forms.CharField(
        label="Display name",
        max_length=150,
        required=False,
        help_text="Shown as an author and to organisers. Default: the name to sign in with.",
    )
    affiliation = forms.CharField(label="Affiliation", max_length=200, required=False)
    orcid = forms.CharField(
        label="ORCID iD",
        max_length=60,
        required=False,
        help_text="Such as 0000-0002-1825-0097.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        given = {"display_name": user.get_full_name(), "affiliation": user.affiliation}
        super().__init__(*args, initial={**given, "orcid": user.orcid}, **kwargs)

    def clean_orcid(self) -> str:
        """Return the identifier without the address of ORCID before it."""
        typed = self.cleaned_data["orcid"]
        if typed and not is_orcid(found := typed.upper().removeprefix(ORCID_ADDRESS)):
            raise ValidationError("An ORCID iD has 16 digits; the last one checks the others.")
        return found if typed else ""


def is_orcid(text: str) -> bool:
    """Return whether a text is an ORCID iD: ISO 7064 mod 11-2, as ORCID describes it.

    >>> is_orcid("0000-0002-1825-0097"), is_orcid("0000-0002-1825-0098"), is_orcid("0000")
    (True, False, False)
    """
    if not ORCID.fullmatch(text):
        return False
    total = 0
    for digit in text.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return text[-1] == ("X" if check == 10 else str(check))


class WebhookForm(forms.Form):
    url = forms.URLField(label="Address", max_length=500, assume_scheme="https")
    happenings = forms.MultipleChoiceField(
        label="When",
        choices=WebhookEvent.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=WebhookEvent.values,
    )
    format = forms.ChoiceField(label="What is sent", choices=WebhookFormat.choices)

    def clean_url(self) -> str:
        try:
            check_url(self.cleaned_data["url"])
        except WebhookError as reason:
            raise ValidationError(str(reason)) from None
        return self.cleaned_data["url"]
