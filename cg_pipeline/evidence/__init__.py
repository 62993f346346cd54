"""The examples that speak for each concept, and where in them it fires; arrays in, arrays out.

Reading order: `strongest` (which examples), `pairs` (token activations of chosen pairs of example and
concept), `assembling` (both together).
"""
