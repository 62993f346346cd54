"""Studies of the catalogue: one file each, holding one `STUDY`; an experiment is code."""

from cg_pipeline.catalog import collect
from cg_pipeline.specs import Study

STUDIES = collect(__name__, __path__, "STUDY", Study)
