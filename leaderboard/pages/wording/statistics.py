"""Explanations of the statistics: definition, function and source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistic:
    """A statistic of the scores; `function` is the code that computes it."""

    title: str
    says: tuple[str, ...]
    function: str
    source: str = ""
    # Whether it uses the scores of one measure.
    of_one_measure: bool = True
    needs_judgments: bool = True
    # What the command prints in addition.
    command_adds: str = ""


STATISTICS = {
    "difference": Statistic(
        "Difference from the baseline",
        (
            "The mean over topics of the run’s score minus the baseline’s. Effect size: d, the"
            " mean divided by the standard deviation of the differences. A topic is won, lost or"
            " tied; differences below 10⁻¹² are ties. A sum is compared as a total. GMAP and"
            " GMBpref are tested by ln max(value, 10⁻⁵), and the ratio of the geometric means is"
            " printed.",
            "Maximum t: the topics of all runs are flipped together around their means. The"
            " adjusted p is the share of 10,000 flips in which the largest t of any run reaches"
            " this one. The intervals use the same flips, so they leave 0 exactly where p is at"
            " most .05. Other tests are adjusted by Holm and have no interval.",
        ),
        "evaluation.significance.compare_with_baseline",
        "Westfall and Young 1993; Holm, Scandinavian Journal of Statistics 1979",
    ),
    "pair": Statistic(
        "Difference of two runs",
        (
            "The mean over topics of one run’s score minus the other’s, with its effect size d"
            " (the mean divided by the standard deviation of the differences).",
            "The verdict is that of the board. Where the board compares with the baseline and"
            " this pair has it, p and interval hold for all runs compared with the baseline;"
            " otherwise they hold for all pairs of runs. Alone is the exact sign-flip test of"
            " this pair, as if nothing else had been asked.",
        ),
        "evaluation.significance.decide_within_all_pairs",
        "Westfall and Young 1993; Smucker, Allan and Carterette, CIKM 2007",
    ),
    "probability": Statistic(
        "Probability that a run is better",
        (
            "For a pair named before its results were seen, the run ahead is better with"
            " probability 1 − p/2, p of the paired t-test of this pair alone (noninformative"
            " prior). An adjusted p gives no such probability, so this one is adjusted for"
            " nothing. Below six topics there is none.",
            "Within your region of equivalence two runs count as equal. The mean difference has a"
            " t distribution around the observed one, and its shares above, within and below the"
            " region are the three probabilities. The region is in the unit of the difference;"
            " for GMAP and GMBpref, r means a ratio between 1 / (1 + r) and 1 + r.",
        ),
        "evaluation.significance.posterior_of_pair",
        "Jeffreys, Theory of Probability, 1961; Sakai, SIGIR 2017",
        command_adds="The first run is the one that the other is held to.",
    ),
    "all-pairs": Statistic(
        "All runs against each other",
        (
            "Each pair has its own t: its mean difference divided by its own standard error. The"
            " topics of all runs are flipped together around their means, 10,000 times, and the"
            " largest t of any pair is noted. p is the share of flips whose largest t reaches"
            " that of the pair, so it holds for all pairs at once, also where some runs are much"
            " more alike than others.",
            "A run’s highest rank is 1 plus the number of runs significantly better, its lowest"
            " the number of runs less those significantly worse. All ranks hold at once with"
            " 95 % confidence. Runs that share a letter cannot be told apart. Below six topics"
            " there is no verdict.",
        ),
        "evaluation.significance.compare_all_pairs",
        "Westfall and Young 1993; Mogstad, Romano, Shaikh and Wilhelm, REStud 2024",
        command_adds="With --ranks, it also prints each run’s rank interval and letters.",
    ),
    "agreement": Statistic(
        "Agreement of two boards",
        (
            "Kendall’s τ: the pairs of runs that both boards put in the same order, less those"
            " in opposite orders, divided by the geometric mean of the pairs that each board"
            " does not tie (τ_b).",
            "τ_AP goes down the row’s board: at each run the share of the runs above it that"
            " the column’s board too puts above it, averaged over the runs below the first and"
            " stretched to −1 to 1. So what changes at the top counts more. Ties are broken in"
            " all ways, and the mean is taken.",
        ),
        "evaluation.agreement.tau_matrix, evaluation.agreement.tau_ap",
        "Kendall, Biometrika 1945; Yilmaz, Aslam and Robertson, SIGIR 2008",
        of_one_measure=False,
    ),
    "overlap": Statistic(
        "Rank-biased overlap",
        (
            "The shares that the first d documents of both rankings have in common, d from 1 to"
            " 20, each weighted by .9 to the power of d − 1; what lies deeper is extrapolated."
            " 1 where both list the same in the same order, 0 where they share nothing.",
        ),
        "evaluation.agreement.rbo",
        "Webber, Moffat and Zobel, TOIS 2010, equation 32",
        of_one_measure=False,
        needs_judgments=False,
    ),
    "gains": Statistic(
        "Discounted cumulated gain",
        (
            "Each document gains by its grade, discounted by its rank as nDCG on this track does;"
            " the curve adds the gains up. Re-ordered is the best order of all that the"
            " run retrieves for the topic, ideal that of all judged documents.",
            "What is lost by ranking is re-ordered minus run, what is lost by retrieval is ideal"
            " minus re-ordered, both as a share of the ideal.",
        ),
        "evaluation.measures.gains.GainScale",
        "Järvelin and Kekäläinen, TOIS 2002",
        of_one_measure=False,
    ),
    "precision": Statistic(
        "Precision at recall and at depth",
        (
            "At a level of recall: the highest precision at that recall or any beyond, 0 where"
            " the run never gets there. At a depth: the share of relevant documents among the"
            " first. Both are means over all evaluated topics.",
            "Median and best are taken at each level or depth alone, over the runs of the board.",
        ),
        "evaluation.curves.mean_curve",
        "Salton and McGill, Introduction to Modern Information Retrieval, 1983",
        of_one_measure=False,
        command_adds="It prints these means of every run; median and best are taken of them.",
    ),
    "curve": Statistic(
        "Precision and recall on one topic",
        (
            "At the rank of each relevant document: precision is the share of relevant documents"
            " up to there, recall the share of all relevant documents found. At a level of recall:"
            " the highest precision at that recall or any beyond, 0 where the run never gets"
            " there. Unjudged documents count as not relevant.",
            "Median and best are those of the runs of the board at each level.",
        ),
        "evaluation.curves.precision_recall",
        "Salton and McGill, Introduction to Modern Information Retrieval, 1983",
        of_one_measure=False,
        command_adds="Without --levels, it prints the rank of each relevant document instead.",
    ),
    "losses": Statistic(
        "What a document would bring",
        (
            "On the seven topics where most is lost to the best run, each relevant document that"
            " the best run ranks higher is put at its rank there, and the ranking is scored again."
            " The document that brings most is named; at most twenty a topic are tried, those"
            " that fell furthest.",
            "Of the gain of the ideal first ten, what the run's own documents would gain in the"
            " best order is lost by ranking, the rest by retrieval. Where one of them is at least"
            " four fifths of what is lost, it alone is named. The page of the ranking draws it.",
        ),
        "evaluation.judge",
    ),
    "bounds": Statistic(
        "What judging more could change",
        (
            "The score is computed again with every unjudged document not relevant, and with"
            " every one of the top grade. For a sum over the first documents, such as P@10, these"
            " are the lowest and the highest that any further judgments allow.",
            "For a verdict the same is done with the documents that favour the baseline and with"
            " those that favour the run, and the test of the board is made in both worlds. To"
            " close a gap, the documents that weigh most are taken first.",
        ),
        "evaluation.pooling.holes",
        "Moffat and Zobel, TOIS 2008",
    ),
    "correlation": Statistic(
        "Item-total correlation of a topic",
        (
            "Pearson’s r, over the runs, of the scores on this topic with the sum of the scores"
            " on all other topics. Below 0, runs that are better elsewhere tend to be worse here."
            " It needs three runs.",
        ),
        "leaderboard.analysis.topic_map.item_total_correlations",
        "Bodoff and Li, SIGIR 2007",
        command_adds="It prints the scores that are correlated.",
    ),
    "spread": Statistic(
        "Worst, median and best of the runs",
        (
            "Over all runs of the board, the organisers’ too, whatever is filtered. With an even"
            " number of runs the median is the mean of the two in the middle; quarters lie"
            " between neighbours in the same way.",
        ),
        "leaderboard.analysis.peers.compute_spread",
        command_adds="It prints every score that these are taken of.",
    ),
    "cost": Statistic(
        "Effectiveness and cost",
        (
            "A run’s mean with its 95 % t interval over the topics, against the cost that its"
            " team states. On the front are the runs that no other beats at equal or lower cost.",
            "Every run is held to the best of those that state a cost. The best is chosen by its"
            " score, so the decisions about all pairs count. The cheapest run that is not"
            " significantly worse is named.",
        ),
        "evaluation.significance.compare_all_pairs",
        command_adds="It holds every run of the board to the best of those that state this cost.",
    ),
    "reusability": Statistic(
        "One team left out",
        (
            "Of the first documents of every run on the board, to the depth of the pool, those"
            " that only one team has lose their judgments. The team’s runs are scored again, as"
            " if it had come after the judging. All other runs keep their scores.",
            "τ is Kendall’s τ_b between the board before and after. A team without documents of"
            " its own does not move: τ is 1.",
        ),
        "evaluation.pooling.leave_one_team_out",
        "Zobel, SIGIR 1998; Voorhees, CLEF 2001",
        command_adds="It prints all runs of every team, not the best alone.",
    ),
    "planning": Statistic(
        "Topics and pools to plan",
        (
            "Paired t: the fewest topics on which a two-sided paired t-test finds the difference"
            " of two runs with this power. ANOVA: the same for the one-way F-test of several"
            " runs, if only the best and the worst differ from the middle. Interval: the fewest"
            " topics whose 1 − α interval of a mean difference is expected to be this narrow.",
            "The variance within runs is the mean over runs of the variance of their topics; that"
            " of differences is the mean over all pairs of runs. A typed variance is within runs"
            " and is doubled for differences.",
            "For each depth of pool all runs are scored with its judgments alone. The hours are"
            " for all documents of the pool at the speed you gave.",
        ),
        "evaluation.significance.topics_needed, evaluation.significance.anova_topics,"
        " evaluation.significance.interval_topics, evaluation.pooling.compare_depths",
        "Sakai, Information Retrieval Journal 2016",
        command_adds="With a typed variance it prints no pools.",
    ),
}
