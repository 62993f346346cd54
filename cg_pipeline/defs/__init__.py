"""The stages as Dagster assets: partitions, resources, I/O managers, assets, checks and jobs.

The only package that knows Dagster. An asset here fetches its specs, calls one function
of `pipeline`, and hands on what that returns with its fingerprint; it computes nothing.
"""
