"""Pages of the whole site for administrators: Django's own lists, which change nothing themselves.

Every act is a function of `actions/`, so no rule is broken here and each is in the activity log.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.templatetags.admin_list import result_headers, results
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.views import redirect_to_login
from django.db.models import Count, Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from leaderboard.actions import accounts, administration, people
from leaderboard.actions.refusals import ActionError, NotAccepted
from leaderboard.analysis.activity_export import render_events
from leaderboard.analysis.health_checks import run_checks
from leaderboard.analysis.storage_use import KINDS, measure_storage
from leaderboard.display.numbers import MISSING, counted, distance, moment
from leaderboard.models import ApiToken, AuditEvent, Job, User
from leaderboard.models.jobs import JobQuerySet
from leaderboard.pages.forms.administration import ReasonForm, StorageLimitForm, TestEmailForm
from leaderboard.pages.wording.trail import TrailEntry, describe_events

# It asks the storage for every file, which takes long on a large site.
LONG_CHECKS = ("files",)
Act = Callable[[Any], None]


class SiteAdministration(admin.AdminSite):
    """The lists and pages of administrators; for anybody else they do not exist."""

    def has_permission(self, request: HttpRequest) -> bool:
        user = request.user
        return user.is_active and user.is_staff and not people.lacks_second_factor(user)

    def admin_view(self, view: Callable[..., HttpResponse], cacheable: bool = False) -> Any:
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if not self.has_permission(request):
                raise Http404
            return view(request, *args, **kwargs)

        return update_wrapper(never_cache(answer), view)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        failed = Job.objects.filter(state=Job.State.FAILED).count()
        return {"num_users": User.objects.count(), "num_failed": failed or ""}

    def get_urls(self) -> list[URLPattern]:
        pages = {
            "storage": self.storage,
            "email": self.email,
            "health": self.health,
        }
        lists = {model._meta.model_name: page for model, page in self._registry.items()}
        return [
            path("", self.admin_view(self.index), name="index"),
            *(path(f"{name}/", self.admin_view(page), name=name) for name, page in pages.items()),
            path("activity.jsonl", self.admin_view(self.activity_file), name="activity_file"),
            *(
                path(
                    f"{page.plural}/",
                    self.admin_view(page.changelist_view),
                    name=f"leaderboard_{name}_changelist",
                )
                for name, page in lists.items()
            ),
        ]

    def index(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        return redirect("admin:leaderboard_user_changelist")

    def storage(self, request: HttpRequest) -> HttpResponse:
        """Show what uses the disk, and limit the files of a benchmark."""
        form = StorageLimitForm(request.POST or None)
        if form.is_valid():
            benchmark = form.cleaned_data["benchmark"]
            administration.limit_storage(benchmark, request.user, form.max_bytes)
            messages.success(request, f"Limit of {benchmark} changed.")
            return redirect("admin:storage")
        context = {"current": "storage", "form": form, "use": measure_storage(), "kinds": KINDS}
        context |= self.each_context(request)
        status = 422 if form.is_bound else 200
        return render(request, "administration/storage.html", context, status=status)

    def activity_file(self, request: HttpRequest) -> StreamingHttpResponse:
        """Send the activity log of the whole site."""
        lines = render_events(AuditEvent.objects.all())
        headers = {"Content-Disposition": 'attachment; filename="activity.jsonl"'}
        return StreamingHttpResponse(lines, content_type="application/jsonl", headers=headers)

    def email(self, request: HttpRequest) -> HttpResponse:
        """Send a test email, and show what the server answered."""
        form = TestEmailForm(request.POST or None, initial={"address": request.user.email})
        context = {
            "current": "email",
            "form": form,
            "host": settings.EMAIL_HOST,
            "port": settings.EMAIL_PORT,
            "sender": settings.DEFAULT_FROM_EMAIL,
            **self.each_context(request),
        }
        if settings.EMAIL_HOST and form.is_valid():
            try:
                context["seconds"] = administration.send_test_email(
                    form.cleaned_data["address"], request.user
                )
            except administration.EmailTestError as refusal:
                context["refusal"] = str(refusal)
        return render(request, "administration/email.html", context)

    def health(self, request: HttpRequest) -> HttpResponse:
        """Show what `manage.py doctor` finds, but for the check of every file."""
        findings = list(run_checks(without=LONG_CHECKS))
        worst = [found for _, found in findings if found.level != "good"]
        context = {"current": "health", "findings": findings, "worst": worst}
        return render(
            request, "administration/health.html", {**context, **self.each_context(request)}
        )


class SiteList(admin.ModelAdmin):
    """A list of rows that can be found and sorted, with acts on the chosen ones."""

    noun = ""
    plural = ""
    heading = ""
    change_list_template = "administration/list.html"
    list_display_links = None
    list_per_page = 50
    show_full_result_count = False
    empty_value_display = MISSING
    search_hint = ""
    # The address of a file with all of it, by its name.
    file = ""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        own = {
            "current": self.plural,
            "heading": self.heading,
            "search_hint": self.search_hint,
            "acts": self.get_action_choices(request, default_choices=[]),
            "file": self.file and reverse(self.file),
        }
        response: HttpResponse = super().changelist_view(request, own)
        changes = getattr(response, "context_data", {}).get("cl")
        if changes is not None:
            response.context_data |= describe_list(changes)  # type: ignore[attr-defined]
        return response

    def do_each(self, request: HttpRequest, rows: QuerySet, act: Act, done: str) -> None:
        """Do an act to every chosen row; what one refuses is said beside its name."""
        num_done = 0
        for row in rows:
            try:
                act(row)
                num_done += 1
            except (ActionError, NotAccepted) as refusal:
                messages.error(request, f"{row}: {refusal}")
        if num_done:
            messages.success(request, f"{counted(num_done, self.noun)} {done}.")

    def do_with_reason(
        self, request: HttpRequest, rows: QuerySet, act: Callable[[Any, str], None], name: str
    ) -> HttpResponse | None:
        """Ask once, with a reason, then do the act to every chosen row."""
        form = ReasonForm(request.POST if "reason" in request.POST else None)
        if form.is_valid():
            reason = form.cleaned_data["reason"]
            self.do_each(request, rows, lambda row: act(row, reason), "changed")
            return None
        description = self.get_action(name)[2]
        context = {"current": self.plural, "rows": rows, "act": name, "description": description}
        context |= {"form": form, **self.admin_site.each_context(request)}
        status = 422 if form.is_bound else 200
        return render(request, "administration/reason.html", context, status=status)


def describe_list(changes: ChangeList) -> dict[str, Any]:
    """Return what the template of a list prints of it."""
    columns = (each for each in result_headers(changes) if each.get("url_primary") or each["text"])
    here = changes.page_num
    ways = {"previous": here - 1, "next": here + 1}
    known = changes.paginator.page_range
    return {
        # The first column is a box of each row, if something can be done to it.
        "columns": [each for each in columns if "action-checkbox" not in each["class_attrib"]],
        "rows": list(results(changes)),
        "filters": [(each.title, list(each.choices(changes))) for each in changes.filter_specs],
        **{
            name: changes.get_query_string({"p": number})
            for name, number in ways.items()
            if number in known
        },
    }


class RoleFilter(admin.SimpleListFilter):
    title = "role"
    parameter_name = "role"
    ROLES = {
        "staff": ("administrators", Q(is_staff=True)),
        "organisers": ("may organise", Q(can_organise=True)),
        "disabled": ("disabled", Q(is_active=False)),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(key, words) for key, (words, _) in self.ROLES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return (
            queryset.filter(self.ROLES[self.value()][1]) if self.value() in self.ROLES else queryset
        )


class UserList(SiteList):
    noun, plural, heading = "user", "users", "Users"
    search_hint = "Name, email, team or affiliation"
    list_display = ("username", "name", "address", "role", "teams", "tokens", "since", "last_seen")
    list_filter = (RoleFilter,)
    search_fields = (
        *("username", "first_name", "last_name", "email", "affiliation"),
        "memberships__team__name",
    )
    ordering = ("username",)
    actions = (
        "link_to_password",
        "forget_second_factor",
        "let_organise",
        "stop_organising",
        "disable",
        "enable",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        usable = Q(tokens__in=ApiToken.objects.usable())
        found = (
            super()
            .get_queryset(request)
            .annotate(num_tokens=Count("tokens", usable, distinct=True))
        )
        return found.prefetch_related("emailaddress_set", "memberships__team")

    @admin.display(ordering="last_name")
    def name(self, user: User) -> str:
        return user.get_full_name() or MISSING

    @admin.display(description="Email", ordering="email")
    def address(self, user: User) -> str:
        known = {each.email: each.verified for each in user.emailaddress_set.all()}
        if not user.email:
            return MISSING
        return f"{user.email} ({'confirmed' if known.get(user.email) else 'not confirmed'})"

    @admin.display
    def role(self, user: User) -> str:
        if not user.is_active:
            return "disabled"
        return (
            "administrator" if user.is_staff else "organises" if user.can_organise else "takes part"
        )

    @admin.display
    def teams(self, user: User) -> str:
        names = sorted({each.team.name for each in user.memberships.all()})
        return ", ".join(names) or MISSING

    @admin.display(ordering="num_tokens")
    def tokens(self, user: User) -> int:
        return user.num_tokens  # type: ignore[attr-defined]

    @admin.display(ordering="date_joined")
    def since(self, user: User) -> str:
        return moment(user.date_joined)

    @admin.display(description="Last sign-in", ordering="last_login")
    def last_seen(self, user: User) -> str:
        return distance(user.last_login)

    @admin.action(description="Create a password link")
    def link_to_password(self, request: HttpRequest, users: QuerySet[User]) -> HttpResponse:
        """Show links with which the chosen users set a new password; once, as a token is."""
        links, refusals = [], []
        for user in users:
            try:
                address = accounts.create_password_link(user, request.user)
                links.append((user, request.build_absolute_uri(address)))
            except ActionError as refusal:
                refusals.append(str(refusal))
        days = settings.PASSWORD_RESET_TIMEOUT // 86_400
        context = {"current": self.plural, "links": links, "refusals": refusals, "days": days}
        context |= self.admin_site.each_context(request)
        return render(request, "administration/password_links.html", context)

    @admin.action(description="Remove second factor")
    def forget_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        def act(user: User) -> None:
            accounts.forget_second_factor(user, request.user)

        self.do_each(request, users, act, "without a second factor")

    @admin.action(description="Let organise")
    def let_organise(self, request: HttpRequest, users: QuerySet[User]) -> None:
        def act(user: User) -> None:
            administration.let_organise(user, request.user)

        self.do_each(request, users, act, "can organise")

    @admin.action(description="Stop organising")
    def stop_organising(self, request: HttpRequest, users: QuerySet[User]) -> HttpResponse | None:
        def act(user: User, reason: str) -> None:
            administration.stop_organising(user, request.user, reason)

        return self.do_with_reason(request, users, act, "stop_organising")

    @admin.action(description="Disable")
    def disable(self, request: HttpRequest, users: QuerySet[User]) -> HttpResponse | None:
        def act(user: User, reason: str) -> None:
            administration.disable_user(user, request.user, reason)

        return self.do_with_reason(request, users, act, "disable")

    @admin.action(description="Enable")
    def enable(self, request: HttpRequest, users: QuerySet[User]) -> None:
        def act(user: User) -> None:
            administration.enable_user(user, request.user)

        self.do_each(request, users, act, "enabled")


class UsableFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("usable", "usable"), ("ended", "expired or revoked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        if self.value() not in ("usable", "ended"):
            return queryset
        usable = Q(pk__in=ApiToken.objects.usable())
        return queryset.filter(usable if self.value() == "usable" else ~usable)


class TokenList(SiteList):
    noun, plural, heading = "token", "tokens", "Tokens"
    search_hint = "Beginning, name or user"
    list_display = ("begins_with", "name", "user", "scope", "created", "used", "state")
    list_filter = (UsableFilter,)
    list_select_related = ("user",)
    search_fields = ("prefix", "name", "user__username")
    ordering = ("-created_at",)
    actions = ("revoke",)

    @admin.display
    def begins_with(self, token: ApiToken) -> str:
        return f"{token.prefix}…"

    @admin.display(description="Scopes")
    def scope(self, token: ApiToken) -> str:
        return ", ".join(token.scopes)

    @admin.display(ordering="created_at")
    def created(self, token: ApiToken) -> str:
        return moment(token.created_at)

    @admin.display(description="Last used", ordering="last_used_at")
    def used(self, token: ApiToken) -> str:
        return distance(token.last_used_at)

    @admin.display
    def state(self, token: ApiToken) -> str:
        if token.revoked_at:
            return "revoked"
        is_over = token.expires_at is not None and token.expires_at <= timezone.now()
        return "expired" if is_over else "usable"

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        def act(token: ApiToken) -> None:
            administration.revoke_token_of_user(token, request.user)

        self.do_each(request, tokens.select_related("user"), act, "revoked")


class JobList(SiteList):
    noun, plural, heading = "job", "jobs", "Jobs"
    search_hint = "Number, kind or reason"
    list_display = (
        "number",
        "kind",
        "target_id",
        "state",
        "progressed",
        "tries",
        "asked",
        "reason",
    )
    list_filter = ("state", "kind")
    search_fields = ("=id", "kind", "reason")
    ordering = ("-pk",)
    actions = ("try_again",)

    @admin.display(ordering="pk")
    def number(self, job: Job) -> int:
        return job.pk

    @admin.display(description="Progress")
    def progressed(self, job: Job) -> str:
        return f"{job.progress} of {job.progress_of}" if job.progress_of else MISSING

    @admin.display(ordering="attempts")
    def tries(self, job: Job) -> int:
        return job.attempts

    @admin.display(ordering="created_at")
    def asked(self, job: Job) -> str:
        return moment(job.created_at)

    @admin.action(description="Try again")
    def try_again(self, request: HttpRequest, jobs: JobQuerySet) -> None:
        def act(job: Job) -> None:
            administration.retry_failed_job(job, request.user)

        self.do_each(request, jobs, act, "queued again")


class EventChanges(ChangeList):
    """The entries of a page, described with as few queries as the trail of a track."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        for entry in describe_events(self.result_list):
            entry.event.entry = entry  # type: ignore[attr-defined]


