"""The words that carry grammar, politeness or denial, by hand: English, with the commonest denials of others."""

from __future__ import annotations


def _words(block: str) -> frozenset[str]:
    return frozenset(block.split())


# Words that carry grammar only.
FUNCTION = _words(
    """a an the this that these those it its itself i me my mine myself you your yours yourself we us our ours they
    them their theirs he him his she her hers one ones someone somebody anyone anybody everyone people is are was
    were be been being am do does did done doing has have had having can could would should will shall may might
    must cannot how what which who whom whose when where why whether if and or but so as than then too also there
    here some any such each every all both either other another same own much many more most less few lot lots let
    please s t d ll re ve im ive id dont isnt et al etc"""
)

PREPOSITIONS = _words(
    """of to in on at by for from with into onto within through via using during between among against towards toward
    under over above below across along about per off out up down upon after before until since because while"""
)

# Between these two a pair of objects has a direction: "from A to B" is not "from B to A".
DIRECTED = _words("""from to into onto with for by before after over under than as in on against""")

# Words of politeness, of asking, and hollow ones: their absence changes nothing.
LIGHT = _words(
    """hi hello hey dear thanks thank regards sorry help wonder hope tell ask question know explain describe
    description show guide guidance advice advise suggestion recommend step way method manner approach possible
    possibility feasible able ability allow let make get got give given provide want need like would try use usage
    utilize utilise utilization employ go come keep do perform carry exact easy quick correct proper right best good
    well kindly certain particular specific various several different regarding concerning purpose order advance
    reason work see look find found available include contain consist involve mean etc example instance e.g i.e eg
    ie guys folks appear seem happen even ever yet again now new thing something anything everything instruction
    detail information info appreciate assist assistance case fully entire whole complete additional further
    furthermore moreover however therefore thus hence general usual common follow base relate relevant corresponding
    necessary require type kind yes serve intend aim design designed offer supply furnish exist version release still
    just only simply really actually currently basically"""
)

# The other languages' are few, cheap, and no English words.
NEGATORS = _words(
    """unable non not never no none neither nor without cannot nothing nobody nowhere cant wont dont doesnt didnt isnt
    arent wasnt couldnt nicht kein keine keinen keiner ohne niemals pas jamais sans sin nunca niet geen zonder não
    sem"""
)

# May stand for a negation or not: "fails to start" and "does not start" are one question.
SOFT_NEGATORS = _words(
    """fail fails failed failing failure lack lacks lacking missing absent absence avoid except unless hardly refuse
    refuses refused impossible stop stops stopped cease unavailable undefined unsupported wrong inability incapable
    skip empty free error problem issue broken regardless unnecessary irrelevant unknown unspecified blocked too
    omit omits omitting forget remember denied"""
)

# "turn on", "log in": verbs that mean another thing with each of the particles.
PARTICLE_VERBS = _words("turn switch toggle power log sign set shut start zoom opt check back roll")
PARTICLES = _words("on off in out up down")
