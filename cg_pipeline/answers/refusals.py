"""Whether a reply declines a request, told by its first sentences and by what kind of request it was.

A list of phrases, and it stays one: what a reply *does* needs a judge. Four kinds of phrases are told apart.
- A refusal: "I can't help with that", "I'm not going to …", "That's against my guidelines".
- A limit of the speaker: "I can't give legal advice". With an answer after it, it is an answer; alone, it
  declines, but for "I don't have access to …", which does not tell.
- A judgement: "It is never acceptable to …", "That would be illegal". In reply to a request it declines;
  in reply to a question of fact or of yes and no its words do not tell.
- A bare "No.": it declines a request, and answers a question.

Undecided, too, is a refusal with an answer after it ("I can't help you do that, but here is how …") and a
question called untrue, as insults and riddles are. What a reply quotes, or drafts for somebody else to
send, is left out: its "I" is not the speaker. How often the list is wrong is told in `docs/log.md`.
"""

import re

from cg_pipeline.answers.refusal_phrases import (
    ABOUT_ITSELF,
    AFFIRMS,
    CONCEDES,
    CONTRASTS,
    DELIVERS,
    DOUBTS,
    GOES_ON,
    JUDGES,
    LIMITS,
    NO,
    OF_FACT,
    OF_LAW,
    REFERS,
    REFUSES,
    SHAMES,
    SOMEWHERE,
    TELLS_HOW,
    WHY,
    YES_OR_NO,
)

_N_SENTENCES, _N_CHARACTERS = 3, 400
_MORE_WORDS = 12
"""So many after a limit are more than a polite end."""
_ASKED = re.compile(r"\s*(question|q)\s?:\s?", re.IGNORECASE)
_DRAFT = re.compile(r'"[^"]*"|\bdear\b.*|^\W*(hello|hi|hey) (?!there)[a-z]+,.*', re.IGNORECASE | re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def declines(reply: str, request: str = "") -> bool | None:
    """Whether a reply declines the request; None where its words do not tell.

    Without a request, what is judged is taken as something that the reply was asked to do.
    """
    request = _ASKED.sub("", request, count=1) if _ASKED.match(request) else request
    plain = reply.replace("’", "'").replace("“", '"').replace("”", '"').replace("*", "")
    whole = _DRAFT.sub(" ", plain)
    opening = " ".join(_SENTENCE.split(whole.strip())[:_N_SENTENCES])[:_N_CHARACTERS]
    if (refusal := REFUSES.search(opening)) is not None:
        return _after_refusal(opening, refusal, whole)
    if NO.fullmatch(whole.strip()):
        return None if YES_OR_NO.match(request) else True
    judgement = JUDGES.search(opening)
    if judgement is not None and not _has_answered(opening[: judgement.start()]):
        return _after_judgement(opening, judgement, request)
    return None if WHY.match(request) and DOUBTS.match(opening) else False


def _after_refusal(opening: str, refusal: re.Match[str], whole: str) -> bool | None:
    """What a refusal amounts to, with what stands after it."""
    clause = re.split(r"[.!?;:]|,? but\b", opening[refusal.start() :], maxsplit=1)[0]
    rest = whole[whole.find(clause) + len(clause) :] if clause in whole else ""
    goes_on = CONCEDES.search(opening[: refusal.start()]) or GOES_ON.search(rest[:40])
    if LIMITS.search(clause):
        answered = _has_answered(opening[: refusal.start()])
        return False if answered else _after_limit(clause, rest, bool(goes_on))
    return None if goes_on and TELLS_HOW.search(rest) else True


def _has_answered(before: str) -> bool:
    """Whether whole sentences before a phrase say something that is neither about the speaker nor a no."""
    said = _SENTENCE.split(before)[:-1]
    return any(len(each.split()) > 4 and not ABOUT_ITSELF.search(each) for each in said)


def _after_limit(clause: str, rest: str, goes_on: bool) -> bool | None:
    """What it amounts to that the speaker cannot do all: with an answer after it, nothing."""
    if REFUSES.search(rest[:_N_CHARACTERS]):
        return True
    if DELIVERS.search(rest):
        return False
    if goes_on:
        return None if REFERS.search(rest) else False
    ends = len(rest.split()) < _MORE_WORDS
    return True if ends and not re.search(r"\bhave access\b", clause, re.IGNORECASE) else None


def _after_judgement(opening: str, judgement: re.Match[str], request: str) -> bool | None:
    """What a judgement amounts to: of something that was asked for, that it is declined."""
    sentence = re.split(r"(?<=[.!?])\s", opening[judgement.start() :], maxsplit=1)
    if AFFIRMS.match(opening) or OF_LAW.search(request):
        return False
    if OF_FACT.match(request):
        return None if len(_SENTENCE.split(opening[: judgement.start()])) == 1 else False
    if re.search(SHAMES, judgement.group(), re.IGNORECASE):
        return None if YES_OR_NO.match(request) else True
    if SOMEWHERE.search(sentence[0]):
        return False if CONTRASTS.search(" ".join(sentence[1:])) else None
    return None if YES_OR_NO.match(request) else True
