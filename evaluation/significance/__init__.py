"""Statistical tests of differences between runs, from arrays to frozen values.

Scores are float64[R, T], one row per run, topics in the order of their numbers, NaN where
undefined. `alpha` is a significance level (0.05), `level` a confidence level (0.95).
"""

from evaluation.significance.across import (
    Collected,
    compare_over_collections,
    decide_pairs_over_collections,
    draw_maxima_over_collections,
)
from evaluation.significance.adjusting import benjamini_hochberg, holm
from evaluation.significance.baseline import (
    TESTS,
    Difference,
    compare_with_baseline,
    decide_within_all_pairs,
)
from evaluation.significance.bootstrap import Bootstrap, bootstrap, bootstraps
from evaluation.significance.coverage import MeasuredError, measured_error
from evaluation.significance.differences import Interval, TestResult
from evaluation.significance.gaps import Gap, beyond_others, compare_gaps
from evaluation.significance.gate import Gate, GateOutcome, decide_gate
from evaluation.significance.grouped import natural_order, places_in_groups, split_scores
from evaluation.significance.leads import Lead, LeadFamily, compute_lead, compute_leads
from evaluation.significance.letters import letters_of
from evaluation.significance.means import interval_of_mean, interval_of_score
from evaluation.significance.ordered import Change, Loss, compare_losses, describe_change
from evaluation.significance.paired import all_paired_t, paired_t, sign_test, t_interval, wilcoxon
from evaluation.significance.pairwise import (
    PairDecisions,
    compare_all_pairs,
    decide_pairs,
    draw_maxima,
    find_members,
    has_values,
)
from evaluation.significance.planning import (
    Variances,
    anova_topics,
    interval_topics,
    pair_deviations,
    variances_of,
)
from evaluation.significance.posterior import Posterior, posterior_of, posterior_of_pair
from evaluation.significance.power import (
    critical_before,
    detectable_effect,
    power_of,
    smallest_p,
    topics_in_family,
    topics_needed,
)
from evaluation.significance.randomisation import sign_flip, sign_flips, topic_order
from evaluation.significance.risk import Risk, describe_risk, geo_risks
from evaluation.significance.scales import Averaged, Scale, scale_of
from evaluation.significance.studentized import (
    studentized_range_quantile,
    studentized_range_tail,
)
from evaluation.significance.tukey import AllPairs, randomised_tukey, tukey_hsd
from evaluation.significance.unseen import (
    Components,
    LeftOut,
    PredictedRanks,
    decide_pairs_of_unseen,
    find_components,
    leave_one_out,
    number_collections,
    predict_ranks,
)

__all__ = [
    "TESTS",
    "AllPairs",
    "Averaged",
    "Bootstrap",
    "Change",
    "Collected",
    "Components",
    "Difference",
    "Gap",
    "Gate",
    "GateOutcome",
    "Interval",
    "Lead",
    "LeadFamily",
    "LeftOut",
    "Loss",
    "MeasuredError",
    "PairDecisions",
    "Posterior",
    "PredictedRanks",
    "Risk",
    "Scale",
    "TestResult",
    "Variances",
    "all_paired_t",
    "anova_topics",
    "benjamini_hochberg",
    "beyond_others",
    "bootstrap",
    "bootstraps",
    "compare_all_pairs",
    "compare_gaps",
    "compare_losses",
    "compare_over_collections",
    "compare_with_baseline",
    "compute_lead",
    "compute_leads",
    "critical_before",
    "decide_gate",
    "decide_pairs",
    "decide_pairs_of_unseen",
    "decide_pairs_over_collections",
    "decide_within_all_pairs",
    "describe_change",
    "describe_risk",
    "detectable_effect",
    "draw_maxima",
    "draw_maxima_over_collections",
    "find_components",
    "find_members",
    "geo_risks",
    "has_values",
    "holm",
    "interval_of_mean",
    "interval_of_score",
    "interval_topics",
    "leave_one_out",
    "letters_of",
    "measured_error",
    "natural_order",
    "number_collections",
    "pair_deviations",
    "paired_t",
    "places_in_groups",
    "posterior_of",
    "posterior_of_pair",
    "power_of",
    "predict_ranks",
    "randomised_tukey",
    "scale_of",
    "sign_flip",
    "sign_flips",
    "sign_test",
    "smallest_p",
    "split_scores",
    "studentized_range_quantile",
    "studentized_range_tail",
    "t_interval",
    "topic_order",
    "topics_in_family",
    "topics_needed",
    "tukey_hsd",
    "variances_of",
    "wilcoxon",
]
