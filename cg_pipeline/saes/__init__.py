"""SAEs of the catalogue: one file each, holding one `SAE`."""
