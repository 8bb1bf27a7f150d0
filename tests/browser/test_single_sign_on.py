"""Single sign-on in a real browser, whose policy of forms a redirect would break."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.oidc_provider import CLIENT, SECRET, running_provider
from tests.services.machines import SqliteSite, folder

pytestmark = pytest.mark.night


@pytest.fixture(scope="module")
def site_with_provider() -> Iterator[SqliteSite]:
    with ExitStack() as stack:
        provider = stack.enter_context(running_provider())
        site = SqliteSite(stack.enter_context(folder()))
        site.environment |= {
            "OIDC_ISSUER": provider.url,
            "OIDC_CLIENT_ID": CLIENT,
            "OIDC_CLIENT_SECRET": SECRET,
            "OIDC_NAME": "Kitchen ID",
        }
        stack.callback(site.close)
        site.open()
        yield site


@pytest.mark.parametrize("scripts", [True, False])
def test_one_click_signs_in(browser, site_with_provider, scripts):
    page = browser.new_page(java_script_enabled=scripts)
    page.goto(f"{site_with_provider.url}/account/login/?next=/account/")
    page.get_by_role("button", name="Sign in with Kitchen ID").click()
    page.wait_for_url(f"{site_with_provider.url}/account/")
    assert page.get_by_role("heading", level=1).inner_text() == "dora"
    page.close()
