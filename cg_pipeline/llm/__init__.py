"""The LLM that names gap clusters, behind any OpenAI-compatible server: optional, cached, billed.

Reading order: `endpoint` (settings), `wire` (one request), `chat` (a typed answer), `naming`
(the prompt). Nothing else in the package speaks to a language-model server.
"""
