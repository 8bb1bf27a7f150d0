"""What programs of the operator ask."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from leaderboard.gauging import CONTENT_TYPE, exposition


@never_cache
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """For whoever has METRICS_TOKEN; without one there is nothing here.

    The address of the sender would prove nothing: behind a proxy every sender has the proxy's.
    """
    said = request.headers.get("Authorization", "").encode("utf-8", "replace")
    wanted = f"Bearer {settings.METRICS_TOKEN}".encode()
    if not settings.METRICS_TOKEN or not hmac.compare_digest(said, wanted):
        raise Http404("no such page")
    return HttpResponse(exposition(), content_type=CONTENT_TYPE)
