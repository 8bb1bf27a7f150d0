"""The site's table of contents."""

from django.urls import include, path

urlpatterns = [
    path("account/", include("allauth.account.urls")),
]
