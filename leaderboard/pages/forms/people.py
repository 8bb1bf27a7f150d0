"""Forms for joining, tokens, email notices and webhooks."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from leaderboard.models import Benchmark, JoinRequest, Team, User
from leaderboard.models.notices import WebhookEvent, WebhookFormat
from leaderboard.notifications.webhooks import WebhookError, check_url

# Lifetimes of a token, in days.
LIFETIMES = [(7, "in 7 days"), (30, "in 30 days"), (90, "in 90 days"), (365, "in 1 year")]
DEFAULT_LIFETIME = 90
ORCID_ADDRESS = "HTTPS://ORCID.ORG/"
ORCID = re.compile(r"(?:[0-9]{4}-){3}[0-9]{3}[0-9X]")


class JoinForm(forms.Form):
    team_name = forms.CharField(
        label="Team name",
        max_length=80,
        required=False,
        help_text="Shown on the board. Default: your own name.",
    )
    accepts_terms = forms.BooleanField(
        label="I accept the terms", error_messages={"required": "Accept the terms to take part."}
    )

    def __init__(
        self, *args: Any, benchmark: Benchmark, asked: JoinRequest | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if asked is not None and asked.state == JoinRequest.State.WAITING:
            self.initial["team_name"] = asked.team_name
        if not benchmark.terms:
            del self.fields["accepts_terms"]


class MemberForm(forms.Form):
    """A member of a team, by account id."""

    user = forms.ModelChoiceField(User.objects.none())

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["user"].queryset = User.objects.filter(memberships__team=team)


class OrganiserForm(forms.Form):
    name = forms.CharField(label="User", max_length=150, help_text="The account name on this site.")


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
