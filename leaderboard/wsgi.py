import os

from django.core.wsgi import get_wsgi_application

from leaderboard.turns import Turns

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
# One for each turn, and some for answers that are streamed.
os.environ.setdefault("DATABASE_POOL", "8")
# Python works on one thing at a time, so more turns would only make each of them longer.
application = Turns(get_wsgi_application(), 4)
