"""Names and texts as an attacker chooses them; each says which one it is when it gets through."""

from __future__ import annotations

import json

SCRIPTS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'\"><svg/onload=alert(3)>",
    "</title><script>alert(4)</script>",
    "javascript:alert(5)",
    "{{ 7|add:7 }}{% debug %}",
    "</textarea></script><script>alert(6)</script>",
    "<a href=javascript:alert(7)>x</a>",
]
EVIL = SCRIPTS[1]
DOCUMENT = "\n".join([*SCRIPTS, "sourdough bread", "]]><![CDATA[<iframe srcdoc=x>"])

DOCUMENTS = "".join(
    json.dumps({"_id": f"d{n}", "title": SCRIPTS[n % len(SCRIPTS)], "text": DOCUMENT}) + "\n"
    for n in range(1, 13)
)


def in_markup(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


TOPICS = "".join(
    f"<top>\n<num> Number: {n}\n<title> {in_markup(SCRIPTS[n])} bread\n"
    f"<desc> Description:\n{in_markup(SCRIPTS[n + 1])}\n"
    f"<narr> Narrative:\n{in_markup(SCRIPTS[n + 2])}\n</top>\n"
    for n in (1, 2, 3)
)
# A tag may hold no blank.
TAG = "<img/src=x/onerror=alert(8)>"
