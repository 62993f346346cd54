"""Models of the catalogue: one file each, holding one `MODEL`."""

from cg_pipeline.catalog import collect
from cg_pipeline.specs import Model

MODELS = collect(__name__, __path__, "MODEL", Model)
