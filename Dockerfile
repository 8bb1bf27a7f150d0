# The compiled scanner, so that the site's own image has no compiler.
FROM python:3.11-slim-trixie AS scanner
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
COPY scanner/rankfield_scanner /rankfield_scanner
RUN python -c "from rankfield_scanner import LIBRARY, compile_library as c; c(LIBRARY)"

FROM python:3.11-slim-trixie

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    RANKFIELD_HOME=/data

# Of the release that docker-compose.yml runs: pg_dump refuses a newer server.
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY requirements-server.txt .
RUN pip install --require-hashes -r requirements-server.txt

COPY --from=scanner /rankfield_scanner /usr/local/lib/python3.11/site-packages/rankfield_scanner

COPY . .
RUN useradd --system --uid 1000 --home-dir /app rankfield \
    && mkdir /data \
    && chown rankfield /data
USER rankfield
VOLUME /data
EXPOSE 8000

# Alone, this is the whole site on SQLite; docker-compose.yml runs web and worker apart.
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0"]
