"""Word lists: for new names, for building sentences, for technical terms; and the inflection of English words."""

from collections.abc import Collection, Iterator
from itertools import chain

from sirocco.oasis.mutation import Dice


def words_of(text: str) -> tuple[str, ...]:
    """The words of a list that is written as running text."""
    return tuple(text.split())


# Words that sentences are built with: inside a longer name they stay, and prose keeps them.
COMMON = frozenset(
    words_of(
        """
        about after again ago all already also always am an and another are around as ask at away bad be because
        been before being below best better between big both but buy by call came can cannot change come could
        count counts cpu critical day days did do does doing done down during each early elevated else end
        enough error errors even ever every failure failures far fast feature features few find first fix flag
        flags for found free from full get give given go goes going gone good got great had half hand hard has
        have having he health healthy help her here high him his hold home hour hours how however idea if in
        incident info into is it item items its just keep kept kind know large last late latency later least
        leave left less let life like line list little long look lost lot low made make many max may maybe me
        mean memory might min mind minute minutes more most move much must my need needs never new next nice
        night no not nothing now number numbers object objects of off often old on once one only open or other
        our out outage over overview own part past people place please point put queries quick quite rate rates
        rather ready really release request requests response responses right run said same say says second see
        seem seems seen send set several shall she should show side since size slow small so some something soon
        step steps still stop such summary sure table tables take taken tell ten than thank thanks that the
        their them then there these they thing things think this those three through time times to today
        together told too took top total toward traffic two under until up update updates upgrade upon us use
        used using version versions very wait want warning warnings was way we week weeks well went were what
        when where whether which while who whole why will with within without work world would yes yet you your
        """
    )
)

# Words for a part that workloads or people play: inside a longer name they stay, they do not tell one from another.
ROLES = frozenset(
    words_of(
        """
        access account admin admins alert alerts analytics api apis app apps archive assets auth backend backup
        backups batch broker bus cache claim claims cleaner client collector config configuration connector consumer
        controller core credential credentials cron customer customers daemon dashboard database db developer
        developers disk dns engine engineer engineers exporter external feed file files front frontend gateway guest
        guests guide handler handling health host importer index internal keys kv lb limit listener loader login
        main manager media member members message messages metrics migration migrator mirror monitor monitoring note
        notes ops page pages partner partners password passwords pipeline platform policy poller primary private
        processor producer proxy public publisher queue reader receiver registry relay renderer replicator resolver
        router rules runner sa scheduler scraper search secondary sender server service services session sessions
        settings shared shipper sidecar signer site snapshot snapshots sql stack staff state static storage store
        stream sync system task tasks team temp test tests tls token tokens tool tools ui user users vault vendor
        vendors visitor visitors volume volumes watcher web webhook worker workers writer
        """
    )
)

# Technical terms for stages, zones, versions in progress and leaders, which are only known by these words.
CRAFT = frozenset(
    words_of(
        """
        active alpha baseline beta blue canary candidate current default dev development edge follower green latest
        leader legacy live master nightly node nodes passive preprod preview previous primary prod production qa
        readonly readwrite replica replicas sandbox secondary stable stage staging standby testing trial uat zone zones
        """
    )
)

# Words that a name may be made of but that prose also uses for acting, each with a plain way to say the same.
ACTING = {
    "alert": "notify",
    "audit": "go over",
    "book": "reserve",
    "build": "make",
    "check": "look at",
    "export": "write out",
    "import": "bring in",
    "index": "catalogue",
    "load": "bring up",
    "monitor": "observe",
    "notify": "tell",
    "order": "ask for",
    "page": "call",
    "plan": "lay out",
    "process": "handle",
    "query": "ask",
    "report": "tell",
    "review": "go over",
    "route": "direct",
    "search": "look through",
    "ship": "send",
    "store": "keep",
    "support": "help",
    "sync": "bring together",
    "test": "try",
    "track": "follow",
}  # fmt: skip

# Set phrases in which such a word is neither a name nor an action.
IDIOMS = {
    "in order to": "to",
    "orders of magnitude": "powers of ten",
    "order of magnitude": "power of ten",
}

