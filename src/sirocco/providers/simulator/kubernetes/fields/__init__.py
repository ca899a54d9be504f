"""Who owns which field of an object: managed fields on every write, and server-side apply."""

from sirocco.providers.simulator.kubernetes.fields.apply import applied, configuration
from sirocco.providers.simulator.kubernetes.fields.custom import custom_type
from sirocco.providers.simulator.kubernetes.fields.ownership import updated

__all__ = ["applied", "configuration", "custom_type", "updated"]
