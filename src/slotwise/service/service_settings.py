"""Settings: the command line, then `SLOTWISE_*` in the environment, then a TOML file; all checked before the start."""

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
from slotwise.service.schemas.validation_errors import faults

KIB, MIB = 1024, 1024 * 1024
#: where the file is, for the workers that a server starts
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
            raise ValueError(f"must be addresses or networks with commas between them: {problem}") from None
    return listed


class Settings(BaseSettings):
    """What `slotwise serve` needs to know."""

    model_config = SettingsConfigDict(env_prefix="SLOTWISE_", extra="forbid", env_ignore_empty=True)

    store: SecretStr = SecretStr("sqlite:///slotwise.db")
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    #: what requests must carry; without one, only this machine is served
    server_key: SecretStr | None = None
    #: at the same time, per worker; more are refused, or take the place of those that ask for nothing
    connections: Annotated[int, Field(ge=1, le=100_000)] = 1000
    #: how long a connection may be silent between two requests
    keep_alive_seconds: Annotated[int, Field(ge=1, le=3600)] = 5
    #: of a request before its body: how long it may take, and how large it may be
    header_seconds: Annotated[float, Field(gt=0, le=3600)] = 10.0
    header_bytes: Annotated[int, Field(ge=1024, le=1024 * 1024)] = 16 * 1024
    #: how long a body may take; and how large it may be, of an outcome or an item, a decision, a placement
    body_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    outcome_bytes: Annotated[int, Field(ge=1024, le=16 * MIB)] = 64 * KIB
    decision_bytes: Annotated[int, Field(ge=1024, le=64 * MIB)] = 4 * MIB
    placement_bytes: Annotated[int, Field(ge=1024, le=1024 * MIB)] = 32 * MIB
    #: how long an answer may find nobody who reads it
    send_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    #: how long what is to be written may wait for its turn, and then how long writing it may take
    write_seconds: Annotated[float, Field(gt=0, le=60)] = 1.5
    #: how long reading from PostgreSQL may take, as for estimates and history
    read_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    #: for the requests that are being answered when the service is told to stop
    drain_seconds: Annotated[int, Field(ge=1, le=600)] = 10
    #: the path that a proxy has the service under, as in /slotwise
    root_path: Annotated[str, AfterValidator(_path)] = ""
    #: addresses or networks, with commas, of the proxies that are believed about whom they ask for
    trusted_proxies: Annotated[str, AfterValidator(_networks)] = "127.0.0.1,::1"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    #: made at the start where there are none of that name
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
        """The environment before the file, whose content is what the class is made with."""
        return env_settings, init_settings

    @property
    def key(self) -> str | None:
        """The key, for whoever has to compare it."""
        return self.server_key.get_secret_value() if self.server_key else None


def load(config: Path | None = None) -> Settings:
    """Read and check; what is wrong is named, and secrets are not."""
    path = config or (Path(os.environ[CONFIG]) if os.environ.get(CONFIG) else None)
    try:
        settings = Settings(**(_read(path) if path else {}))
    except ValidationError as problem:
        fault = faults(problem, whole="settings")[0]
        # only what cannot be a secret: a key that is mistyped is one all the same
        harmless = fault["field"].partition(".")[0] in Settings.model_fields.keys() - {"store", "server_key"}
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
                f"root_path is {settings.root_path!r}, so there is a proxy that passes on what others ask: "
                "set SLOTWISE_SERVER_KEY"
            )
        if not is_loopback(settings.host):
            raise InvalidInput(
                f"host is {settings.host!r}, which others can reach: set SLOTWISE_SERVER_KEY, or serve 127.0.0.1"
            )
    elif not settings.key.isascii() or not settings.key.isprintable() or " " in settings.key:
        raise InvalidInput("server_key must be printable ASCII without spaces, as it travels in a header")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
