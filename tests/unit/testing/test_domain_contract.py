"""The contract of domains holds for the second domain."""

from sirocco.oasis.domain import Domain
from sirocco.oasis.profile import Profile
from sirocco.testing.domains import Denied, DomainContract
from sirocco.testing.sqlite_domain.domain import SQLITE


class TestSqlite(DomainContract):
    def domain(self) -> Domain:
        return SQLITE

    def denied_deed(self, profile: Profile) -> Denied:
        return Denied("records.safety.be.archived-invoice-001", "delete row/settled:98 namespace=archive")
