"""Naturally adversarial datasets from weak labels: which field samples are hard?"""

from fireassay.curation.curate import curate
