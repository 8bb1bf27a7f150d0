"""What the site takes is written down, as it is set."""

from pytest_django.asserts import assertContains


def test_the_page_of_limits_says_what_is_set(client, db, settings):
    settings.RUN_UPLOAD_LIMIT = 7 * 1024**2
    settings.RUN_LINE_LIMIT = 333
    page = client.get("/limits/")
    assertContains(page, "7 MiB")
    assertContains(page, "333 bytes")
