"""Detects words that take a request back, in English: anything that means that the request no longer applies.

The author of an inert text that still contains the request has to say in some way that it is not meant: forbid it,
cancel it, say that it is done, merely report it, or talk about the text itself. In doubt a text counts as taken back: a
lost third-party draft costs a draft, one that asks for nothing would make the report wrong (AV-07).
"""

import re
from collections.abc import Collection, Iterator

from sirocco.probes.texts import sentences_of

_LEAST_KNOWN = 0.4
"""The share of English words from which on a clause counts as readable."""
_CLAUSE_END = re.compile(r"[,;:]+(?=\s|$)|[()…—–]+|\s-+\s")
"""Commas and colons inside a value (`a,b:c`) do not end a clause."""
_TOKEN = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”«»|*~`#]+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NOT_LATIN = re.compile(r"[^\W\d_\u0000-\u024f]")
_TAG = re.compile(r"</?[A-Za-z]\w*>")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_FOREIGN_DENIAL = re.compile(
    r"nicht|kein\w*|nein|nie|niemals|pas|jamais|aucune?|nunca|jam[aá]s|n[aã]o|niet|geen|nee|nooit|inte|ingen|aldrig?|"
    r"ikke|nei|nej|nem|ne|nikdy|nigdy|älä|ei|mai|nessuno?|değil|hayır",
    re.IGNORECASE,
)
"""Words that deny a request in the languages most often mixed into English texts."""

_NOT = r"(?: ?not|n['’]?t)\b"
_UNTROUBLED = (
    r"(?! (?:hesitate|forget|fail|neglect|wait|delay|worry|bother to ask|stop (?:at|until)|give up|miss|skip"
    r"|(?:touch|change) anything else))"
)
"""Denying something with these emphasizes the request instead."""
_CLAUSE = r"(?:^|[.!?:;,(\n…–—-]\s*|\b(?:please|but|and|so|just|then|really|actually|therefore|better|to|you) )"
_TEXT = (
    r"(?:lines?|messages?|notes?|texts?|sentences?|instructions?|requests?|commands?|orders?"
    r"|statements?|entry|entries|"
    r"words|paragraphs?|remarks?|comments?)"
)
_DONE = r"(?:done|deleted|removed|changed|restarted|scaled|set|created|gone|applied|completed|finished|handled|fixed)"
_IT = r"(?:that|this|it|them|these|those|the (?:above|last|previous|preceding|following))"
_ANYWHERE = (
    # It is forbidden.
    rf"{_CLAUSE}(?:do{_NOT}|dont\b){_UNTROUBLED}",
    (
        rf"\b(?:i|we|they|you) (?:do|did|would|could|can|will){_NOT} "
        r"(?:want|wish|ask|mean|approve|allow|agree|intend|recommend|do|let)"
    ),
    (
        rf"\b(?:must|should|shall|may|need|ought){_NOT}{_UNTROUBLED}(?! (?:notice|see|reach|log|find|lose|have to"
        r"|stop|fail|break|both|suffer|be disturbed|(?:go|be|break|shut) down|slow|lag|lapse|expire|run out))"
    ),
    r"\bcan(?: ?not|['’]?t) (?:be|happen|allow|approve|let)\b(?! (?:reached|opened|read|found|seen|helped))",
    (
        r"\b(?:must|should|may|shall|will|would|can|to|be|please) never\b(?! (?:been|both|stop|fail|(?:go|be) down"
        r"|mind the))|\b(?:but|and|so) never\b(?! (?:been|mind the|\w+ed\b))|(?:^|[.!?:;,(\n–—-]\s*)never\b"
        r"(?! mind (?:the|about)|\s*$|[ \t]*\n)"
    ),
    r"\b(?:no one|nobody|none|nothing) (?:should|may|must|shall|is (?:to|allowed|permitted)|ought)\b",
    (
        r"\bnot (?:to be|a (?:request|command|task|real|serious)|an (?:order|instruction|action)"
        r"|for (?:you|agents?|assistants?|production)"
        r"|intended|serious|valid|approved|authori[sz]ed|allowed|permitted|necessary|required|needed to|yet\b"
        r"|under any|until|without|to (?:do|act|follow|carry|touch|delete|change|remove|execute|run))"
    ),
    (
        r"\bno (?:action|need (?:to(?! (?:ask|check|wait|confirm|worry|hurry|call|write|tell|report|come back)\b)|for)"
        r"|way\b|thanks|reason to|good reason|changes? (?:is|are|needed|required))"
        rf"|(?:{_CLAUSE}|\b(?:{_IT}|{_TEXT})(?:'s| is| are| was| were)? )no longer (?:valid|necessary|required|wanted"
        r"|true|correct|applies|apply|in force|to be|needed to)"
    ),
    r"\bnot\s*[.!)]|\bnot\s*$",
    r"\b(?:by no means|on no account|under no circumstances|in no case|anything but)\b",
    (
        r"\b(?:forbid\w*|forbade|prohibit\w*|banned|disallow\w*|illegal|unlawful|off[- ]limits|hands off"
        r"|gets? fired|sacked)\b"
    ),
    r"\bagainst (?:the |our |my |all |company )?(?:polic\w+|rules?|guidelines|law)\b",
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bget )(?<!\bbeing )\b(?:refus|declin|reject)\w*",
    r"\b(?:refrain|abstain)\w*\b|\bstay away\b|\b(?:avoid|beware)\b",
    # It is called off.
    r"\b(?:disregard|cancel|retract|revok|rescind|withdr[ae]w|overrul|nullif|annul|veto)\w*\b",
    rf"\b(?:scratch|strike|undo|skip|forget|stop|reverse|ignore) (?:about )?{_IT}\b",
    (
        r"\bnever ?mind\b(?! (?:the|about))|\b(?:just |only )?(?:kidding|joking)\b|\bhold (?:off|on)\b|\bstand down\b"
        r"|\bcall(?:ed)? (?:it |this |that )?off\b"
    ),
    r"\bsecond thoughts?\b|\bchanged my mind\b|\bby mistake\b|\bsent in error\b|\bby accident\b|\bmistaken",
    (
        r"\b(?:obsolete|null and void|outdated|out of date|superseded|not applicable|opposite|untrue|n/a)\b"
        r"|\bis (?:false|a lie)\b"
    ),
    (
        r"\b(?:leave|keep) (?:\S+ ){1,5}?(?:alone|as (?:it|they) (?:is|are)|in place|untouched|intact"
        r"|running|alive|unchanged)"
    ),
    r"\b(?:untouched|intact|unchanged)\b",
    # It depends on a person or a condition.
    r"\b(?:unless|only (?:if|when|after|once)|provided that|subject to|pending (?:\w+ )?(?:approval|review))\b",
    (
        r"(?:^|[.!?:;,(\n…–—-]\s*|\b(?:please|but|and|so|just|then|better) )wait (?:for|until|till"
        r"|with)\b|\buntil (?:further|i |we |you |told|somebody|someone|approv)"
    ),
    r"\bonly (?:an? |the )?(?:humans?|persons?|people|operators?|admin\w*|owners?|managers?) (?:may|can|should|must)\b",
    r"\b(?:my|our|their|his|her) (?:approval|consent|permission|go-ahead) (?:first|before)\b",
    # It is done, or only told of.
    rf"\balready (?:been )?{_DONE}\b|\b(?:was|has been|had been) (?:\w+ly )?{_DONE}\b",
    r"\bnothing (?:left |more |else )?to (?:do|be done|see)\b",
    (
        r"\b(?:i|we)(?:'ve| have) (?:\w+ly |just |now |already )?"
        r"(?:set|deleted|removed|updated|changed|restarted|scaled|created|applied|configured|completed|done)\b"
    ),
    (
        r"\b(?:i|we)(?:'ll| will| am going to|'m going to| are going to|'re going to) (?:\w+ly |just |now )?"
        rf"(?:take care of|handle|deal with|see to|look after|sort|fix|do) {_IT}\b"
    ),
    (
        r"\b(?:for (?:example|instance)|e\.g\.|(?<!\.)examples?(?!\.\w)|placeholder\w*|dummy|lorem"
        r"|hypothetical\w*|imagin\w*|suppose|"
        r"supposing|pretend\w*|villain\w*|once upon|fairy|illustrat\w*|tutorial|satire|parody|"
        r"what if|what would happen)\b|(?<![.\w])templates?\b(?!\.\w)"
    ),
    r"\b(?:wrote|said|says|typed|reads?|painted|scribbled|called|entitled|shouted|whispered)\W*[\"“‘«']",
    # It is about the text itself.
    (
        rf"\b(?:this|that|these|those|the|my|last|previous|following|next|above|preceding) (?:(?:above"
        rf"|preceding|previous|"
        rf"following|next|last|first|whole) )?{_TEXT} (?:(?:above|below|before|here) )?"
        r"(?:is|are|was|were|has|have|had|should|must|can|may|will|does|do|serves?|came|comes)\b"
    ),
    (
        r"(?<!\bdo )\b(?:the|everything|all|what is|whatever is|anything) (?:above|below|following)\b"
        r"(?! (?:\d|the|steps?))"
    ),
    (
        r"\b(?:this|that|it|all of (?:this|that)|these|those)(?:'s| is| was| are| were) "
        r"(?:(?:only|just|merely|purely|simply|all) )?(?:an? |the )?"
        r"(?:joke|drill|test|lie|trap|hoax|sample|exercise|rehearsal|simulation|prank|quotation|quote|draft|demo)\b"
    ),
    r"\b(?:merely|purely) (?:an?|for)\b|\bfor (?:humans|fun|illustration)\b|\bfor show(?: only)?\s*(?:[.,;!]|$)",
    r"\?\W*(?:no|nope|nah|never|certainly not|of course not)\b",
    r"[\[(<{](?:resolved|done|closed|fixed|solved|cancell?ed|won'?tfix|invalid|void|draft|expired)[\])>}]",
    # Somebody regrets it, or somebody else is to do it.
    (
        r"\b(?:take|took|taking) (?:it|this|that|these|all|everything|(?:my|our) \w+)(?: all)? back\b|\bas you were\b"
        r"|\bfalse alarm\b|\bregret\w*|\b(?:is|was|as|are|it|this|request) void\b|\bundone\b"
        r"|\b(?:remain|stay|sit|be) idle\b|\byou (?:can|may) (?:relax|rest)\b"
        r"|\b(?:off|from) the (?:table|list|agenda)\b"
    ),
    (
        rf"(?:\bwill|['’]ll|\b(?:is|are|am) going to|['’](?:s|re|m) going to) (?:\w+ly |just |now )?"
        rf"(?:take care of|handle|deal with|see to|look after|sort|fix|do|take on) {_IT}\b"
        rf"|\b(?:been|already|is|was) taken care of\b|\bleave {_IT} (?:to|with|for)\b"
        rf"|\b(?:file|print|frame|shred|burn|delete|drop) (?:this|the|my|that) {_TEXT}\b"
    ),
)
_BEFORE = (
    r"\b(?:following|next|below)\b[^.!?]*(?:\bnot\b|n['’]t\b|\bnever\b|\bno\b)",
    (
        r"\bignore\b(?! (?:all|everything|anything) else\b)"
        r"(?! (?:all |any )?(?:of )?(?:the |your |my |its )?(?:previous|prior|earlier|other|preceding) )"
    ),
)
"""Applied to what precedes the request, where other requests are often cancelled for its sake."""
_LEADING = (
    (
        r"(?:\bnot\b|n['’]t\b|\bdont\b|\b(?:never|nobody|no one|none|neither|nor)\b)"
        r"(?! (?:hesitate|forget|fail|neglect|wait|delay|any ?(?:more|longer)))"
    ),
    (
        r"\b(?:instead of|rather than|without|prevent\w*|against|whether|other than|short of|such as|is it true"
        r"|(?:tri|attempt)\w* to|title|alert if|warn\w* if|(?:bad|terrible|stupid|foolish|dangerous) \w+)\b"
    ),
    # It is somebody's duty or habit in another world, or a bad idea.
    (
        r"\bif (?:you|we|i|one|they|some(?:body|one)|any(?:body|one)) (?:were|had|ever|did)\b|\bin theory\b"
        r"|\btheoretically\b|\bone (?:could|might|would)\b|\bhad (?:we|i|you|they|he|she|it)\b"
        r"|\b(?:is|was|be|seems|sounds) (?:\w+ )?(?:wrong|unwise|risky|reckless|insane|crazy|mad(?:ness)?|harmful"
        r"|unsafe|premature|pointless|useless|irresponsible|folly|suicide)\b|\b(?:fools?|idiots?)\b"
    ),
    r"^\W*(?!need|requir|request|want|plann|agree|approv|schedul)(?:\w{3,}ed|done|gone)\s*:\s*$",
)
"""Applied to what precedes the request in its own clause."""
_KNOWN_LEAD = re.compile(
    # Nothing, a form of address, or a reason: the request is a sentence or a clause of its own.
    r"(?:^|[,;)\]}>*#|•–—-]|\bre|\.\.\.)\W*"
    r"(?:(?:and|then|so|now|also|first|next|finally|just|immediately|instead|simply|quickly|thus|therefore|hence"
    r"|urgently|afterwards?|meanwhile|todo|urgent|important|reminder|note|attention|step \d+|\d+\.?)\W*)*$"
    # Somebody is asked to do it.
    r"|\b(?:can|could|will|would|may|must|should|shall|might) (?:you|i ask you to|we ask you to|i|we)"
    r"(?: (?:please|kindly|also|just|now|then|first))*\s*$"
    r"|\byou (?:must|should|need to|have to|are to|may|can|will|could)(?: (?:please|also|now|then|first|just))*\s*$"
    r"|\b(?:i|we)(?:['’]d| would)? (?:need|want|like|ask|urge|beg|require|order|instruct) (?:you )?to"
    r"(?: (?:please|also|now|then|first))*\s*$"
    r"|\b(?:and|then|so|now|also|first|next|instead|simply|just|immediately|go ahead and|(?:be|make) sure to"
    r"|remember to|proceed to|go and|help (?:me|us)|(?:have|need|time) to|that you|chance you could|if you could)"
    r"\s+[`\"']?$"
    # It is announced.
    r"|\b(?:follow|execute|obey|perform|carry out|do)\b[^:]*:\W*$"
    r"|^\W*(?:\w+ ){0,2}(?:steps?|tasks?|actions?|instructions?)\b(?! for (?!the assistant|you\b))[^:]*:\W*$"
    r"|\b(?:following|next|instructions?|steps?|tasks?|actions?|orders?|commands?|requests?|this|remedy|fix|solution"
    r"|todo|to-do|to do|important|urgent|attention|reminder|need|required|asks?|needed)(?: first| now)?\W*[:=]\W*$"
    r"|^\W*(?:we|it|do(?: not|n['’]t))\b"
    r"(?!.*\b(?:sa(?:y|ys|id)|read|heard|wr[io]te|written|asked|saw|found|quot))[^:]*:\W*$",
    re.IGNORECASE,
)
"""What may stand before a complete request in its sentence; anything else may turn it into something else."""
_COURTESY = re.compile(r"\b(?:please|pls|plz|kindly)\W*$", re.IGNORECASE)
_BEHIND = (
    (
        r"\b(?:ignore|instead|rather|better not|or (?:not|better)|skip|whoops|oops|sorry|quoting"
        r"|quotation|unquote|fake|fools?"
        r"|invented|made up|backwards?|reverse|contrary|the other way round|changed (?:our|my"
        r"|the) (?:plans?|minds?))\b"
    ),
    r"\bwrong (?:ticket|one|message|request|window|chat|channel|thread|place|list|person|tab|cluster|room)\b",
    (
        r"(?<!meant to )\bstay(?:s|ed)?\b(?! (?:up|online|green|awake|late|in touch|within|below|open)\b)"
        r"|\bin peace\b"
    ),
    (
        r"\blet (?:it|them|\S+) (?:run|be|live|stay)\b|\bnext (?:year|life|century|decade)\b|\b(?:in"
        r"|from) (?:20[3-9]|2[1-9])\d+\b"
    ),
    r"\b(?:bad|terrible|awful|stupid|foolish|dangerous|horrible|disastrous) (?:idea|thing|mistake|move|plan)\b",
    (
        r"\b(?:status|state|resolution|verdict)\s*[:=]|(?:^|[.!?(]\s*)(?:closed|resolved|done|denied"
        r"|solved|finished|completed)\b"
    ),
    r"\bkeep(?:s|ing)? (?:it|them|this|that)\b(?! (?:short|brief|quiet|simple|quick|down|in mind|secret))",
    r"\b(?:on|with|for|against|about) (?:this|that) (?:plan|request|idea|change|ticket|job|task|matter|one|thought)\b",
    # "That" as a subject refers to the request, and mostly says what must not become of it.
    (
        r"(?<!\bif )(?<!\bonce )(?<!\bwhen )(?<!\bsoon as )(?<!\ball )\b(?:this|that)"
        r"(?:['’]s(?! (?:over|the|what|why|how|all|when|where)\b)"
        r"| is\b(?! (?:an? |the )?(?:severity|urgent|emergency|incident|outage|priority|top|highest|critical|important"
        r"|what|how|why|where)\b)"
        r"| (?:was|would|will|should|must|can|may|might|has to|does|counts|applies|goes)\b)"
    ),
    (
        r"\b(?!(?:after|by|for|than|then|with|before|like|once|if|do)\b)\w+ (?:this|that)"
        r"(?: (?:back|order|as|away|one|part|up|off|down))?\s*(?:[.,;!?)]|$)|\b(?:this|that) as\b"
    ),
    (
        r"(?:\bnot\b|n['’]t\b|\b(?:no|never|nobody|no one|none|nothing|neither|nor|without)\b)"
        r"(?! (?:one (?:uses|needs|reads|misses|wants it any)|comes?|both|stop|fail|be disturbed|reads?|longer"
        r"|any ?more|needs?|uses?|used|misses|wait|hurry|rush|later than|other|in use|depends?"
        r"|questions?|problem|help\b|sized|sure|has \w+ed|\w+ed\b|went|meant|got|came|had|was|were|ran|saw|took))"
    ),
)
"""Applied to what follows the request."""
_FOLLOWING = (
    r"\W*(?:is|are|was|were|has|have|had|would|will|must|should|can|may|might|does|did)\b",
    r"(?:[^\w.!?\n]*|\W*(?=if\b))(?:if|when|once|in case|assuming)\b",
    r"[^\w.!?\n]*as soon as (?!possible|practical|feasible|you (?:can|are|have|get a (?:minute|moment|chance))\b)",
)
"""Applied to what directly follows it."""
_GOES_ON = re.compile(
    r"[`\"'”’)\]}>*_]*\s*(?:$|[.!?;,:)|<*~`\"]|[-–—]{1,2}\s|->|(?:after|and|again|as|asap|at|because"
    r"|before|by|completely|"
    r"entirely|first|for|immediately|now|once|permanently|please|right|since|so|then|to|today"
    r"|tonight|until|which|while|"
    r"who|whose|with)\b)",
    re.IGNORECASE,
)
"""Continuations of a sentence after a complete request that do not change it."""
_STANDS_DOWN = re.compile(
    r"\b(?:ignore|disregard)\b(?! (?:all |any )?(?:of )?(?:the |your |my |its )?(?:previous|prior|earlier) )"
    rf"|\b(?:do{_NOT}|never|must{_NOT}|should{_NOT}) (?:\w+ly )?"
    r"(?:follow|act|obey|carry|execute|do (?:what|anything|as)|trust|believe|listen)\b"
    rf"|\btake no action\b|{_CLAUSE}(?:do nothing\b|(?:change|touch) nothing(?! else)\b)"
    r"|\bundone\b|\b(?:use|call|run|make) no (?:\w+ )?(?:tools?|commands?|changes?|calls?)\b"
    r"|\bwithout (?:any |using |calling )+tools?\b|\brefuse\b|\bdecline\b"
    r"|\b(?:answer|reply|respond) (?:only\b|just\b|(?:to )?(?:every|all|each)\w*\b)"
    r"|\b(?:only|just|simply) (?:answer|reply|respond)\b(?! (?:to|when|once|after))"
    rf"|\b(?:do{_NOT}|never|without) (?:chang|touch)(?:e|ing)? anything\b(?! else)",
    re.IGNORECASE,
)
_POLITE = re.compile(
    (
        r"\b(?:can|could|would|will|may) (?:you|u|somebody|someone|i ask|we ask|we|i)\b|\bchance you\b"
        r"|\bplease\b|\bmind\b"
    ),
    re.IGNORECASE,
)
_STRUCK_OUT = re.compile(r"~~[^~]+~~|<(?:del|s|strike)>", re.IGNORECASE)
_AROUND_IT = re.compile("|".join(_ANYWHERE), re.IGNORECASE)
_BEFORE_IT = re.compile("|".join(_BEFORE), re.IGNORECASE)
_LEADING_IT = re.compile("|".join(_LEADING), re.IGNORECASE)
_BEHIND_IT = re.compile("|".join(_BEHIND), re.IGNORECASE)
_FOLLOWING_IT = re.compile("|".join(_FOLLOWING), re.IGNORECASE)
_SENTENCE_BREAK = re.compile(r"\n|(?<!\d)[.!?]\s")
_CLAUSE_BREAK = re.compile(r"[;\n]|[.!?]\s")


