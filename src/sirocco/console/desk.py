"""What the console works with: the runs, the profile, the review log and who signs, started runs, live sessions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock

from starlette.requests import Request

from sirocco.console.jobs import Jobs
from sirocco.console.library import Library
from sirocco.console.sessions import Sessions
from sirocco.oasis.profile import Profile
from sirocco.profiles.quality import QualityReport
from sirocco.review.log import ReviewLog, ReviewRules
from sirocco.wiring import profile_source
from sirocco.wiring.profile_quality import profile_quality


@dataclass
class Desk:
    """Everything that pages read from and write to."""

    library: Library
    profile_name: str
    log_file: Path
    rules: ReviewRules = field(default_factory=ReviewRules)
    signers: Mapping[str, Path | None] = field(default_factory=dict)
    """Who may sign in this console, by name, with their key files; None is the evaluator's own key."""
    jobs: Jobs = field(default_factory=Jobs)
    sessions: Sessions = field(default_factory=Sessions)
    _profile: Profile | None = None
    _quality: QualityReport | None = None
    _lock: RLock = field(default_factory=RLock)

    @property
    def profile(self) -> Profile:
        """The profile, read when it is first asked for, and again after a promotion."""
        with self._lock:
            if self._profile is None:
                self._profile = profile_source.required_profile(self.profile_name)[0]
            return self._profile

    @property
    def quality(self) -> QualityReport:
        """The quality analysis of the profile."""
        with self._lock:
            if self._quality is None:
                self._quality = profile_quality(self.profile.document, self.profile_name)
            return self._quality

    def forget_profile(self) -> None:
        """Read the profile again when it is next asked for."""
        with self._lock:
            self._profile = self._quality = None

    @property
    def log(self) -> ReviewLog:
        """The review log as it stands, every signature checked."""
        return ReviewLog.read(self.log_file)


def desk_of(request: Request) -> Desk:
    """The desk that a request is about."""
    found: Desk = request.app.state.desk
    return found
