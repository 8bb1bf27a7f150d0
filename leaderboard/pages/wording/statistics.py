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
            " tied; differences below 10⁻¹² are ties. Sums are compared as totals. GMAP and"
            " GMBpref are tested by ln max(value, 10⁻⁵), and the ratio of the geometric means is"
            " printed.",
            "Maximum t: the topics of all runs are flipped together around their means. The"
            " adjusted p is the share of 10,000 flips in which the largest t of any run reaches"
            " this one. The intervals use the same flips, so they exclude 0 exactly where p is at"
            " most .05. Other tests are adjusted by Holm and have no interval.",
        ),
        "evaluation.significance.compare_with_baseline",
        "Westfall and Young 1993; Holm, Scandinavian Journal of Statistics 1979",
    ),
    "pair": Statistic(
        "Difference between two runs",
        (
            "The mean over topics of one run’s score minus the other’s, with its effect size d"
            " (the mean divided by the standard deviation of the differences).",
            "The verdict is the same as on the board. If the board compares with the baseline"
            " and one of the two runs is the baseline, p and the interval hold for all runs"
            " compared with the baseline. Otherwise they hold for all pairs of runs. Alone is"
            " the exact sign-flip test of this pair, not adjusted for other pairs.",
        ),
        "evaluation.significance.decide_within_all_pairs",
        "Westfall and Young 1993; Smucker, Allan and Carterette, CIKM 2007",
    ),
    "probability": Statistic(
        "Probability that a run is better",
        (
            "For a pair named before its results were seen, the run ahead is better with"
            " probability 1 − p/2, where p is from the paired t-test of this pair alone"
            " (noninformative prior). An adjusted p gives no such probability, so p is not"
            " adjusted here. With fewer than six topics no probability is shown.",
            "Within your region of equivalence two runs count as equivalent. The mean difference"
            " has a t distribution around the observed one, and its shares above, within and below"
            " the region are the three probabilities. The region is in the unit of the"
            " difference; for GMAP and GMBpref, r means a ratio between 1 / (1 + r) and 1 + r.",
        ),
        "evaluation.significance.posterior_of_pair",
        "Jeffreys, Theory of Probability, 1961; Sakai, SIGIR 2017",
        command_adds="The other run is compared with the first.",
    ),
    "all-pairs": Statistic(
        "All pairs of runs",
        (
            "Each pair has its own t: its mean difference divided by its own standard error."
            " The topics of all runs are flipped together around their means, 10,000 times, and"
            " the largest t of any pair is recorded. p is the share of flips whose largest t"
            " reaches the t of the pair. So it holds jointly for all pairs, even if some runs"
            " are much more alike than others.",
            "A run’s highest rank is 1 plus the number of runs significantly better, its lowest"
            " the number of runs minus those significantly worse. All ranks hold jointly with 95"
            " % confidence. Runs that share a letter cannot be told apart. With fewer than six"
            " topics there is no verdict.",
        ),
        "evaluation.significance.compare_all_pairs",
        "Westfall and Young 1993; Mogstad, Romano, Shaikh and Wilhelm, REStud 2024",
        command_adds="With --ranks, it also prints each run’s rank interval and letters.",
    ),
    "agreement": Statistic(
        "Agreement of two boards",
        (
            "Kendall’s τ: the number of pairs of runs in the same order on both boards, minus"
            " the number in opposite orders, divided by the geometric mean of the numbers of"
            " pairs that each board does not tie (τ_b).",
            "τ_AP reads the row’s board from the top. For each run below the first, it takes"
            " the share of the runs above it that the column’s board also puts above it. The"
            " mean of these shares is rescaled to −1 to 1, so changes at the top count more."
            " Ties are broken in all ways, and the results are averaged.",
        ),
        "evaluation.agreement.tau_matrix, evaluation.agreement.tau_ap",
        "Kendall, Biometrika 1945; Yilmaz, Aslam and Robertson, SIGIR 2008",
        of_one_measure=False,
    ),
    "overlap": Statistic(
        "Rank-biased overlap",
        (
            "The share of documents that the first d of both rankings have in common, for d"
            " from 1 to 20, each weighted by .9 to the power of d − 1. Deeper ranks are"
            " extrapolated. It is 1 if both list the same documents in the same order, 0 if they"
            " share none.",
        ),
        "evaluation.agreement.rbo",
        "Webber, Moffat and Zobel, TOIS 2010, equation 32",
        of_one_measure=False,
        needs_judgments=False,
    ),
    "gains": Statistic(
        "Discounted cumulated gain",
        (
            "A document has a gain by its grade, discounted by its rank as in nDCG on this track."
            " The curve adds up the gains. Re-ordered is the best order of all documents that"
            " the run retrieves for the topic; ideal is the best order of all judged documents.",
            "Lost in ranking is re-ordered minus run. Lost in retrieval is ideal minus"
            " re-ordered. Both are shares of the ideal.",
        ),
        "evaluation.measures.gains.GainScale",
        "Järvelin and Kekäläinen, TOIS 2002",
        of_one_measure=False,
    ),
    "precision": Statistic(
        "Precision at recall and at depth",
        (
            "At a level of recall: the highest precision at that recall or beyond, 0 if the run"
            " never reaches it. At a depth: the share of relevant documents among the first."
            " Both are means over all evaluated topics.",
            "Median and best are computed for each level or depth separately, over the runs of"
            " the board.",
        ),
        "evaluation.curves.mean_curve",
        "Salton and McGill, Introduction to Modern Information Retrieval, 1983",
        of_one_measure=False,
        command_adds="It prints these means for every run; median and best come from them.",
    ),
    "curve": Statistic(
        "Precision and recall on one topic",
        (
            "At the rank of each relevant document: precision is the share of relevant"
            " documents up to that rank, recall the share of all relevant documents found by"
            " then. At a level of recall: the highest precision at that recall or beyond, 0 if"
            " the run never reaches it. Unjudged documents count as not relevant.",
            "Median and best are computed at each level over the runs of the board.",
        ),
        "evaluation.curves.precision_recall",
        "Salton and McGill, Introduction to Modern Information Retrieval, 1983",
        of_one_measure=False,
        command_adds="Without --levels, it prints the rank of each relevant document instead.",
    ),
    "losses": Statistic(
        "What a document would add",
        (
            "On the ten topics where the run loses most to the best run, each relevant"
            " document that the best run ranks higher is moved to its rank there, and the"
            " ranking is scored again. The document that adds most is named. Up to 20 documents"
            " per topic are tried: those with the largest drop in rank.",
            "The loss is a share of the gain of the ideal top ten. The part that the best order"
            " of the run’s documents could recover is lost in ranking, the rest in retrieval."
            " If one of the two is at least four fifths of the loss, only that one is named. The"
            " ranking page charts both.",
        ),
        "evaluation.judge",
    ),
    "bounds": Statistic(
        "What further judgments could change",
        (
            "The score is computed again with every unjudged document not relevant, and with"
            " every one of the top grade. For a sum over the first documents, such as P@10,"
            " these are the lowest and the highest scores that further judgments could give.",
            "For a verdict the same is done with the documents that favour the baseline and"
            " with those that favour the run, and the board’s test is computed in both cases. To"
            " close a gap, the documents with the most weight are counted first.",
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
            "Over all runs of the board, including the organisers’ and regardless of filters."
            " With an even number of runs the median is the mean of the two in the middle;"
            " quartiles are interpolated in the same way.",
        ),
        "leaderboard.analysis.peers.compute_spread",
        command_adds="It prints every score behind these values.",
    ),
    "cost": Statistic(
        "Effectiveness and cost",
        (
            "A run’s mean with its 95 % t interval over the topics, against the cost that its"
            " team states. The front contains the runs that no other run beats at equal or lower"
            " cost.",
            "Every run is compared with the best run that states a cost. The best is chosen by"
            " its score, so the test of all pairs decides. The cheapest run that is not"
            " significantly worse is named.",
        ),
        "evaluation.significance.compare_all_pairs",
        command_adds="It compares every run of the board with the best run that states this cost.",
    ),
    "reusability": Statistic(
        "Without one team",
        (
            "The pool contains the first documents of every run on the board, to the depth of the"
            " pool. Documents that only one team contributed lose their judgments. The team’s runs"
            " are scored again, as if it had submitted after the judging. All other runs keep"
            " their scores.",
            "τ is Kendall’s τ_b between the board before and after. A team without documents of"
            " its own changes nothing: τ is 1.",
        ),
        "evaluation.pooling.leave_one_team_out",
        "Zobel, SIGIR 1998; Voorhees, CLEF 2001",
        command_adds="It prints all runs of every team, not only the best.",
    ),
    "planning": Statistic(
        "Topics and pools to plan",
        (
            "Paired t: the fewest topics on which a two-sided paired t-test detects the difference"
            " between two runs with this power. ANOVA: the same for the one-way F-test of several"
            " runs, if only the best and the worst differ from the middle. Interval: the fewest"
            " topics whose 1 − α interval of a mean difference is expected to be this narrow.",
            "The variance within runs is the mean over runs of the variance of their topics; the"
            " variance of differences is the mean over all pairs of runs. A variance that you enter"
            " is within runs, and is doubled for differences.",
            "For each depth of pool all runs are scored with its judgments alone. The hours are"
            " for all documents of the pool at the speed you gave.",
        ),
        "evaluation.significance.topics_needed, evaluation.significance.anova_topics,"
        " evaluation.significance.interval_topics, evaluation.pooling.compare_depths",
        "Sakai, Information Retrieval Journal 2016",
        command_adds="With an entered variance it prints no pools.",
    ),
}
