"""deploy/nginx.conf in a real nginx, started by whoever runs the tests: a service under a path, with TLS."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from slotwise.client import Client as PythonClient
from tests.service.browser import needs_a_browser, opened
from tests.service.process import free_port
from tests.service.serving import Client, serving
from tests.test_example_site import site
from tests.waiting import FOR_EVER, wait_for

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "nginx.conf"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
KEY = "s3cret"
ROOT = "/slotwise"
FOR_A_KEY = {"Authorization": f"Bearer {KEY}"}

pytestmark = pytest.mark.skipif(
    NGINX is None or shutil.which("openssl") is None,
    reason="there is no nginx, or no openssl to make a certificate with: apt install nginx openssl",
)

#: around the file, which is meant to be included in a configuration
WHOLE = """
daemon off;
pid {folder}/pid;
error_log stderr;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {server}
}}
"""


@dataclass
class Proxy:
    """A running nginx."""

    plain: str
    secure: str
    certificate: Path

    def asking_from(self, address: str = "127.0.0.1") -> httpx.Client:
        """Somebody with that address on this machine who trusts the certificate."""
        trusting = ssl.create_default_context(cafile=str(self.certificate))
        transport = httpx.HTTPTransport(verify=trusting, local_address=address)
        return httpx.Client(transport=transport, base_url=self.secure, timeout=FOR_EVER)


@contextlib.contextmanager
def proxy(service: int, folder: Path, **changes: str) -> Iterator[Proxy]:
    """nginx with the file as it is, but for ports, the certificate's place, and what else is to be changed."""
    folder.mkdir()
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    names = "subjectAltName=DNS:shop.example,IP:127.0.0.1"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        [
            *made,
            "-days",
            "1",
            "-subj",
            "/CN=shop.example",
            "-addext",
            names,
            "-keyout",
            str(key),
            "-out",
            str(certificate),
        ],
        check=True,
        capture_output=True,
    )
    plain, secure = free_port(), free_port()
    server = CONFIGURATION.read_text()
    for text, instead in {
        "server 127.0.0.1:8000;": f"server 127.0.0.1:{service};",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{secure} ssl http2;",
        "/etc/ssl/certs/shop.example.pem": str(certificate),
        "/etc/ssl/private/shop.example.key": str(key),
        **changes,
    }.items():
        assert server.count(text) == 1, text
        server = server.replace(text, instead)
    # only root can become somebody else, who could not read these folders
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(WHOLE.format(folder=folder, server=server, user=user))
    with open(folder / "log", "wb") as log:
        running = subprocess.Popen(
            [str(NGINX), "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")], stdout=log, stderr=log
        )
    try:
        wait_for(lambda: running.poll() is not None or listens(secure), "nginx")
        assert running.poll() is None, (folder / "log").read_text()
        yield Proxy(f"http://127.0.0.1:{plain}", f"https://127.0.0.1:{secure}", certificate)
    finally:
        running.terminate()
        running.wait()


