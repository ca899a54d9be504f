"""The evaluator's key: made once, given by file, and never guessed at."""

import stat
import subprocess

import pytest

from sirocco.errors import ConfigError
from sirocco.evidence.attestation import key_id
from sirocco.wiring.evaluator_key import default_key_file, public_key, signing_key

pytestmark = pytest.mark.requirement("SI-10")


def test_a_key_is_made_on_first_use_and_kept_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    first = key_id(signing_key(None).public_key())
    assert key_id(signing_key(None).public_key()) == first
    assert stat.S_IMODE(default_key_file().stat().st_mode) == 0o600
    assert key_id(public_key(default_key_file().with_suffix(".pub"))) == first
    assert key_id(public_key(default_key_file())) == first


def test_a_key_that_another_tool_made_is_taken(tmp_path):
    file = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", file], check=True, capture_output=True)
    assert key_id(signing_key(file).public_key()) == key_id(public_key(file))


def test_where_no_key_can_be_kept_the_run_is_signed_with_one_of_its_own_and_that_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    told: list[str] = []
    assert key_id(signing_key(None, told.append).public_key()) != key_id(signing_key(None).public_key())
    assert "no evaluator vouches for this run" in told[0]
    assert "--evaluator-key" in told[0]


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_an_error_that_says_what_to_do(tmp_path, content):
    file = tmp_path / "key.pem"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="openssl genpkey"):
        signing_key(file)
    with pytest.raises(ConfigError, match="Ed25519"):
        public_key(file)


def test_a_given_key_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        signing_key(tmp_path / "typo.pem")
    assert not (tmp_path / "typo.pem").exists()


def test_a_key_of_another_kind_is_refused(tmp_path):
    file = tmp_path / "rsa.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "X25519", "-out", file], check=True, capture_output=True)
    with pytest.raises(ConfigError, match="not an Ed25519 key"):
        signing_key(file)
