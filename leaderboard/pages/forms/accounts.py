"""Account forms (sign-in, password, second factor, deleting) with our own help text."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as allauth
from allauth.mfa.base import forms as second_factor
from allauth.mfa.totp import forms as totp
from django import forms
from django.core.exceptions import ValidationError

from leaderboard.actions.tokens import revoke_tokens

GOOD_PASSWORD = "At least 8 characters. Not a common word or like your name."


class WithoutPlaceholders(forms.BaseForm):
    """An allauth form without placeholders, which only repeat the labels."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
        if "password1" in self.fields:
            self.fields["password1"].help_text = GOOD_PASSWORD


class SignInForm(WithoutPlaceholders, allauth.LoginForm):
    pass


class SignUpForm(WithoutPlaceholders, allauth.SignupForm):
    pass


class OffersTokenRevocation(forms.BaseForm):
    """A form for a new password that offers to revoke the user's tokens."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.user is not None and self.user.tokens.usable().exists():
            self.fields["revokes_tokens"] = forms.BooleanField(
                label="Also revoke all my tokens",
                required=False,
                help_text="Tokens keep working otherwise. Choose this if someone else may have "
                "used your account.",
            )

    def save(self) -> None:
        super().save()
        if self.cleaned_data.get("revokes_tokens"):
            revoke_tokens(self.user)


class ChangePasswordForm(OffersTokenRevocation, WithoutPlaceholders, allauth.ChangePasswordForm):
    pass


class SetPasswordForm(WithoutPlaceholders, allauth.SetPasswordForm):
    pass


class ResetPasswordForm(WithoutPlaceholders, allauth.ResetPasswordForm):
    pass


class NewPasswordForm(OffersTokenRevocation, WithoutPlaceholders, allauth.ResetPasswordKeyForm):
    pass


class EmailAddressForm(WithoutPlaceholders, allauth.AddEmailForm):
    pass


class PasswordAgainForm(WithoutPlaceholders, allauth.ReauthenticateForm):
    pass


class CodeForm(WithoutPlaceholders, second_factor.AuthenticateForm):
    pass


class CodeAgainForm(WithoutPlaceholders, second_factor.ReauthenticateForm):
    pass


class FirstCodeForm(WithoutPlaceholders, totp.ActivateTOTPForm):
    pass


class TypedNameForm(forms.Form):
    name = forms.CharField(label="Name", widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, *args: Any, name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected = name

    def clean_name(self) -> str:
        typed: str = self.cleaned_data["name"]
        if typed != self.expected:
            raise ValidationError("Type the name exactly as it is shown.")
        return typed
