"""Who owns which field of an object: managed fields on every write, and server-side apply."""

from kubesim.fields.apply import apply_configuration, configuration
from kubesim.fields.custom import custom_type
from kubesim.fields.ownership import marked_as_unowned, update_owners

__all__ = ["apply_configuration", "configuration", "custom_type", "marked_as_unowned", "update_owners"]
