"""The certificate authority of a cluster, as old as the cluster, and the certificates of its server.

All of it is kept in memory only.
"""

import ipaddress
import secrets
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubesim.canonical import derived_seed

_AUTHORITY, _SERVER = "kubernetes", "kube-apiserver"
_INSIDE = (
    "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "10.96.0.1",
)  # fmt: skip
"""The names under which pods know the API server."""
_AUTHORITY_YEARS, _SERVER_YEARS = 10, 1
"""The validity of the certificates that kubeadm issues."""
_CLOCK_SKEW = timedelta(minutes=5)
_LEAST_DAYS = 45


@dataclass(frozen=True, slots=True)
class Identity:
    """A server's certificate and key with the authority that signed it, each as PEM text."""

    authority: str
    certificate: str
    key: str

    def context(self) -> ssl.SSLContext:
        """The server side of TLS with this identity."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # As Go's server does with HTTP/2 turned off; Go has no server that names no protocol at all.
        context.set_alpn_protocols(["http/1.1"])
        # The standard library loads keys only from files; the file is gone before the first connection.
        with tempfile.TemporaryDirectory() as folder:
            chain = Path(folder) / "chain.pem"
            chain.touch(mode=0o600)
            chain.write_text(self.certificate + self.key)
            context.load_cert_chain(chain)
        return context


@dataclass(frozen=True, slots=True)
class Authority:
    """A cluster's certificate authority; the same seed and founding give the same one, as old as the cluster."""

    certificate: str
    """As PEM text."""
    founded: datetime
    _key: ec.EllipticCurvePrivateKey = field(repr=False)

    @classmethod
    def from_seed(cls, seed: int, founding: str) -> "Authority":
        """The authority that a seed determines, made at a given time."""
        key = ec.derive_private_key(_scalar(seed, "authority"), ec.SECP256R1())
        founded = datetime.fromisoformat(founding).astimezone(UTC)
        public = key.public_key()
        certificate = (
            _builder(_AUTHORITY, public, founded, _AUTHORITY_YEARS, _scalar(seed, "serial") >> 193)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(_AUTHORITY)]), critical=False)
            .sign(key, hashes.SHA256(), ecdsa_deterministic=True)
        )
        return cls(_pem(certificate), founded, key)

    def issue(self, hosts: Sequence[str]) -> Identity:
        """A server's certificate for the given host names and addresses, and for those that pods use."""
        key = ec.generate_private_key(ec.SECP256R1())
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        names = [_alternative(host) for host in dict.fromkeys((*_INSIDE, *hosts))]
        certificate = (
            _builder(_SERVER, key.public_key(), self.founded, _SERVER_YEARS, x509.random_serial_number() >> 96)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(signer, critical=False)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        text = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return Identity(self.certificate, _pem(certificate), text.decode())


def issue_identity(hosts: Sequence[str], now: str) -> Identity:
    """A certificate for the given host names and addresses, by an authority of its own that is some weeks old."""
    seed = secrets.randbits(128)
    age = timedelta(days=_LEAST_DAYS + seed % _LEAST_DAYS, seconds=seed % 86_400)
    founded = datetime.fromisoformat(now).astimezone(UTC) - age
    return Authority.from_seed(seed, founded.isoformat(timespec="seconds")).issue(hosts)


def _scalar(seed: int, purpose: str) -> int:
    """A number from which a private key can be made: below the order of its curve, and not zero."""
    return (derived_seed(seed, purpose, "high") << 127 | derived_seed(seed, purpose, "low") >> 1) | 1


def _builder(
    subject: str, public_key: ec.EllipticCurvePublicKey, founded: datetime, years: int, serial: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(_AUTHORITY))
        .public_key(public_key)
        .serial_number(serial | 1)
        .not_valid_before(founded - _CLOCK_SKEW)
        .not_valid_after(founded + timedelta(days=365 * years))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=True, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs_certificates, crl_sign=False, encipher_only=False,
        decipher_only=False,
    )  # fmt: skip


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
