"""SAEs of the catalogue: one file each, holding one `SAE`."""

from cg_pipeline.catalog import collect
from cg_pipeline.specs import Sae

SAES = collect(__name__, __path__, "SAE", Sae)
