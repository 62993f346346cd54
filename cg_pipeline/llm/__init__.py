"""Language models behind OpenAI-compatible servers: the one that names clusters, those that are evaluated.

Reading order: `endpoint` (settings), `wire` (one request), then either `chat` (a typed answer)
and `naming` (the prompt), or `questions` (an example as a request), `replies`, `asking` (many of
them, cached and billed), `likelihoods` and `served` (the model that answers examples). Nothing
else in the package speaks to a language-model server.
"""
