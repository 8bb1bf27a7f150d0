"""Settings of Rankfield, all from the environment; with none set, everything runs from one folder.

`RANKFIELD_HOME` holds the database, the files, the cache and the secret key.  `DATABASE_URL` and
`REDIS_URL` name real servers; without them SQLite and a worker with its own broker serve.
"""

from __future__ import annotations

from pathlib import Path

from leaderboard.environment import (
    choice,
    database,
    default_home,
    name_provider,
    networks,
    number,
    pairs,
    private_folder,
    require_package,
    secret,
    switch,
    text,
    words,
)
from rankfield.version import VERSION as RANKFIELD_VERSION

MIB = 1024 * 1024

VERSION = RANKFIELD_VERSION
BASE_DIR = Path(__file__).resolve().parent.parent
# An installed package has no folders beside it: its templates and static files are inside, where
# Django finds those of an app.
IS_CHECKOUT = (BASE_DIR / "manage.py").exists()
RANKFIELD_HOME = private_folder(
    Path(text("RANKFIELD_HOME", str(default_home(BASE_DIR, IS_CHECKOUT)))).resolve()
)

SECRET_KEY = secret("SECRET_KEY", RANKFIELD_HOME / "secret_key")
DEBUG = switch("DEBUG")
ALLOWED_HOSTS = words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = words("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "leaderboard",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    # Always there, so that an account is deleted whole where single sign-on was switched off.
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
]

MIDDLEWARE = [
    "leaderboard.pages.middleware.add_request_id",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "leaderboard.pages.middleware.answer_head",
    "leaderboard.pages.middleware.answer_scripts",
    "leaderboard.pages.middleware.delete_unfinished_uploads",
    "leaderboard.pages.middleware.compress_text",
    "leaderboard.pages.middleware.set_content_security_policy",
    "leaderboard.pages.middleware.mark_private",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "leaderboard.pages.middleware.refuse_writes",
    "leaderboard.pages.middleware.LimitBodySize",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "leaderboard.pages.middleware.record_start_time",
    "leaderboard.pages.middleware.return_to_form",
    "leaderboard.pages.proxy_sign_in.lead_to_sign_in",
    "leaderboard.pages.middleware.require_second_factor",
    "leaderboard.pages.middleware.read_notice",
    "leaderboard.pages.addresses.FollowMovedTracks",
]

ROOT_URLCONF = "leaderboard.urls"
WSGI_APPLICATION = "leaderboard.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"] if IS_CHECKOUT else [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "leaderboard.pages.context.site",
            ],
            "builtins": [
                "leaderboard.display.markdown",
                "leaderboard.display.numbers",
                "leaderboard.display.phases",
                "leaderboard.pages.template_tags",
            ],
        },
    },
]

# Database and broker
DATABASE_URL = text("DATABASE_URL")
REDIS_URL = text("REDIS_URL")
DATABASES = {"default": database(DATABASE_URL, RANKFIELD_HOME)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": (
        {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            # A page waits no longer than this for a Redis that hangs.
            "OPTIONS": {
                "serializer": "leaderboard.infrastructure.cached_values.JsonOrBytes",
                "socket_timeout": 1,
                "socket_connect_timeout": 1,
            },
            # Older versions wrote pickle under the keys without this prefix.
            "KEY_PREFIX": "json",
        }
        if REDIS_URL
        else {
            "BACKEND": "leaderboard.infrastructure.cached_values.JsonFiles",
            "LOCATION": RANKFIELD_HOME / "cache" / "pages",
        }
    )
}

