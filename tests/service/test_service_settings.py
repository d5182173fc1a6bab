from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pydantic import SecretStr

from slotwise.core.errors import InvalidInput, UnreadableFile
from slotwise.service.service_settings import Settings, load


def test_settings_come_from_file_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "serve.toml"
    config.write_text('port = 9000\nhost = "127.0.0.2"\nworkers = 2\n[placements.demo]\nslots = 1\nitems = ["a"]\n')
    monkeypatch.setenv("SLOTWISE_PORT", "9001")
    settings = load(config)
    assert (settings.port, settings.host, settings.workers) == (9001, "127.0.0.2", 2)
    assert settings.placements["demo"].slots == 1


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("port = 70000", "port"),
        ('port = "many"', "port"),
        ("workers = 0", "workers"),
        ("colour = 1", "colour"),
        ('host = "0.0.0.0"', "SLOTWISE_SERVER_KEY"),
        ('server_key = "two words secret"', "server_key"),
        ("server_key = 7", "server_key"),
        ('server_key = "k"\nread_key = "two words secret"', "read_key"),
        ('read_key = "secret"', "SLOTWISE_SERVER_KEY"),
        ('server_key = "secret"\nread_key = "secret"', "differ"),
        ('log_level = "loud"', "log_level"),
        ('root_path = "slotwise"', "root_path"),
        ('root_path = "/a/../b"', "/a/../b"),
        ('root_path = "/a b"', "root_path"),
        ('root_path = "//host"', "root_path"),
        ('root_path = "/slotwise"', "SLOTWISE_SERVER_KEY"),
        ('trusted_proxies = "10.0.0.1, proxy"', "'proxy' does not appear to be"),
        ('trusted_proxies = "*"', "trusted_proxies"),
        ("decision_bytes = 10", "decision_bytes"),
        ("read_seconds = 0", "read_seconds"),
        ("write_seconds = -1.5", "write_seconds"),
        ("drain_seconds = 0.5", "drain_seconds"),
        ("[placements.demo]\nslots = 0\nitems = []", "placements.demo.slots"),
        ('[placements."a\\nb"]\nslots = 1\nitems = ["a"]', "control"),
    ],
)
def test_settings_that_cannot_be_are_named_and_secrets_are_not(tmp_path: Path, text: str, word: str) -> None:
    config = tmp_path / "serve.toml"
    config.write_text(text)
    with pytest.raises(InvalidInput) as refused:
        load(config)
    assert word in str(refused.value)
    assert "secret" not in str(refused.value)


def test_all_settings_are_in_the_file_that_is_shown_with_their_defaults() -> None:
    text = (Path(__file__).parents[2] / "docs" / "serve.toml").read_text()
    shown = tomllib.loads(text)
    for name, field in Settings.model_fields.items():
        if name in ("server_key", "read_key", "alert_secret"):
            assert f"# {name} = " in text
        elif name == "store":
            assert shown[name] == field.default.get_secret_value()
        elif name != "placements":
            assert shown[name] == field.default, name


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no file"):
        load(tmp_path / "absent.toml")
    (tmp_path / "bad.toml").write_text("port = ")
    with pytest.raises(UnreadableFile, match="not TOML"):
        load(tmp_path / "bad.toml")


def test_secrets_are_not_printed() -> None:
    settings = Settings(server_key=SecretStr("hush"), store=SecretStr("postgresql://me:hush@x/y"))
    assert "hush" not in repr(settings) + str(settings)


@pytest.mark.parametrize("text", ['server-key = "HUNTER2"', 'api_key = "HUNTER2"', '[server]\nkey = "HUNTER2"'])
def test_a_key_by_another_name_is_not_printed(tmp_path: Path, text: str) -> None:
    (tmp_path / "serve.toml").write_text(text)
    with pytest.raises(InvalidInput, match="Extra inputs are not permitted") as caught:
        load(tmp_path / "serve.toml")
    assert "HUNTER2" not in str(caught.value)


@pytest.mark.parametrize(("given", "meant"), [("/shop/slotwise/", "/shop/slotwise"), ("/", ""), ("", "")])
def test_a_path_may_end_in_a_slash(tmp_path: Path, given: str, meant: str) -> None:
    (tmp_path / "serve.toml").write_text(f'server_key = "k"\nroot_path = "{given}"')
    assert load(tmp_path / "serve.toml").root_path == meant
