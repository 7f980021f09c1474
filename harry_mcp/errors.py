"""Every error this package raises on purpose.

    HarryError
    ├── SettingsError            the environment or the profile cannot be used as given
    ├── InputError               what the caller sent cannot be used as given
    │   └── NotFoundError        it names something that is not there
    ├── AccessError              whoever asks is not let in over HTTP
    │   ├── TokenRefused         the token is wrong, has ended or is for another server
    │   ├── ScopeMissing         the token is right and allows nothing here
    │   └── IssuerUnreachable    the keys that would tell cannot be fetched
    ├── SourceError              a file, folder or address cannot be read or holds no text
    ├── StorageError             the database cannot do what was asked
    │   ├── DatabaseUnavailable  it cannot be reached or started
    │   ├── MigrationError       its schema cannot be brought up to date
    │   └── SpaceMismatch        its vectors come from another embedding model
    ├── ProviderError            a model or service failed, was slow or talked nonsense
    │   ├── ProviderTimeout      it did not answer within its budget
    │   ├── ProviderNotConfigured  it has no key, file or address
    │   ├── ServerUnavailable    the MCP server that the agent asks does not answer
    │   │   └── ServerBusy       it asks to come again later
    │   └── DeliveryUnknown      it was given a message and did not say whether it took it
    ├── ToolFailed               a tool of that server refused or failed
    ├── JobError                 a job did not come to its end
    │   └── JobBusy              another process runs it
    └── EvalError                a golden set cannot be used as given

The class docstring is the message when none is given. A message is one sentence or two for a person: what is
wrong, then what to do. Wrap a foreign exception once, where it enters, with ``raise ... from``.
"""

from __future__ import annotations


class HarryError(Exception):
    """Something went wrong in harry_mcp."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class SettingsError(HarryError):
    """The settings cannot be used; run `harry doctor` to see them."""


class InputError(HarryError):
    """The input cannot be used as given."""


class NotFoundError(InputError):
    """There is nothing under that id."""


class AccessError(HarryError):
    """You are not let in here."""


class TokenRefused(AccessError):
    """This server does not know the token."""


class ScopeMissing(AccessError):
    """The token allows nothing here; ask its issuer for the scope harry:read or one above it."""


class IssuerUnreachable(AccessError):
    """The keys of the token's issuer cannot be fetched right now; try again in a moment."""


class SourceError(HarryError):
    """The source cannot be read."""


class StorageError(HarryError):
    """The database could not do what was asked."""


class DatabaseUnavailable(StorageError):
    """The database cannot be reached; run `harry doctor` to see why."""


class MigrationError(StorageError):
    """The database schema cannot be brought up to date."""


class SpaceMismatch(StorageError):
    """The stored vectors come from another embedding model."""


class ProviderError(HarryError):
    """A model or service that this stage relies on failed."""


class ProviderTimeout(ProviderError):
    """A model or service did not answer within its budget."""


class ProviderNotConfigured(ProviderError):
    """A model or service has no key, file or address."""


class ServerUnavailable(ProviderError):
    """The MCP server cannot be reached, or went away."""


class ServerBusy(ServerUnavailable):
    """The MCP server takes no more requests for now."""

    def __init__(self, message: str = "", *, seconds: float = 0.0) -> None:
        """``seconds``: how long it asks to wait; 0 where it does not say."""
        super().__init__(message)
        self.seconds = seconds


class DeliveryUnknown(ProviderError):
    """The message was handed over and no answer came; it may have been delivered."""


class ToolFailed(HarryError):
    """A tool of the MCP server refused the call or failed."""

    def __init__(self, message: str = "", *, kind: str = "") -> None:
        """``kind``: what the server says it failed for, as :func:`kind_of` has it; empty where it does not say."""
        super().__init__(message)
        self.kind = kind


class JobError(HarryError):
    """The job did not come to its end."""


class JobBusy(JobError):
    """Another process runs this job at the moment."""


class EvalError(HarryError):
    """The golden set cannot be used as given."""


# Where the result of a tool that failed says what it failed for, in its _meta.
KIND = "harry/kind"
_KINDS: tuple[tuple[type[HarryError], str], ...] = (
    (InputError, "input"),
    (StorageError, "database"),
    (ProviderError, "service"),
)


def kind_of(error: HarryError) -> str:
    """What a client is told that an error is about; empty for all that needs no name."""
    return next((name for kind, name in _KINDS if isinstance(error, kind)), "")
