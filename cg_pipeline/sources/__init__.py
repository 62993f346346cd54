"""Where text comes from: benchmark files, logs of other tools, the broad text an SAE is trained on.

Checked on arrival.
"""
