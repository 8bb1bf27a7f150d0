"""Answer runs: for each topic a generated text with citations, judged by nuggets and by support.

`read_answers` reads a run in any dialect, `rank_references` and `rank_cited` give the rankings
within, `read_nuggets` and `read_assignments` read what the answers are judged by, and
`score_answers` scores them.
"""
