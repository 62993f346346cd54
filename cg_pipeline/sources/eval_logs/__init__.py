"""Results already paid for: logs of other evaluation tools as completions and scores of one cell.

Reading order: `logged` (what a log says of one answer), the three formats `harness`, `inspect_log`
and `lighteval`, `matching` (which example an answer is about, by content), `importing` (records
and a report of what did not match).
"""
