"""What every program is asked for: 25 measures, as trec_eval calls them."""

MEASURES = (
    *("map", "Rprec", "bpref", "recip_rank", "ndcg", "infAP", "num_rel_ret"),
    *("P.5,10,20,100", "recall.10,100,1000", "ndcg_cut.5,10,20,100,1000", "success.1,5,10"),
    "map_cut.10,100,1000",
)
