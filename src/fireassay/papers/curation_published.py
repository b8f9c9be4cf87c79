"""Tables I and II of the curation paper, as printed; Table III comes with the votes."""

# Rows to train, validate and test on, and labelling functions.
TABLE_1: dict[str, tuple[int | None, int | None, int | None, int]] = {
    "spo2_hr_lo": (79, None, None, 62),
    "spo2_hr_hi": (1315, None, None, 62),
    "rr_lo": (312, None, None, 62),
    "rr_hi": (574, None, None, 62),
    "spo2_lo": (3265, None, None, 62),
    "crossmodal": (2630, 376, 378, 18),
    "crowd": (187, 50, 50, 103),
    "recsys": (796956, 8339, 42191, 5),
    "spam": (1586, None, 250, 9),
}
# Cells of Table II that hold a dash: by the caption, those of Table III with p >= .05.
DASHES = {
    ("spo2_hr_lo", "snorkel", "pl_conf_all"),
    ("spo2_hr_lo", "snorkel", "pl_conf_indep"),
    ("spo2_hr_lo", "snorkel", "ours"),
    ("rr_lo", "snorkel", "pl_conf_indep"),
    ("rr_hi", "snorkel", "ours"),
    ("spo2_lo", "majorityvote", "pl_conf_all"),
    ("spo2_lo", "majorityvote", "ci_lb_all"),
    ("spo2_lo", "majorityvote", "ours"),
    ("spo2_lo", "snorkel", "pl_conf_indep"),
    ("spo2_lo", "snorkel", "ci_lb_all"),
    ("spo2_lo", "snorkel", "ours"),
    ("crossmodal", "snorkel", "ci_lb_all"),
    ("recsys", "majorityvote", "ci_lb_all"),
    ("recsys", "majorityvote", "ours"),
    ("recsys", "snorkel", "ci_lb_all"),
    ("recsys", "snorkel", "ours"),
}
