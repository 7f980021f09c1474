"""Greetings, thanks and goodbyes: what people say around questions, and what is no question by itself.

Only a text that holds nothing else counts. "Hello world in Rust" is a question, and so are "yes" and "no", which answer
one. The phrases are those of the languages that a stemmer is at hand for and that chats are held in most.
"""

from __future__ import annotations

from enum import StrEnum

import regex


class Courtesy(StrEnum):
    """What was said instead of a question."""

    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"


_GREETINGS = r"""(?:hi|hello|hey|heya|hiya|howdy|greetings|good\s+(?:morning|afternoon|evening|day)
    |how\s+are\s+you(?:\s+(?:doing|today))?|nice\s+to\s+meet\s+you|hallo|guten\s+(?:morgen|tag|abend)|moin|servus
    |bonjour|bonsoir|salut|hola|buen[oa]s\s+(?:d[ií]as|tardes|noches)|buongiorno|buonasera|ol[aá]|bom\s+dia
    |boa\s+(?:tarde|noite)|hej|привет|здравствуйте|добрый\s+(?:день|вечер)|你好|您好|こんにちは|안녕하세요)"""
_THANKS = r"""(?:(?:many\s+|ok(?:ay)?\s+)?(?:thanks|thank\s+(?:you|u)|thankyou|thx|tnx|thnx|cheers)
        (?:\s+(?:a\s+(?:lot|million|bunch|ton)|so\s+much|very\s+much|again|anyway|in\s+advance|all|everyone|mate|man))*
        (?:\s+for\s+(?:your|the|all|this|that|everything)(?:\s+(?:your|the))?(?:\s+(?:help|info|information|answer|time
            |support|explanation|quick\s+(?:reply|answer)))?)?
    |much\s+(?:appreciated|obliged)|(?:i\s+)?(?:really\s+)?appreciate\s+(?:it|that|your\s+help)
    |no\s+(?:more|further)\s+questions|danke(?:\s+(?:sch[öo]n|sehr|dir|ihnen|vielmals))*|vielen\s+dank
    |merci(?:\s+(?:beaucoup|bien))?|(?:muchas\s+)?gracias|grazie(?:\s+mille)?|(?:muito\s+)?obrigad[oa]
    |dank\s+je(?:\s+wel)?|bedankt|tack(?:\s+s[åa]\s+mycket)?|takk|dzi[ęe]kuj[ęe]|спасибо(?:\s+большое)?|谢谢|多谢
    |ありがとう(?:ございます)?|감사합니다)"""
_MUCH = r"(?:really\s+|very\s+|so\s+|super\s+|quite\s+)?"
_FOR_WHOM = r"(?:\s+(?:me|us|a\s+lot|so\s+much|very\s+much|for\s+(?:now|today|me|us)|now|then|to\s+know))*"
# Praise in a whole sentence: nobody looks for that.
_PRAISE = rf"""(?:(?:that|this|it)(?:['’]s|\s+is|\s+was|\s+has\s+been)?\s+{_MUCH}
        (?:helps?|helped|helpful|useful){_FOR_WHOM}
    |good\s+to\s+know|good\s+bot|(?:well|nicely)\s+done)"""
# Words of assent: behind an answer they are no question, by themselves somebody may look for them.
_NODS = rf"""(?:(?:that|this|it)(?:['’]s|\s+is|\s+was|\s+has\s+been)?\s+{_MUCH}
        (?:great|perfect|good|fine|all|it|enough|clear|awesome|nice|works?|worked|makes?\s+sense){_FOR_WHOM}
    |(?:got|understood|noted|gotcha)(?:\s+(?:it|that))?|i\s+(?:see|understand|got\s+it)|makes\s+sense|sounds\s+good
    |ty|ta|(?:perfect|great|cool|nice|awesome|excellent|brilliant|wonderful|fantastic|lovely|super|sweet
        |neat|amazing|ok(?:ay)?|okey|k|alright|all\s+right|right|fine|wow)(?:\s+(?:one|job|stuff|work|answer|then))?
    |good\s+(?:job|work|answer|one)|later|prima|alles\s+klar|verstanden|d['’]accord|parfait
    |perfecto|vale|perfetto|понятно)"""
_GOODBYES = r"""(?:(?:good\s*)?bye(?:\s*bye)?|(?:see|c)\s+(?:you|ya|u)(?:\s+(?:later|soon|tomorrow|around))?
    |good\s+night|have\s+a\s+(?:nice|good|great|lovely)\s+(?:day|evening|weekend|one|time)|take\s+care
    |talk\s+(?:to\s+you\s+)?(?:later|soon)|tsch[üu]ss|auf\s+wiedersehen|ciao|adieu|au\s+revoir|adi[oó]s|hasta\s+luego
    |arrivederci|tchau|пока|до\s+свидания|再见|さようなら)"""
# To whom, and what holds such phrases together.
_AROUND = r"""(?:[\s\p{P}\p{S}\p{Emoji_Presentation}\u200d\ufe0f]|\b(?:and|so|very|really|then|there|all|team|guys|folks
    |everyone|everybody|assistant|harry|claude|bot|oh|ah|yes|yep|yeah|no|nope|well|now|for\s+now|please)\b)*"""
_FLAGS = regex.VERBOSE | regex.IGNORECASE
_SAID = regex.compile(
    rf"(?<!\w)(?:(?<greeting>{_GREETINGS})|(?<thanks>{_THANKS}|{_PRAISE})|(?<goodbye>{_GOODBYES})|(?<nod>{_NODS}))(?!\w)",
    _FLAGS,
)
_BETWEEN = regex.compile(_AROUND, _FLAGS)
# Thanks without a word.
_SIGN = regex.compile(
    r"[👍👌🙏👏🙌💯🤝🫶❤💙💚💛🧡💜♥😀😃😄😁😊🙂😍🥰🤩🎉🥳✅✔]|(?<!\S)[:;]-?[)D](?!\S)|(?<!\S)<3(?!\S)"
)
_SENTENCE = regex.compile(
    r"[\p{S}\p{Emoji_Presentation}\u200d\ufe0f\s]*\p{Emoji_Presentation}\ufe0f?\s+(?=\S)"
    r"|[^.!?\n。！？]*[.!\n。！]+\s+(?=\S)|[^,;:–—.!?]{1,60}[,;:–—]\s+(?=\S)"
)
# Beyond this nobody is only being polite.
_LONGEST = 200


def courtesy(text: str, *, answered: bool) -> Courtesy | None:
    """Which courtesy a text is, None when it holds anything else. Of several, thanks weigh more than greetings.

    ``answered``: something was answered before. Else "great" and "later" are words that somebody looks for; a raised
    thumb is always one.
    """
    if len(text) > _LONGEST:
        return None
    said: set[str] = set()
    place = _BETWEEN.match(text).end()  # pyright: ignore[reportOptionalMemberAccess]
    while place < len(text):
        found = _SAID.match(text, place)
        if found is None:
            return None
        said.add(str(found.lastgroup))
        place = _BETWEEN.match(text, found.end()).end()  # pyright: ignore[reportOptionalMemberAccess]
    for kind in (Courtesy.THANKS, Courtesy.GOODBYE, Courtesy.GREETING):
        if kind.value in said:
            return kind
    signed = _SIGN.search(text) is not None
    return Courtesy.THANKS if signed or (said and answered) else None


def without_courtesies(text: str) -> str:
    """A question without the courtesies in front of it: "Thanks! And on Windows?" asks for the second part."""
    while (first := _SENTENCE.match(text)) and courtesy(first.group(), answered=True):
        text = text[first.end() :]
    return text
