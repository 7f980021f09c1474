"""A token issuer of the test's own: it publishes keys over HTTP and signs what it is told to."""

from __future__ import annotations

import base64
import hmac
import json
import threading
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from jwt.warnings import InsecureKeyLengthWarning

ISSUER = "https://login.example.com"
AUDIENCE = "https://kb.example.com/mcp"
# What an issuer may publish beside the keys that we take: other kinds, and keys that are none.
OTHERS: list[Any] = [
    {"kty": "oct", "k": "c2VjcmV0", "kid": "shared"},
    {"kty": "new"},
    7,
    {"kty": ["RSA"]},
    {"kty": "RSA"},
    {"kty": "RSA", "n": 7, "e": []},
    {"kty": "RSA", "n": "", "e": ""},
    {"kty": "RSA", "n": "AQ", "e": "AQ"},
    {"kty": "RSA", "n": "AQAB", "e": "AQAB", "d": "AQAB"},
    {"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "none"},
    {"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": 7},
    {"kty": "EC", "crv": "P-256", "x": None, "y": {}},
    {"kty": "EC", "crv": "P-256", "x": "A" * 43, "y": "A" * 43},
    {"kty": "EC", "crv": "other", "x": "AA", "y": "AA"},
    {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
    {"kty": "OKP", "crv": "X25519", "x": "A" * 43},
    {"kty": "OKP", "crv": 7},
]
Private = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


class Key:
    """A private key and how it is published."""

    def __init__(self, key_id: str, algorithm: str = "ES256", *, bits: int = 2048) -> None:
        self.id, self.algorithm = key_id, algorithm
        self.private: Private
        if algorithm == "RS256":
            self.private = rsa.generate_private_key(65537, bits)
            published = RSAAlgorithm.to_jwk(self.private.public_key())
        elif algorithm == "ES256":
            self.private = ec.generate_private_key(ec.SECP256R1())
            published = ECAlgorithm.to_jwk(self.private.public_key())
        else:
            self.private = ed25519.Ed25519PrivateKey.generate()
            published = OKPAlgorithm.to_jwk(self.private.public_key())
        self.public: dict[str, Any] = {**json.loads(published), "kid": key_id, "use": "sig"}

    def sign(self, claims: dict[str, Any], **header: Any) -> str:
        with warnings.catch_warnings():
            # One key is too short on purpose.
            warnings.simplefilter("ignore", InsecureKeyLengthWarning)
            return jwt.encode(claims, self.private, self.algorithm, headers={"kid": self.id, **header})

    def sign_as_a_secret(self, claims: dict[str, Any]) -> str:
        """With the public key as a shared secret, which everybody knows: what careless servers take."""
        pem = self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        head = _part({"alg": "HS256", "typ": "JWT", "kid": self.id}) + "." + _part(claims)
        return f"{head}.{_encoded(hmac.digest(pem, head.encode(), 'sha256'))}"


def unsigned(claims: dict[str, Any], key_id: str) -> str:
    return f"{_part({'alg': 'none', 'kid': key_id})}.{_part(claims)}."


def claims(**changes: Any) -> dict[str, Any]:
    """What a good token says; None leaves a claim out."""
    now = int(time.time())
    made: dict[str, Any] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ana",
        # A day, for tests make tokens while they are collected and use them when it is their turn.
        "exp": now + 86_400,
        "iat": now,
        "scope": "openid harry:read",
    }
    return {name: value for name, value in (made | changes).items() if value is not None}


class Issuer:
    """What is published, how often it was fetched, and whether it answers."""

    def __init__(self, *keys: Key) -> None:
        self.keys = list(keys)
        self.down = False
        self.says: bytes | None = None
        self.headers: dict[str, str] = {}
        self.fetched = 0
        self.url = ""


@contextmanager
def published(issuer: Issuer) -> Generator[Issuer]:
    """The issuer's keys on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.fetched += 1
            # Issuers publish more than what we take.
            keys = {"keys": [*OTHERS, *(key.public for key in issuer.keys)]}
            body = json.dumps(keys).encode() if issuer.says is None else issuer.says
            self.send_response(500 if issuer.down else 302 if "Location" in issuer.headers else 200)
            for name, value in issuer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}/jwks"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield issuer
    server.shutdown()
    thread.join()
    server.server_close()


def _part(fields: dict[str, Any]) -> str:
    return _encoded(json.dumps(fields).encode())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