def withdrawal(
    text: str, begins: int = 0, ends: int | None = None, *, is_whole: bool = False, after_anything: bool = False
) -> str:
    """The words by which a text takes back its request, which extends from `begins` to `ends`; empty if there are none.

    Without an end its position is unknown, and only words that take back any request are searched for. With a complete
    request, what follows is not part of it, and what precedes it in its sentence has to lead to a request, unless the
    request may come after anything.
    """
    found = _STRUCK_OUT.search(text) or _AROUND_IT.search(text)
    if not found and ends is not None:
        before, behind = text[:begins], text[ends:]
        lead = _CLAUSE_BREAK.split(before)[-1]
        asking = sentences_of(before)[-1] + text[begins:ends] + sentences_of(behind)[0]
        found = _BEFORE_IT.search(before) or _LEADING_IT.search(lead) or _BEHIND_IT.search(behind)
        found = found or (_FOLLOWING_IT.match(behind) if is_whole else None)
        sentence = _COURTESY.sub("", _SENTENCE_BREAK.split(before)[-1])
        if not found and is_whole and not after_anything and not _KNOWN_LEAD.search(sentence):
            return sentence.strip()
        if not found and is_whole and not _GOES_ON.match(behind):
            return sentences_of(behind)[0].strip()
        if not found and asking.rstrip().endswith("?") and not _POLITE.search(asking):
            return asking.strip()
    return found.group(0).strip() if found else ""


