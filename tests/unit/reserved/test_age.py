"""age keys and encryption."""

import shutil
import subprocess

import pytest

from sirocco.errors import ReservedError
from sirocco.reserved.age import decrypt_bytes, encrypt_bytes, keygen, read_identities

PLAINTEXT = "Kaffee für drei".encode()
AGE = shutil.which("age")
needs_age = pytest.mark.skipif(AGE is None, reason="the age program is not installed")


@pytest.mark.parametrize("armored", [True, False])
def test_what_is_encrypted_to_several_recipients_opens_for_each_of_them_alone(armored):
    pairs = [keygen(), keygen(), keygen()]
    ciphertext = encrypt_bytes(PLAINTEXT, [pair.recipient for pair in pairs], armored=armored)
    assert [decrypt_bytes(ciphertext, [pair], "file") for pair in pairs] == [PLAINTEXT] * 3
    assert ciphertext.isascii() is armored


def test_one_of_several_identities_is_enough():
    pair = keygen()
    assert (
        decrypt_bytes(encrypt_bytes(PLAINTEXT, [pair.recipient], armored=True), [keygen(), pair], "file") == PLAINTEXT
    )


def test_without_the_right_identity_nothing_opens():
    ciphertext = encrypt_bytes(PLAINTEXT, [keygen().recipient], armored=True)
    for identities in ([], [keygen()], [keygen(), keygen()]):
        with pytest.raises(ReservedError, match="vault/x: no given identity opens it"):
            decrypt_bytes(ciphertext, identities, "vault/x")


def test_no_byte_of_the_binary_form_can_change_unnoticed():
    pair = keygen()
    ciphertext = encrypt_bytes(PLAINTEXT, [pair.recipient], armored=False)
    for position in range(len(ciphertext)):
        changed = bytearray(ciphertext)
        changed[position] ^= 1
        with pytest.raises(ReservedError):
            decrypt_bytes(bytes(changed), [pair], "file")


def test_a_key_file_reads_back_with_comments_blank_lines_and_several_identities():
    first, second = keygen(), keygen()
    text = f"# made for the audit\n\n{first.identity_text}\r\n  {second.secret}  \n"
    assert read_identities(text, "key") == (first, second)


def test_the_secret_is_in_the_key_file_and_in_no_representation():
    pair = keygen()
    assert pair.secret in pair.identity_text
    assert pair.recipient in repr(pair)
    assert pair.secret not in repr(pair) + str(pair) + f"{[pair]}"


def test_a_damaged_key_file_is_refused_by_line_without_quoting_it(everything_said):
    pair = keygen()
    damaged = pair.secret[:-1]
    with pytest.raises(ReservedError, match=r"my\.key:2: this is not an age X25519 identity") as caught:
        read_identities(f"# public key: {pair.recipient}\n{damaged}\n", "my.key")
    assert damaged[20:] not in everything_said(caught.value)


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n"])
def test_a_key_file_without_an_identity_is_refused(text):
    with pytest.raises(ReservedError, match="no identity"):
        read_identities(text, "my.key")


def test_a_secret_given_as_a_recipient_is_refused_and_not_repeated(everything_said):
    pair = keygen()
    with pytest.raises(ReservedError, match="recipient 2: this is not an age X25519 recipient") as caught:
        encrypt_bytes(PLAINTEXT, [pair.recipient, pair.secret], armored=True)
    assert pair.secret[:30] not in everything_said(caught.value)


def test_encrypting_to_nobody_is_refused():
    with pytest.raises(ReservedError, match="no recipient"):
        encrypt_bytes(PLAINTEXT, [], armored=True)


@needs_age
@pytest.mark.parametrize("armored", [True, False])
def test_the_age_program_opens_what_we_encrypt(armored, tmp_path):
    pair = keygen()
    key = tmp_path / "key"
    key.write_text(pair.identity_text)
    ciphertext = encrypt_bytes(PLAINTEXT, [keygen().recipient, pair.recipient], armored=armored)
    opened = subprocess.run([AGE, "--decrypt", "-i", str(key)], input=ciphertext, capture_output=True, check=True)
    assert opened.stdout == PLAINTEXT


@needs_age
@pytest.mark.parametrize("armour", [["--armor"], []])
def test_we_open_what_the_age_program_encrypts(armour):
    pair = keygen()
    command = [AGE, "--encrypt", *armour, "-r", pair.recipient]
    sealed = subprocess.run(command, input=PLAINTEXT, capture_output=True, check=True)
    assert decrypt_bytes(sealed.stdout, [pair], "file") == PLAINTEXT
