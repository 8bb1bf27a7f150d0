"""Account forms (sign-in, password, second factor) with our own help text."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as allauth
from allauth.mfa.base import forms as second_factor
from allauth.mfa.totp import forms as totp
from django import forms

GOOD_PASSWORD = "At least 8 characters. Not a common word or like your name."


class Unprompted(forms.BaseForm):
    """A form of allauth without the words inside its fields: the labels say them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
        if "password1" in self.fields:
            self.fields["password1"].help_text = GOOD_PASSWORD


class SignInForm(Unprompted, allauth.LoginForm):
    pass


class SignUpForm(Unprompted, allauth.SignupForm):
    pass


class ChangePasswordForm(Unprompted, allauth.ChangePasswordForm):
    pass


class ResetPasswordForm(Unprompted, allauth.ResetPasswordForm):
    pass


class NewPasswordForm(Unprompted, allauth.ResetPasswordKeyForm):
    pass


class MailAddressForm(Unprompted, allauth.AddEmailForm):
    pass


class PasswordAgainForm(Unprompted, allauth.ReauthenticateForm):
    pass


class CodeForm(Unprompted, second_factor.AuthenticateForm):
    pass


class CodeAgainForm(Unprompted, second_factor.ReauthenticateForm):
    pass


class FirstCodeForm(Unprompted, totp.ActivateTOTPForm):
    pass