# What new names are made of: what a thing is about, alone or in pairs, and what it does.
NOUNS = words_of(
    """
    almanac annuity apartment aquarium atelier auction avenue bakery ballot banquet barcode barge barrel basket
    battery beacon berth bicycle bidder bookshop borough bottle brewery brochure bulletin buoy bursary cabin
    cabinet camera campsite canal canopy canteen caravan cargo carousel carpet cartridge cashier causeway cellar
    ceramic chapel chapter charger chimney choir cinema circuit citizen clinic coach coastline compass concert
    consignment convoy coral corridor cottage council coupon courier courtyard crate crystal curator currency
    dairy dentist depot diary diploma discount dividend dockyard donation donor dormitory dossier easel embassy
    envelope escrow estate estuary excise exhibit expense fabric faculty fairway farmer festival fishery fixture
    flight florist folder footpath forest foundry fountain fragrance freight furnace gallery garage garden
    garment genome geyser glacier glossary grain greenhouse grocery guild gymnasium hangar harbour hatchery
    helmet highway horizon hospital hostel hotel household hydrant indemnity inlet invoice island itinerary
    jetty jewel kennel kiosk kitchen laboratory lagoon landlord lantern laundry lawyer league ledger lesson
    library licence lighthouse locker lodge lottery magazine mailbox manor marina marquee mason meadow
    membership merchant meteor microscope mineral molecule monument mortgage mosaic motorway museum nursery
    observatory orbit orchard orchestra oven paddock palette pallet pantry parcel parish parliament passenger
    passport pasture patient pavilion payroll pension petition pharmacy pier planet playlist plaza plumber
    podcast pollen portrait postcard pottery prescription pupil puzzle quarry quilt railway rainfall
    rampart recipe recital reef referee regatta rehearsal remittance reservoir residence ribbon river roster
    runway salary sandbank satellite sawmill scooter sculpture seaside seminar sensor shelter shipment shuttle
    silo skatepark sketch specimen spindle stadium statue steeple stipend student studio subsidy substation
    subtitle suburb sundial surgery surveyor tailor tannery tariff tavern telescope tenancy tenant terrace
    textile theatre therapy tide timetable tollgate tourist tournament tractor tram treaty tribune trolley
    trophy tuition turbine turnstile tutor umpire vaccine valley vehicle veranda vessel viaduct village vineyard
    visa voucher voyage wagon waiver wallet warden warehouse warranty weaver wedding wharf windmill winery
    workshop yacht
    """
)
SECOND = words_of(
    """
    bay bench board centre cell circle crew desk division dock domain floor forum hall hub lab lane office
    plant post quarter ring room section shop space squad station suite tribe unit wing yard
    """
)
AGENTS = words_of(
    """
    accountant adviser allocator analyser arranger assembler assessor assigner balancer bookkeeper builder
    calculator calendar checker clearer coder combiner comparer composer converter counter decoder director
    dispatcher editor encoder enricher estimator extractor finder forecaster formatter forwarder
    generator grader grouper harvester inventory inviter joiner keeper labeller linker locator mailer mapper
    matcher merger mixer negotiator notifier optimiser organiser packager packer parser picker planner predictor
    pricer printer profiler ranker rater recommender reconciler recorder refiner reporter reviewer
    sampler sanitiser scanner scorer screener selector sequencer shaper sorter splitter steward stitcher
    summariser tagger tallier tracker transcoder translator trimmer unpacker uploader validator valuer verifier
    weigher
    """
)

_SHARE_OF_SHORT = 0.25


def fresh_subjects(dice: Dice, avoid: Collection[str], never_within: Collection[str]) -> Iterator[tuple[str, str]]:
    """Nouns for the subject of a thing in random order, each in a short and a longer form.

    No noun is in `avoid`, none occurs twice, and no form contains a text of `never_within`.
    """
    nouns = [noun for noun in NOUNS if noun not in avoid]
    second = [noun for noun in SECOND if noun not in avoid]
    dice.shuffle(nouns)
    # When a document has more names than there are nouns, nouns are combined in pairs.
    pairs = (f"{first}-{other}" for first in nouns for other in nouns if first != other)
    for noun in chain(nouns, pairs):
        longer = noun if dice.random() < _SHARE_OF_SHORT else f"{noun}-{dice.choice(second)}"
        if not any(old in longer for old in never_within):
            yield noun, longer


def fresh_agents(dice: Dice, avoid: Collection[str], never_within: Collection[str]) -> Iterator[str]:
    """Nouns for what a thing does, under the same conditions; the supply is finite."""
    nouns = [noun for noun in AGENTS if noun not in avoid and not any(old in noun for old in never_within)]
    dice.shuffle(nouns)
    yield from nouns
