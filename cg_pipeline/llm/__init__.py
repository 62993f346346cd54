"""Language models behind OpenAI-compatible servers: the one that names and judges, those that are evaluated.

Optional, cached, billed. Reading order: `endpoint` (settings), `wire` (one request), `attempts` (when
it is tried again), `bill`, `shapes` (what comes back), then either `chat` (a typed answer) with
`naming` and `judging` (the prompts), or `questions` (an example as a request), `replies`, `turns` (who
waits), `failures`, `asking` (many of them), `likelihoods` and `served` (the model that answers
examples). Nothing else in the package speaks to a language-model server.
"""
