"""Studies of the catalogue: one file each, holding one `STUDY`; an experiment is code."""
