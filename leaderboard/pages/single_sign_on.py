"""Single sign-on by OpenID Connect: what a provider says is checked, and whom it signs in."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import jwt
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse

from leaderboard.models import User

log = logging.getLogger(__name__)

# The provider under which people of a trusted proxy are stored.
PROXY = "proxy"
# Signatures that only the provider can make; with HS256 everyone who knows the secret could.
SIGNATURES = {
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
}


@dataclass(frozen=True)
class Connection:
    """A provider with which a user can sign in, once their account is connected with it."""

    provider: str
    name: str
    join: str
    is_joined: bool


def list_connections(user: User) -> list[Connection]:
    """Return the providers of this site, and whether the account of a user is connected."""
    joined = set(SocialAccount.objects.filter(user=user).values_list("provider", flat=True))
    known = [(settings.OIDC_PROVIDER, settings.OIDC_NAME, "join_provider")]
    known = known if settings.OIDC_ISSUER else []
    if settings.PROXY_USER_HEADER:
        known.append((PROXY, settings.PROXY_NAME, "join_proxy"))
    return [
        Connection(provider, name, reverse(join), provider in joined)
        for provider, name, join in known
    ]


class ProviderError(OAuth2Error):
    """Why the provider's answer signs nobody in; the message quotes nothing secret."""


class CheckedProvider(OpenIDConnectOAuth2Adapter):
    """The provider of OIDC_ISSUER, whose ID token is checked on every sign-in."""

    def get_provider(self) -> OpenIDConnectProvider:
        provider = super().get_provider()
        provider.oauth2_adapter_class = CheckedProvider
        return provider

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return request.build_absolute_uri(reverse("single_sign_on_answer"))

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        """Return the sign-in that a signed ID token states.

        Raises OAuth2Error if there is none, or if another party signed it or is its subject.
        """
        try:
            claims = self.read_claims(app, kwargs["response"].get("id_token") or "")
            said = dict(claims)
            if self.openid_config.get("userinfo_endpoint"):
                said = merge_answers(claims, self._fetch_user_info(token.token))
        except (KeyError, TypeError, ValueError) as error:
            raise ProviderError(f"The provider's answer is malformed: {error!r}.") from None
        if said["sub"] != claims["sub"]:
            raise ProviderError("The provider's two answers are about two people.")
        # Some providers send "false", which Python takes for true.
        said["email_verified"] = said.get("email_verified") in (True, "true")
        known = ("sub", "email", "email_verified", "preferred_username", "name")
        answer = {name: said[name] for name in known if name in said}
        if isinstance(answer.get("preferred_username"), str):
            # Boards show the name, and some providers send an address.
            answer["preferred_username"] = answer["preferred_username"].partition("@")[0]
        return self.get_provider().sociallogin_from_response(request, answer)

    def read_claims(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        """Check signature, issuer, audience and time of an ID token, and return its claims."""
        issuer = self.openid_config["issuer"]
        if issuer.rstrip("/") != settings.OIDC_ISSUER.rstrip("/"):
            raise ProviderError(f"The provider calls itself {issuer}.")
        try:
            algorithm = jwt.get_unverified_header(id_token).get("alg")
        except jwt.PyJWTError:
            raise ProviderError("The provider sent no ID token.") from None
        if algorithm not in SIGNATURES:
            raise ProviderError(f"The provider signs by {algorithm}.")
        claims = jwtkit.verify_and_decode(
            credential=id_token,
            keys_url=self.openid_config["jwks_uri"],
            issuer=issuer,
            audience=app.client_id,
            lookup_kid=jwtkit.lookup_kid_jwk,
        )
        if not claims.get("sub"):
            raise ProviderError("The ID token has no subject.")
        return claims


def merge_answers(claims: dict[str, Any], user_info: dict[str, Any]) -> dict[str, Any]:
    """Return what both answers say; an address counts as confirmed only where it is named.

    >>> confirmed = {"sub": "7", "email": "ada@example.org", "email_verified": True}
    >>> merge_answers(confirmed, {"sub": "7", "email": "ben@example.org"})
    {'sub': '7', 'email': 'ben@example.org'}
    """
    if "email" in user_info:
        claims = {name: claims[name] for name in claims if name != "email_verified"}
    return {**claims, **user_info}


class ProviderAccountAdapter(DefaultSocialAccountAdapter):
    """Which account a person from the provider gets: their own, or a new one."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return settings.PROXY_SIGNUP if is_of_proxy(sociallogin) else settings.OIDC_SIGNUP

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """Return the account with the same email address, if both sides have confirmed it.

        Only with OIDC_JOINS_BY_EMAIL, or PROXY_JOINS_BY_EMAIL for the proxy. Staff join on their
        account page, with their password.
        """
        of_proxy = is_of_proxy(sociallogin)
        if not (settings.PROXY_JOINS_BY_EMAIL if of_proxy else settings.OIDC_JOINS_BY_EMAIL):
            return None
        for address in find_confirmed_addresses(sociallogin):
            if address.user.is_active and not address.user.is_staff:
                return address.user, address.email
        return None

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Forget addresses that prove nothing; stop where another account has the address."""
        if sociallogin.is_existing or sociallogin.state.get("process") == "connect":
            return
        if find_confirmed_addresses(sociallogin):
            name = {"single_sign_on": settings.PROXY_NAME} if is_of_proxy(sociallogin) else {}
            raise ImmediateHttpResponse(
                render(request, "account/single_sign_on_taken.html", name, status=409)
            )
        confirmed = [each for each in sociallogin.email_addresses if each.verified]
        # Whoever typed the address here without confirming it does not keep its owner out.
        free = [each for each in confirmed if not is_typed_here(each.email)]
        sociallogin.email_addresses = free
        sociallogin.user.email = free[0].email if free else ""

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: OpenIDConnectProvider,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Say that nobody was signed in; the log says why, without what the provider sent."""
        if error != "cancelled":
            log.warning("single sign-on failed: %s", describe_failure(error, exception))
        page = render(
            request,
            "account/single_sign_on_failed.html",
            {"is_cancelled": error == "cancelled"},
            status=200 if error == "cancelled" else 401,
        )
        raise ImmediateHttpResponse(page)

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: SocialAccount) -> str:
        return reverse("account")


def is_of_proxy(sociallogin: SocialLogin) -> bool:
    """Whether a trusted proxy names the person, instead of the provider of OIDC_ISSUER."""
    return sociallogin.account.provider == PROXY


def describe_failure(error: str | None, exception: Exception | None) -> str:
    """Return why a sign-in failed; answers of the provider may contain tokens."""
    if isinstance(exception, ProviderError):
        return str(exception)
    return type(exception).__name__ if exception else error or "unknown"


def find_confirmed_addresses(sociallogin: SocialLogin) -> list[EmailAddress]:
    """Return the confirmed addresses of this site that the provider has confirmed too."""
    confirmed = [each.email for each in sociallogin.email_addresses if each.verified]
    rows = EmailAddress.objects.filter(verified=True).select_related("user")
    return [row for email in confirmed for row in rows.filter(email__iexact=email)]


def is_typed_here(email: str) -> bool:
    """Whether some account has the address, confirmed or not."""
    typed = EmailAddress.objects.filter(email__iexact=email).exists()
    return typed or User.objects.filter(email__iexact=email).exists()
