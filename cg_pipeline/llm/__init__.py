"""The LLM that names gap clusters and judges answers, behind any OpenAI-compatible server.

Optional, cached, billed. Reading order: `endpoint` (settings), `wire` (one request), `chat` (a typed
answer), `naming` and `judging` (the prompts). Nothing else in the package speaks to a
language-model server.
"""