# Files: never served by URL. Every download goes through a view that checks disclosure.
MEDIA_ROOT = RANKFIELD_HOME / "files"
STATIC_URL = "/static/"
STATIC_ROOT = RANKFIELD_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"] if IS_CHECKOUT else []
S3_BUCKET = text("S3_BUCKET")
# Copies of what this host has read from the bucket.
S3_CACHE_BYTES = number("S3_CACHE_BYTES", 20 * 1024 * MIB)
BUCKET_OPTIONS = {
    "endpoint_url": text("S3_ENDPOINT") or None,
    "region_name": text("S3_REGION") or None,
    "access_key": text("S3_ACCESS_KEY") or None,
    "secret_key": text("S3_SECRET_KEY") or None,
    # The URL of a file gives no access; only a page that checks disclosure does.
    "default_acl": None,
    # Names are random, so we need not check whether one exists.
    "file_overwrite": True,
}
BUCKETS = "leaderboard.infrastructure.buckets.BucketStorage"
STORAGES = {
    "default": (
        {"BACKEND": BUCKETS, "OPTIONS": {**BUCKET_OPTIONS, "bucket_name": S3_BUCKET}}
        if S3_BUCKET
        else {"BACKEND": "leaderboard.infrastructure.storage.DiskStorage"}
    ),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# Where `manage.py move` moves the site.
NEW_DATABASE_URL = text("NEW_DATABASE_URL")
NEW_S3_BUCKET = text("NEW_S3_BUCKET")
if S3_BUCKET or NEW_S3_BUCKET:
    require_package("storages", "S3_BUCKET" if S3_BUCKET else "NEW_S3_BUCKET", "s3")
FILE_UPLOAD_HANDLERS = [
    "leaderboard.infrastructure.free_space.FreeSpaceGuard",
    "leaderboard.infrastructure.hashed_uploads.HashingHandler",
]
# By default Django lets every account on this machine read the files it stores.
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700
FILE_UPLOAD_TEMP_DIR = RANKFIELD_HOME / "uploads"
FILE_UPLOAD_TEMP_DIR.mkdir(parents=True, exist_ok=True)

# Accounts: a name and a password. Email is used only if a server is configured.
AUTH_USER_MODEL = "leaderboard.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
# An address is confirmed before notices go there; an account works without one.
ACCOUNT_EMAIL_VERIFICATION = "optional" if text("EMAIL_HOST") else "none"
ACCOUNT_EMAIL_CONFIRMATION_AUTHENTICATED_REDIRECT_URL = "/account/"
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Rankfield] "
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
ACCOUNT_FORMS = {
    "login": "leaderboard.pages.forms.accounts.SignInForm",
    "signup": "leaderboard.pages.forms.accounts.SignUpForm",
    "add_email": "leaderboard.pages.forms.accounts.EmailAddressForm",
    "change_password": "leaderboard.pages.forms.accounts.ChangePasswordForm",
    "set_password": "leaderboard.pages.forms.accounts.SetPasswordForm",
    "reauthenticate": "leaderboard.pages.forms.accounts.PasswordAgainForm",
    "reset_password": "leaderboard.pages.forms.accounts.ResetPasswordForm",
    "reset_password_from_key": "leaderboard.pages.forms.accounts.NewPasswordForm",
}
ACCOUNT_USERNAME_BLACKLIST = ["admin", "organisers", "rankfield", "staff"]
# Who must have a second factor. Everyone may set one.
SECOND_FACTOR = choice("SECOND_FACTOR", ("offered", "staff", "organisers"))
MFA_ADAPTER = "leaderboard.pages.accounts.SecondFactorAdapter"
MFA_TOTP_ISSUER = "Rankfield"
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_FORMS = {
    "authenticate": "leaderboard.pages.forms.accounts.CodeForm",
    "reauthenticate": "leaderboard.pages.forms.accounts.CodeAgainForm",
    "activate_totp": "leaderboard.pages.forms.accounts.FirstCodeForm",
}
# Single sign-on by OpenID Connect, if a provider is configured.
OIDC_ISSUER = text("OIDC_ISSUER")
OIDC_NAME = text("OIDC_NAME", "single sign-on")
OIDC_SIGNUP = switch("OIDC_SIGNUP", default=True)
# Whether the provider's confirmed address leads to the account with the same confirmed address.
OIDC_JOINS_BY_EMAIL = switch("OIDC_JOINS_BY_EMAIL")
# A subject means another person at another issuer, so accounts are stored under both.
OIDC_PROVIDER = name_provider(OIDC_ISSUER)
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": OIDC_PROVIDER,
                "name": OIDC_NAME,
                "client_id": text("OIDC_CLIENT_ID"),
                "secret": text("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_ISSUER.rstrip("/")},
            }
        ],
    }
}
SOCIALACCOUNT_ADAPTER = "leaderboard.pages.single_sign_on.ProviderAccountAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
# Sign-in by a proxy that asks the provider itself and names the person in a header.
PROXY_USER_HEADER = text("PROXY_USER_HEADER")
PROXY_ADDRESSES = networks("PROXY_ADDRESSES")
PROXY_EMAIL_HEADER = text("PROXY_EMAIL_HEADER")
PROXY_FULL_NAME_HEADER = text("PROXY_FULL_NAME_HEADER")
PROXY_GROUPS_HEADER = text("PROXY_GROUPS_HEADER")
# What a group gives: `organise`, or a team as BENCHMARK/TEAM.
PROXY_GROUPS = pairs("PROXY_GROUPS")
PROXY_NAME = text("PROXY_NAME", "your institution")
PROXY_SIGNUP = switch("PROXY_SIGNUP", default=True)
PROXY_JOINS_BY_EMAIL = switch("PROXY_JOINS_BY_EMAIL")
PROXY_SIGN_OUT = text("PROXY_SIGN_OUT")
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"

