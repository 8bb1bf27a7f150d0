"""Who might do what to whom: the threats, and where else than here a test stands against each.

Tests in this folder carry the number of their threat; `test_every_threat` counts them.
"""

from __future__ import annotations

THREATS = {
    1: "probing the judgments by scores",
    2: "opening what belongs to others",
    3: "filters and orders that tell hidden columns",
    4: "messages, sizes, headers and times that tell",
    5: "secrets in logs, in the broker, in mails, in other tables",
    6: "more runs than the quota, by sending at once",
    7: "a run after the deadline",
    8: "scores and states that somebody else writes",
    9: "files that cheat a measure",
    10: "many accounts of one person",
    11: "guessing passwords and names",
    12: "somebody else's page acts for a reader",
    13: "the account of an organiser or of the staff",
    14: "a token that is stolen",
    15: "a script in a name, a topic or a document",
    16: "a small file that unpacks without end",
    17: "a file name that leads elsewhere",
    18: "XML and JSON that reach out or go deep",
    19: "lines that keep the reader busy",
    20: "a full disk, a slow sender",
    21: "webhooks into the network inside",
    22: "formulas and commands in exports",
    23: "somebody on the broker's network",
    24: "organisers who change what was decided",
    25: "a site that is set up carelessly, packages that are not what they were",
}
ELSEWHERE = {
    1: ["boards/test_noninterference.py::test_no_answer_depends_on_the_judgments"],
    2: [
        "pages/test_matrix.py::test_a_page_of_a_blind_track",
        "pages/test_matrix.py::test_every_address_has_a_row",
        "api/test_matrix.py::test_a_call_answers_each_role_as_it_should",
        "api/test_matrix.py::test_every_call_has_a_row",
    ],
    3: ["boards/test_noninterference.py::test_no_answer_depends_on_the_judgments"],
    4: ["boards/test_noninterference.py::test_a_leaderboard_tells_no_more_than_its_means"],
    6: ["services/test_races.py::test_of_twenty_runs_at_once_the_quota_is_taken_and_no_more"],
    7: ["services/test_races.py::test_around_the_deadline_the_last_byte_decides"],
    9: ["evaluation/reading/test_bad_inputs.py::test_a_case_is_decided_as_the_manifest_says"],
    12: [
        "pages/test_matrix.py::test_a_page_of_a_blind_track",
        "pages/test_matrix.py::test_an_act",
    ],
    13: [
        "pages/test_proxy_sign_in.py::test_a_header_from_anywhere_else_is_ignored_and_logged",
        "pages/test_proxy_sign_in.py::test_an_account_with_the_address_is_not_taken_over",
    ],
    14: [
        "api/test_tokens.py::test_a_token_that_has_ended_is_unauthorised",
        "api/test_matrix.py::test_a_token_does_what_its_scopes_say",
    ],
    16: [
        "evaluation/reading/test_containers.py::test_limits_are_enforced_while_reading",
        "services/test_bad_inputs.py::test_every_hostile_run_is_answered_as_its_manifest_says",
    ],
    17: ["evaluation/reading/test_containers.py::test_an_unsafe_member_name_is_refused"],
    21: ["notifications/test_notices.py::test_an_address_that_moved_inside_since_is_not_called"],
    22: ["test_exports.py::test_latex_prints_names_and_runs_none_of_them"],
}
