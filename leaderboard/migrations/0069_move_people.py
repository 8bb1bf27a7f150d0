"""Each track is in one benchmark, which has its organisers, rules and teams."""

import secrets

from django.db import migrations

from leaderboard.models.people import ALIAS_LETTERS, team_key

RULES = ("joining", "invitation", "terms", "main_branch", "commit_url")


def move_people(apps, schema_editor):
    models = apps.app_configs["leaderboard"].models
    for track in models["track"].objects.order_by("pk"):
        place_track(models, track)
    for benchmark in models["benchmark"].objects.order_by("pk"):
        join_organisers(models, benchmark)
        join_teams(models, benchmark)
        join_requests(models, benchmark)
    for event in models["auditevent"].objects.filter(target_kind="benchmark"):
        known = models["benchmark"].objects.filter(pk=event.target_id).first()
        models["auditevent"].objects.filter(pk=event.pk).update(benchmark=known)


def place_track(models, track):
    """Put a track into its benchmark; one that stands alone gets a benchmark of its name."""
    place = models["benchmarktrack"].objects.filter(track=track).first()
    if place is None:
        benchmark = models["benchmark"].objects.create(
            slug=unused_slug(models["benchmark"], track.slug),
            name=track.name,
            owner=track.owner,
            created_at=track.created_at,
            **{name: getattr(track, name) for name in RULES},
        )
        benchmark.co_organisers.set(track.co_organisers.all())
        values = {"benchmark": benchmark}
    else:
        values = {name: getattr(place, name) for name in ("benchmark", "position", "phase", "group")}
    models["track"].objects.filter(pk=track.pk).update(**values)


def unused_slug(benchmarks, slug):
    taken = set(benchmarks.objects.values_list("slug", flat=True))
    numbered = (f"{slug[:50]}-{number}" for number in range(2, len(taken) + 3))
    return slug if slug not in taken else next(one for one in numbered if one not in taken)


def join_organisers(models, benchmark):
    """Let everyone who organises a track of a benchmark organise the benchmark."""
    for track in models["track"].objects.filter(benchmark=benchmark):
        people = {track.owner_id, *track.co_organisers.values_list("pk", flat=True)}
        benchmark.co_organisers.add(*people - {benchmark.owner_id})
        for name in ("main_branch", "commit_url"):
            if not getattr(benchmark, name):
                setattr(benchmark, name, getattr(track, name))
    benchmark.save()


def join_teams(models, benchmark):
    """Make one team of the rows of each team of a benchmark."""
    rows = models["team"].objects.filter(track__benchmark=benchmark).select_related("track")
    ordered = list(rows.order_by("track__position", "pk"))
    taken = set()
    for group in group_rows(models, ordered):
        kept, *others = group
        kept.benchmark = benchmark
        kept.name = free_name(kept.name, taken)
        kept.key = team_key(kept.name)
        taken.add(kept.key)
        kept.save()
        for row in group:
            take_part(models, kept, row)
        models["membership"].objects.filter(team=kept).update(benchmark=benchmark)
        for row in others:
            merge(models, kept, row)
        own = {row.benchmark_team_id for row in group} - {None}
        models["system"].objects.filter(team__in=own).update(own_team=kept)
    for system in models["system"].objects.filter(benchmark=benchmark, own_team=None):
        name = free_name(f"team {system.team_id}", taken)
        made = models["team"].objects.create(
            benchmark=benchmark,
            # A column that the next migration takes away.
            track=models["track"].objects.order_by("pk").first(),
            name=name,
            key=team_key(name),
            invitation=secrets.token_urlsafe(12),
        )
        taken.add(made.key)
        same = models["system"].objects.filter(team=system.team_id)
        same.update(own_team=made)


def group_rows(models, rows):
    """Return the rows that are one team: by their team of the benchmark, or by a member."""
    group_of, groups = {}, []
    members = models["membership"].objects.filter(team__in=rows)
    users = {}
    for team, user in members.values_list("team", "user"):
        users.setdefault(team, set()).add(user)
    for row in rows:
        traits = {("member", user) for user in users.get(row.pk, ())}
        traits |= {("organisers", 0)} if row.of_organisers else set()
        traits |= {("team", row.benchmark_team_id)} if row.benchmark_team_id else set()
        group = [row]
        for same in {id(group_of[trait]): group_of[trait] for trait in traits & group_of.keys()}:
            earlier = next(one for one in groups if id(one) == same)
            groups.remove(earlier)
            group = earlier + group
            traits |= {trait for trait, of in group_of.items() if id(of) == same}
        groups.append(group)
        group_of |= dict.fromkeys(traits, group)
    return groups


def free_name(name, taken):
    numbered = (f"{name[:74]} {number}" for number in range(2, len(taken) + 3))
    return name if team_key(name) not in taken else next(
        one for one in numbered if team_key(one) not in taken
    )


def take_part(models, kept, row):
    """Keep the pseudonym and the deadline that a team has on a track."""
    on_track = models["participation"].objects.filter(track=row.track)
    taken = set(on_track.values_list("alias", flat=True))
    alias = row.alias
    while not alias or alias in taken:
        alias = "".join(secrets.choice(ALIAS_LETTERS) for _ in range(4))
    if not on_track.filter(team=kept).exists():
        on_track.create(
            team=kept,
            track=row.track,
            alias=alias,
            closes_at=row.closes_at,
            extension_reason=row.extension_reason,
        )
    models["grant"].objects.filter(team=row).update(track=row.track)


def merge(models, kept, row):
    """Give a team what a further row of it has, and delete the row."""
    known = {member.user_id: member for member in models["membership"].objects.filter(team=kept)}
    for member in models["membership"].objects.filter(team=row):
        same = known.get(member.user_id)
        if same is None:
            moved = models["membership"].objects.filter(pk=member.pk)
            moved.update(team=kept, benchmark=kept.benchmark)
            continue
        same.role = "leader" if "leader" in (same.role, member.role) else same.role
        same.joined_at = min(same.joined_at, member.joined_at)
        same.accepted_terms_at = same.accepted_terms_at or member.accepted_terms_at
        same.save()
    for name in ("run", "grant"):
        models[name].objects.filter(team=row).update(team=kept)
    told = models["auditevent"].objects.filter(target_kind="team", target_id=str(row.pk))
    told.update(target_id=str(kept.pk))
    row.delete()


def join_requests(models, benchmark):
    """Keep one request of each person: the one that waits, or else the latest."""
    asked = models["joinrequest"].objects.filter(track__benchmark=benchmark)
    kept = {}
    for request in sorted(asked, key=lambda one: (one.state == "waiting", one.asked_at)):
        kept[request.user_id] = request.pk
    asked.exclude(pk__in=kept.values()).delete()
    models["joinrequest"].objects.filter(pk__in=kept.values()).update(benchmark=benchmark)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0068_people_of_benchmarks")]

    operations = [migrations.RunPython(move_people)]