def listens(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    store = f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db"
    with serving(store, server_key=KEY, root_path=ROOT, headers=FOR_A_KEY) as client:
        yield client


@pytest.fixture(scope="module")
def nginx(service: Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxy(int(service.base_url.port or 0), tmp_path_factory.mktemp("nginx") / "nginx") as running:
        yield running


def test_a_decision_and_its_outcome_pass_through(nginx: Proxy, service: Client) -> None:
    names = ["b/c", "b//c", "ä ö", "%2F", "a?b#c", "+"]
    with nginx.asking_from() as client:
        client.headers.update(FOR_A_KEY)
        made = client.put(f"{ROOT}/v1/placements/through%20nginx", json={"slots": 2, "items": ["a", "z"]})
        assert made.status_code == 201, made.text
        for name in names:
            item = client.put(f"{ROOT}/v1/placements/through%20nginx/items/{quote(name, safe='')}", json={})
            assert item.json()["id"] == name
        decision = client.post(f"{ROOT}/v1/placements/through%20nginx/decisions", json={}).json()
        beacon = {"token": decision["token"], "clicked": decision["items"][0]}
        reported = client.post(f"{ROOT}/v1/outcomes", json=beacon, headers={"Authorization": ""})
        assert reported.json() == {"duplicate": False}
    assert service.estimates("through nginx")["decisions"]["reported"] == 1


def test_the_client_for_python_asks_through_it(nginx: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(nginx.certificate))
    with PythonClient(f"{nginx.secure}{ROOT}/", KEY, timeout=FOR_EVER) as client:
        client.put_placement("python", slots=1, items=["a", "b"])
        assert client.outcome(client.decide("python", key="once"), clicked=None) is False


def test_http_is_redirected_to_https(nginx: Proxy) -> None:
    answer = httpx.post(f"{nginx.plain}{ROOT}/v1/outcomes?a=b", headers={"Host": "shop.example"}, timeout=FOR_EVER)
    assert (answer.status_code, answer.headers["location"]) == (308, f"https://shop.example{ROOT}/v1/outcomes?a=b")
    with nginx.asking_from() as client:
        assert client.get(ROOT).headers["location"].endswith(f"{ROOT}/")
        assert client.get("/v1/placements", headers=FOR_A_KEY).status_code == 404


def test_the_service_sees_client_address_and_path(nginx: Proxy, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever they claim."""
    claimed = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"}
    with nginx.asking_from("127.0.0.2") as client, caplog.at_level(logging.WARNING, "slotwise.service"):
        headers = {"Host": "shop.example", "Authorization": "Bearer wrong", **claimed}
        assert client.get(f"{ROOT}/v1/placements", headers=headers).status_code == 401
    (logged,) = [record.__dict__ for record in caplog.records if record.message == "wrong key"]
    seen = {name: logged[name] for name in ("client", "scheme", "host", "path")}
    assert seen == {"client": "127.0.0.2", "scheme": "https", "host": "shop.example", "path": "/v1/placements"}


def test_strangers_reach_only_the_routes_that_visitors_need(service: Client, tmp_path: Path) -> None:
    port = int(service.base_url.port or 0)
    changes = {"allow 127.0.0.0/8;": "allow 127.0.0.1;"}
    with proxy(port, tmp_path / "nginx", **changes) as narrow, narrow.asking_from("127.0.0.2") as stranger:
        assert stranger.get(f"{ROOT}/slotwise.js").status_code == 200
        # a token that is none
        assert stranger.post(f"{ROOT}/v1/outcomes", json={"token": "x", "clicked": None}).status_code == 403
        for path in ("/", "/docs", "/metrics", "/v1/placements", "/v1/outcomes/", "/slotwise.js/"):
            refused = stranger.get(f"{ROOT}{path}", headers=FOR_A_KEY)
            assert (refused.status_code, "nginx" in refused.text) == (403, True), path
        with narrow.asking_from("127.0.0.1") as own:
            assert own.get(f"{ROOT}/v1/placements", headers=FOR_A_KEY).status_code == 200


def test_the_service_itself_rejects_large_bodies(nginx: Proxy) -> None:
    with nginx.asking_from() as client:
        client.put(f"{ROOT}/v1/placements/large", json={"slots": 1, "items": ["a"]}, headers=FOR_A_KEY)
        large = json.dumps({"exclude": ["x" * 5_000_000]})
        answer = client.post(f"{ROOT}/v1/placements/large/decisions", content=large, headers=FOR_A_KEY)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")


@needs_a_browser
def test_pages_work_under_the_path(nginx: Proxy, service: Client, tmp_path: Path) -> None:
    service.define("päge 1")
    with opened(tmp_path / "browser") as tab:
        # signed by nobody that a browser knows
        tab.call("Security.setIgnoreCertificateErrors", ignore=True)
        tab.open(f"{nginx.secure}{ROOT}/")
        tab.wait_for("document.querySelector('form input[type=password]') !== null")
        tab.run(f"document.querySelector('form input[type=password]').value = {json.dumps(KEY)}")
        tab.run("document.querySelector('form [type=submit]').click()")
        link = f"document.querySelector('a[href^=\"{ROOT}/placements/p%C3%A4ge%201\"]')"
        tab.wait_for(f"{link} !== null")
        tab.run(f"{link}.click()")
        tab.wait_for("document.title.startsWith('päge 1')")
        tab.wait_for("document.getElementById('main').innerText.includes('a')")
        tab.open(f"{nginx.secure}{ROOT}/docs")
        tab.run(f"document.getElementById('key').value = {json.dumps(KEY)}")
        form = "document.querySelector('form[data-method=GET][data-path=\"/v1/placements\"]')"
        tab.run(f"{form}.querySelector('[type=submit]').click()")
        tab.wait_for(f"{form}.querySelector('.answer').textContent.includes('päge 1')")
        asked = [address for address in tab.requests if address.startswith("http")]
    assert asked
    outside = [address for address in asked if not address.startswith(f"{nginx.secure}{ROOT}/")]
    # which a browser asks for by itself where a page names none
    assert [address for address in outside if not address.endswith("/favicon.ico")] == []


@needs_a_browser
def test_a_site_reports_through_it_from_the_browser(nginx: Proxy, service: Client, tmp_path: Path) -> None:
    """The site asks the service itself; its page has the script, and reports, where the proxy has the service."""
    service.delete("/v1/placements/drinks", params={"confirm": "drinks"})
    told = {"SLOTWISE_SERVER_KEY": KEY, "SLOTWISE_PUBLIC_URL": f"{nginx.secure}{ROOT}/"}
    with site(str(service.base_url).rstrip("/"), **told) as address, opened(tmp_path / "browser") as tab:
        tab.call("Security.setIgnoreCertificateErrors", ignore=True)
        tab.open(f"{address}/")
        tab.wait_for("typeof slotwise === 'object'")
        tab.run("document.querySelector('[data-item]').click()")
        wait_for(lambda: service.estimates("drinks")["decisions"]["reported"] == 1, "the click")
        assert f"{nginx.secure}{ROOT}/slotwise.js" in tab.requests
        assert f"{nginx.secure}{ROOT}/v1/outcomes" in tab.requests
