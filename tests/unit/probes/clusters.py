"""The engine's functions with the terms of Kubernetes, as most tests use them."""

from functools import partial

from sirocco.domains.kubernetes.probes.kit import KIT
from sirocco.domains.kubernetes.probes.naming import parsed_operation
from sirocco.domains.kubernetes.probes.terms import TERMS
from sirocco.probes.mutation import document, edits, rename, reword, splice, transplant

BY_NAME = KIT.by_name
OPERATORS = KIT.operators
VOCABULARY = TERMS.words
SURFACES = TERMS.surfaces
NAMES = TERMS.name_surfaces

entries = partial(document.entries, TERMS.naming)
names = partial(document.names, TERMS)
operations = partial(document.operations, parsed_operation)
patterns = partial(document.patterns, TERMS)
places = partial(document.places, TERMS)
rewritten = partial(document.rewritten, TERMS)
secret_values = partial(document.secret_values, TERMS.naming)
subjects = partial(document.subjects, TERMS)
texts = partial(document.texts, TERMS)

forbidding = partial(edits.forbidding, TERMS)
goal_object = partial(edits.goal_object, TERMS)
goal_operation = partial(edits.goal_operation, parsed_operation)
is_goal_said = partial(edits.is_goal_said, TERMS)
payload_number = partial(edits.payload_number, TERMS)
task_operations = partial(edits.task_operations, parsed_operation)

rename_document = partial(rename.rename, TERMS)
renameable = partial(rename.renameable, TERMS)
renaming = partial(rename.renaming, TERMS)
residue = partial(rename.residue, TERMS)
reword_document = partial(reword.reword, TERMS)
composed = partial(splice.composed, TERMS)
fits = partial(splice.fits, TERMS)
corroborated = partial(transplant.corroborated, TERMS)
possible_surfaces = partial(transplant.possible_surfaces, TERMS)
transplanted = partial(transplant.transplant, TERMS)


def words_of(taken: object = ()) -> reword.Words:
    """The vocabulary, and words that are taken by names."""
    return reword.Words(VOCABULARY, frozenset(taken))
