"""Models of the catalogue: one file each, holding one `MODEL`."""
