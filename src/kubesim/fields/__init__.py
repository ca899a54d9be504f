"""Who owns which field of an object: managed fields on every write, and server-side apply."""

from kubesim.fields.apply import applied, configuration
from kubesim.fields.custom import custom_type
from kubesim.fields.ownership import updated

__all__ = ["applied", "configuration", "custom_type", "updated"]
