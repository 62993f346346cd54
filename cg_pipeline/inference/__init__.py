"""The only place that knows torch: models that answer, hidden states, SAEs that read them."""