# Email: without a host none is sent, and everything else still works.
EMAIL_HOST = text("EMAIL_HOST")
EMAIL_TLS = choice("EMAIL_TLS", ("none", "starttls", "tls"))
EMAIL_PORT = number("EMAIL_PORT", {"none": 25, "starttls": 587, "tls": 465}[EMAIL_TLS])
EMAIL_USE_TLS, EMAIL_USE_SSL = EMAIL_TLS == "starttls", EMAIL_TLS == "tls"
EMAIL_HOST_USER = text("EMAIL_USER")
EMAIL_HOST_PASSWORD = text("EMAIL_PASSWORD")
EMAIL_TIMEOUT = 10
EMAIL_BACKEND = "leaderboard.notifications.sending.OnceBackend"
if not EMAIL_HOST:
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
DEFAULT_FROM_EMAIL = text("EMAIL_FROM", "rankfield@localhost") or "rankfield@localhost"
# The URL of the site in links of emails.
SITE_URL = (text("SITE_URL") or "".join(CSRF_TRUSTED_ORIGINS[:1])).rstrip("/")

# Headers and cookies
HTTPS = switch("HTTPS")
SECURE_SSL_REDIRECT = HTTPS
# Prometheus and health checks ask web itself, where there is no TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
BEHIND_PROXY = switch("BEHIND_PROXY")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# Sign-in attempts are counted by the last address in X-Forwarded-For, which the proxy wrote.
# Without a proxy any client can write that header, so it is not read.
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if BEHIND_PROXY else 0
SESSION_ENGINE = "leaderboard.infrastructure.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:
    # A browser accepts cookies of these names only over https and only from this host.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# Rules of this installation
EVERYONE_ORGANISES = switch("EVERYONE_ORGANISES", default=not DATABASE_URL)
SIGNUP_OPEN = switch("SIGNUP_OPEN", default=True)
ACCOUNT_ADAPTER = "leaderboard.pages.accounts.AccountAdapter"

# Limits, in bytes, seconds and counts; `/limits/` prints them.
RUN_UPLOAD_LIMIT = number("RUN_UPLOAD_LIMIT", 512 * MIB)
RUN_UNPACKED_LIMIT = number("RUN_UNPACKED_LIMIT", 4096 * MIB)
RUN_RATIO_LIMIT = number("RUN_RATIO_LIMIT", 100)
RUN_LINE_LIMIT = number("RUN_LINE_LIMIT", 4096)
RUN_LINES_LIMIT = number("RUN_LINES_LIMIT", 50_000_000)
COLLECTION_UPLOAD_LIMIT = number("COLLECTION_UPLOAD_LIMIT", 4096 * MIB)
COLLECTION_UNPACKED_LIMIT = number("COLLECTION_UNPACKED_LIMIT", 65536 * MIB)
# Of stored uploads; 0 means no limit.
TEAM_BYTES = number("TEAM_BYTES", 10 * 1024 * MIB)
BENCHMARK_BYTES = number("BENCHMARK_BYTES", 0)
SITE_BYTES = number("SITE_BYTES", 500 * 1024 * MIB)
PROBLEMS_SHOWN = 50
# Defaults for a new track; its organisers may set other numbers.
RUNS_PER_DAY = number("RUNS_PER_DAY", 20)
ATTEMPTS_PER_DAY = number("ATTEMPTS_PER_DAY", 20)
REFUSED_KEPT_DAYS = number("REFUSED_KEPT_DAYS", 30)
# Of finished jobs, webhook calls, emails and read notices.
ROWS_KEPT_DAYS = number("ROWS_KEPT_DAYS", 90)
SESSION_DAYS = number("SESSION_DAYS", 14)
SESSION_COOKIE_AGE = SESSION_DAYS * 86400
API_WRITES_PER_MINUTE = number("API_WRITES_PER_MINUTE", 60)

