"""Settings of the service: the command line, then `SLOTWISE_*` in the environment, then a TOML file."""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.service.schemas.definition import PlacementDefinition
from slotwise.service.schemas.name_rules import PlacementName
from slotwise.service.schemas.network_rules import is_loopback
from slotwise.service.schemas.validation_errors import faults

KIB, MIB = 1024, 1024 * 1024
#: the variable with the path of the file, for the workers that a server starts
CONFIG = "SLOTWISE_CONFIG"


def _path(path: str) -> str:
    path = path.rstrip("/")
    if not re.fullmatch(r"(/[\w.~-]+)*", path, re.ASCII) or {".", ".."} & {*path.split("/")}:
        raise ValueError("must be a path as in /slotwise, of letters, digits, and . _ ~ -")
    return path


def _networks(listed: str) -> str:
    for network in filter(None, listed.split(",")):
        try:
            ipaddress.ip_network(network.strip())
        except ValueError as problem:
            raise ValueError(f"must be addresses or networks separated by commas: {problem}") from None
    return listed


class Settings(BaseSettings):
    """The settings of `slotwise serve`, validated before the start."""

    model_config = SettingsConfigDict(env_prefix="SLOTWISE_", extra="forbid", env_ignore_empty=True)

    store: SecretStr = SecretStr("sqlite:///slotwise.db")
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    #: the API key of requests; without one, only this machine is served
    server_key: SecretStr | None = None
    #: a second API key, which can read everything and change nothing
    read_key: SecretStr | None = None
    #: the secret that messages to an `alert_url` are signed with; without one, no placement can have such a URL
    alert_secret: SecretStr | None = None
    #: whether an `alert_url` may be http on other machines: http on this machine, and https, always may be
    alert_http: bool = False
    #: concurrent connections per worker; further ones are rejected, or replace idle ones
    connections: Annotated[int, Field(ge=1, le=100_000)] = 1000
    #: timeout of an idle connection
    keep_alive_seconds: Annotated[int, Field(ge=1, le=3600)] = 5
    #: timeout and maximum size of a request's head
    header_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    header_bytes: Annotated[int, Field(ge=1024, le=1024 * 1024)] = 16 * 1024
    #: timeout of a body, and its maximum size: of an outcome or an item, a decision, a placement
    body_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    outcome_bytes: Annotated[int, Field(ge=1024, le=16 * MIB)] = 64 * KIB
    decision_bytes: Annotated[int, Field(ge=1024, le=64 * MIB)] = 4 * MIB
    placement_bytes: Annotated[int, Field(ge=1024, le=1024 * MIB)] = 32 * MIB
    #: timeout of a client that does not read its response
    send_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    #: timeout of waiting for a write, and of the write itself
    write_seconds: Annotated[float, Field(gt=0, le=60)] = 1.5
    #: timeout of a read from PostgreSQL, such as for estimates and history
    read_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    #: time for pending requests when the service stops
    drain_seconds: Annotated[int, Field(ge=1, le=600)] = 10
    #: the path of the service behind a proxy, as in /slotwise
    root_path: Annotated[str, AfterValidator(_path)] = ""
    #: addresses or networks, separated by commas, of proxies whose forwarding headers are trusted
    trusted_proxies: Annotated[str, AfterValidator(_networks)] = "127.0.0.1,::1"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    #: created at the start unless there are some of the same name
    placements: dict[PlacementName, PlacementDefinition] = {}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment takes precedence over the file, whose content is passed to the constructor."""
        return env_settings, init_settings

    @property
    def key(self) -> str | None:
        """The API key as text, or None."""
        return self.server_key.get_secret_value() if self.server_key else None

    @property
    def key_for_reading(self) -> str | None:
        """The API key that can only read, or None."""
        return self.read_key.get_secret_value() if self.read_key else None


def load(config: Path | None = None) -> Settings:
    """Read and validate the settings; errors name the setting, and never a secret."""
    path = config or (Path(os.environ[CONFIG]) if os.environ.get(CONFIG) else None)
    try:
        settings = Settings(**(_read(path) if path else {}))
    except ValidationError as problem:
        fault = faults(problem, whole="settings")[0]
        # only values that are no secrets: a mistyped key is a secret too
        harmless = fault["field"].partition(".")[0] in Settings.model_fields.keys() - {
            "store",
            "server_key",
            "read_key",
            "alert_secret",
        }
        got = f", got {fault['value']}" if "value" in fault and harmless else ""
        raise InvalidInput(f"setting {fault['field']}: {fault['detail']}{got}") from None
    _check_key(settings)
    return settings


def _read(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise UnreadableFile(f"there is no file {path}") from None
    except OSError as problem:
        raise UnreadableFile(f"{path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UnreadableFile(f"{path} is not TOML: {problem}") from None


def _check_key(settings: Settings) -> None:
    if settings.key is None:
        if settings.root_path:
            raise InvalidInput(
                f"root_path is {settings.root_path!r}, so a proxy passes on the requests of others: "
                "set SLOTWISE_SERVER_KEY"
            )
        if not is_loopback(settings.host):
            raise InvalidInput(
                f"host is {settings.host!r}, which others can reach: set SLOTWISE_SERVER_KEY, or serve 127.0.0.1"
            )
        if settings.read_key:
            raise InvalidInput("read_key is set without server_key: set SLOTWISE_SERVER_KEY too")
    elif settings.key == settings.key_for_reading:
        raise InvalidInput("read_key must differ from server_key")
    for name, key in (("server_key", settings.key), ("read_key", settings.key_for_reading)):
        if key is not None and (not key.isascii() or not key.isprintable() or " " in key):
            raise InvalidInput(f"{name} must be printable ASCII without spaces, because it is sent in a header")