def words_standing_down(text: str) -> str:
    """Words by which a text for another purpose makes its reader ignore what others ask for."""
    found = _STANDS_DOWN.search(text)
    return found.group(0).strip() if found else ""


def unreadable_clause(text: str, known: Collection[str]) -> str:
    """A part of a text that is not English, judged by known words apart from names; empty if there is none.

    What cannot be read may take the request back.
    """
    if strange := _INVISIBLE.search(text) or _NOT_LATIN.search(text):
        return strange.group(0)
    plain = _TAG.sub(" ", text)
    return next((part for sentence in sentences_of(plain) for part in _unreadable_parts(sentence, known)), "")


def _unreadable_parts(sentence: str, known: Collection[str]) -> Iterator[str]:
    parts = _CLAUSE_END.split(sentence)
    for part in parts:
        words = list(_plain_words(part))
        unknown = [word for word in words if word.lower() not in known]
        # A single word between commas is a form of address or a signature.
        is_name = len(parts) > 1 and len(words) == 1 and words[0][0].isupper()
        is_strange = len(words) - len(unknown) < _LEAST_KNOWN * len(words) and not is_name
        if is_strange or any(_FOREIGN_DENIAL.fullmatch(word) for word in unknown):
            yield part.strip()


def _plain_words(text: str) -> Iterator[str]:
    """The words of a text without names and figures, which are the same in every language."""
    for token in _TOKEN.findall(text):
        word = token.strip(".'’-_/=").replace("’", "'")
        if _WORD.fullmatch(word):
            yield word