# Whether organisers may name a dataset of ir_datasets, which a worker then downloads.
IR_DATASETS = switch("IR_DATASETS")

# Webhooks may call only https URLs on the public internet; with this setting, any URL.
WEBHOOKS_ANYWHERE = switch("WEBHOOKS_ANYWHERE")

# Jobs
LEASE_SECONDS = number("LEASE_SECONDS", 8)
RENEW_SECONDS = 2
JOB_TIME_LIMIT = number("JOB_TIME_LIMIT", 900)
JOB_MEMORY_LIMIT = number("JOB_MEMORY_LIMIT", 1024) * MIB

# Backups on a schedule, if there is a folder for them.
BACKUP_FOLDER = text("BACKUP_FOLDER")
BACKUP_HOURS = number("BACKUP_HOURS", 24)
BACKUP_KEEP = number("BACKUP_KEEP", 7)

DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
# For forms without their files, and for JSON bodies.
DATA_UPLOAD_MAX_MEMORY_SIZE = MIB
NINJA_PAGINATION_MAX_LIMIT = 200

# The token that a request for /metrics must send. Without a token there is no such page.
METRICS_TOKEN = text("METRICS_TOKEN")

# Text for people, JSON for log collectors; the default on a server is JSON.
LOG_FORMAT = choice("LOG_FORMAT", ("json", "text") if DATABASE_URL else ("text", "json"))
SUSPICIOUS = (
    *("DisallowedHost", "RequestDataTooBig", "TooManyFieldsSent", "TooManyFilesSent"),
    *("SuspiciousOperation", "SuspiciousMultipartForm", "SuspiciousFileOperation"),
    *("DisallowedRedirect", "InvalidSessionKey", "SuspiciousSession", "SessionInterrupted"),
)
# Both off by default, and both with packages that nobody else needs.
SENTRY_DSN = text("SENTRY_DSN")
if SENTRY_DSN:
    require_package("sentry_sdk", "SENTRY_DSN", "reports")
OTEL_EXPORTER_OTLP_ENDPOINT = text("OTEL_EXPORTER_OTLP_ENDPOINT")
if OTEL_EXPORTER_OTLP_ENDPOINT:
    require_package("opentelemetry.sdk", "OTEL_EXPORTER_OTLP_ENDPOINT", "traces")

REPORTS = {
    "class": "leaderboard.infrastructure.error_reports.ErrorReports",
    "filters": ["numbered"],
    "address": SENTRY_DSN,
    "version": VERSION,
}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "numbered": {"()": "leaderboard.infrastructure.logs.NumberFilter"},
        "suspicious": {"()": "leaderboard.infrastructure.logs.DemoteToWarning"},
    },
    "formatters": {
        "text": {"()": "leaderboard.infrastructure.logs.TextFormatter"},
        "json": {"()": "leaderboard.infrastructure.logs.JsonFormatter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["numbered"],
        },
        **({"reports": REPORTS} if SENTRY_DSN else {}),
    },
    "root": {"handlers": ["stderr", *(["reports"] if SENTRY_DSN else [])], "level": "WARNING"},
    "loggers": {
        "leaderboard": {"level": text("LOG_LEVEL", "INFO")},
        # One line per request if a program reads the log.
        "leaderboard.requests": {"level": "INFO" if LOG_FORMAT == "json" else "WARNING"},
        # Anyone can send such requests, so they are not errors of the site.
        **{f"django.security.{name}": {"filters": ["suspicious"]} for name in SUSPICIOUS},
        # A wrong URL is not an error of the site.
        "django.request": {"level": "ERROR"},
        # That of Celery's pool, which hands nothing on to the root: a process was killed.
        "multiprocessing": {"handlers": ["stderr"], "level": "WARNING"},
    },
}
