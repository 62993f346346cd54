"""The stages as Dagster assets: partitions, resources, I/O managers, assets, checks and jobs.

The only package that knows Dagster. An asset here fetches its specs, calls one function
of `pipeline`, and hands on what that returns with its fingerprint; it computes nothing.
"""

import warnings

import dagster as dg

# Partition mappings and partitioned checks are marked beta and preview. The version is
# pinned and both are tested here, so that the notice would only hide other warnings.
warnings.filterwarnings("ignore", category=dg.BetaWarning)
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
