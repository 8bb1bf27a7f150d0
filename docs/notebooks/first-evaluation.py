# %% [markdown]
# # A first evaluation
#
# Four runs on the sample collection of Rankfield: 169 short documents about harbours, tides and
# lighthouses, 25 topics and 615 judgments from 0 to 3. The runs are beside this notebook, in
# `harbour/`, with the first 20 documents of each topic.
#
# `pip install rankfield` installs what is used here; the tables of the last part need pandas too.

# %%
from pathlib import Path

import evaluation

qrels = Path("../../leaderboard/management/sample/qrels.txt")
runs = {tag: Path(f"harbour/{tag}.run.gz") for tag in ("bm25", "bm25-rm3", "lm-dirichlet", "rrf")}

# %% [markdown]
# ## Score a run
#
# Judgments and runs may be files, packed or not, dictionaries, DataFrames or datasets of
# ir_datasets. Measures have the names of ir_measures or trec_eval.

# %%
scores = evaluation.evaluate(qrels, runs["bm25"], ["AP", "nDCG@10", "P(rel=2)@5", "recip_rank"])
scores

# %%
scores["nDCG@10"], scores.of_topic(1)

# %% [markdown]
# ## Look at unjudged documents
#
# A document without a judgment counts as not relevant. Which share of the first 20 has none?

# %%
for tag, run in runs.items():
    print(tag, round(evaluation.evaluate(qrels, run, "Unjudged@20")["Unjudged@20"], 3))

# %% [markdown]
# ## Compare
#
# Which runs differ from the first one? p is adjusted for all comparisons, and the intervals hold
# together.

# %%
evaluation.compare(qrels, runs, "nDCG@10")

# %% [markdown]
# Which ranks may each run have? Runs that share a letter are not told apart.

# %%
evaluation.rank_intervals(qrels, runs, "nDCG@10")

# %% [markdown]
# ## Choose what to judge next

# %%
print(evaluation.pool(runs, 15, without=qrels))

# %% [markdown]
# ## Tables of pandas

# %%
scores.topic_frame().head()

# %%
evaluation.compare(qrels, runs, ["AP", "nDCG@10"]).frame()[["mean", "difference", "p_adjusted"]]

# %% [markdown]
# ## Submit
#
# With the URL of a site and a token in `RANKFIELD_URL` and `RANKFIELD_TOKEN`, the same run is sent
# to a track, here `bread`:
#
# ```python
# from rankfield import Site
#
# site = Site()
# run = site.wait(site.submit("bread", "my.run.gz"))
# print(run.scores)
# ```