class ActivityList(SiteList):
    noun, plural, heading = "entry,entries", "activity", "Activity"
    file = "admin:activity_file"
    search_hint = "User, act or number of what was changed"
    list_display = ("when", "actor", "act_in_words", "details")
    list_filter = ("target_kind",)
    list_select_related = ("actor",)
    search_fields = ("actor__username", "act", "=target_id")
    ordering = ("-at", "-pk")
    sortable_by = ("when",)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return EventChanges

    @admin.display(ordering="at")
    def when(self, event: AuditEvent) -> str:
        return moment(event.at)

    @admin.display(description="Act")
    def act_in_words(self, event: AuditEvent) -> str:
        entry = entry_of(event)
        return f"{entry.words} {entry.name or event.target_id}"

    @admin.display
    def details(self, event: AuditEvent) -> str:
        return "; ".join(entry_of(event).details)


def entry_of(event: AuditEvent) -> TrailEntry:
    entry: TrailEntry = event.entry  # type: ignore[attr-defined]
    return entry


PAGES: dict[type[Model], type[SiteList]] = {
    User: UserList,
    ApiToken: TokenList,
    Job: JobList,
    AuditEvent: ActivityList,
}
site_administration = SiteAdministration(name="admin")
for model, page in PAGES.items():
    site_administration.register(model, page)
