"""Where text comes from: benchmark files and the broad text an SAE is trained on. Checked on arrival."""
