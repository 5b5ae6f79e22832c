"""The files under deploy/ and the Dockerfile: what they start is what the server takes, and they keep it confined."""

import configparser
import contextlib
import importlib.util
import plistlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from release.project import ROOT, project
from tests.cli.running import Listening, listening, run

ABOUT = project()
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "systemd/qortal-mcp.service"
PROGRAM = "/opt/qortal-mcp/bin/qortal-mcp"
TOKEN = "a-token-of-these-tests"
# Of 10, as `systemd-analyze security` counts; an ordinary unit has 9.6.
MOST_EXPOSED = 2.0


class _Repeated(dict[str, Any]):
    """Keeps every value of a key that is given several times, as systemd does."""

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list) and key in self:
            self[key].extend(value)
        else:
            super().__setitem__(key, value)


def unit() -> configparser.RawConfigParser:
    found = configparser.RawConfigParser(strict=False, dict_type=_Repeated, comment_prefixes=("#",))
    found.optionxform = str  # type: ignore[assignment,method-assign]
    found.read_string(UNIT.read_text())
    return found


def test_the_unit_runs_as_an_ordinary_user_that_can_write_nowhere() -> None:
    service = unit()["Service"]
    assert service["Type"] == "notify"
    assert service["User"] not in ("", "root")
    assert f"u {service['User']} -" in (DEPLOY / "systemd/qortal-mcp.sysusers.conf").read_text()
    assert (service["NoNewPrivileges"], service["ProtectSystem"]) == ("yes", "strict")
    assert service["CapabilityBoundingSet"] == ""
    assert "ReadWritePaths" not in service
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"


@pytest.fixture
def installed_unit(tmp_path: Path) -> Path:
    """The unit with a program that exists here, and its socket beside it."""
    file = tmp_path / UNIT.name
    file.write_text(UNIT.read_text().replace(PROGRAM, sys.executable))
    shutil.copy(UNIT.with_suffix(".socket"), tmp_path)
    return file


def analyzed(*words: str) -> str:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("needs systemd-analyze, of the package systemd")
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("kind", [".service", ".socket"])
def test_systemd_accepts_the_units(installed_unit: Path, kind: str) -> None:
    assert analyzed("verify", str(installed_unit.with_suffix(kind))).strip() == ""


def test_systemd_counts_the_unit_as_confined(installed_unit: Path) -> None:
    told = analyzed("security", "--offline=true", "--no-pager", str(installed_unit))
    found = re.search(r"exposure level for \S+: ([\d.]+)", told)
    assert found
    assert float(found.group(1)) <= MOST_EXPOSED


def started_by() -> dict[str, list[str]]:
    """The words after the program, by the file that has them."""
    plist = plistlib.loads((DEPLOY / "launchd/qortal-mcp.plist").read_bytes())
    return {
        "systemd": unit()["Service"]["ExecStart"].split(),
        "launchd": plist["ProgramArguments"],
        "kubernetes": [PROGRAM, *container()["args"]],
    }


@pytest.mark.parametrize("where", ["systemd", "launchd", "kubernetes"])
def test_what_is_started_is_a_command_that_reads_a_settings_file(where: str) -> None:
    program, command, flag, file = started_by()[where]
    assert (program, command, flag) == (PROGRAM, "serve", "--config")
    assert file.endswith("/qortal-mcp/config.toml")
    assert "--config FILE" in run("serve", "--help").out


def test_the_settings_file_to_begin_with_is_accepted() -> None:
    with listening("serve", "--sample", "--config", str(DEPLOY / "config.toml")) as server:
        assert server.ask("/healthz")[0] == 200


def test_the_settings_that_are_commented_out_are_accepted_too(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    text = (DEPLOY / "config.toml").read_text()
    opened = re.sub(r"^# (?=[a-z-]+ = )", "", text.replace('listen = "127.0.0.1:8000"\n', ""), flags=re.M)
    file = tmp_path / "config.toml"
    file.write_text(opened.replace("/etc/qortal-mcp/token", str(token)))
    assert "token-file" in opened
    with listening("serve", "--sample", "--config", str(file)) as server:
        assert server.ask("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})[0] == 200


def manifests() -> dict[str, Any]:
    """The objects of the Kubernetes file by their kind."""
    found = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    return {one["kind"]: one for one in found}


def pod() -> Any:
    return manifests()["Deployment"]["spec"]["template"]["spec"]


def container() -> Any:
    (found,) = pod()["containers"]
    return found


def test_the_pods_are_confined_and_bounded() -> None:
    assert pod()["securityContext"]["runAsNonRoot"] is True
    assert pod()["automountServiceAccountToken"] is False
    confined = container()["securityContext"]
    assert confined["readOnlyRootFilesystem"] is True
    assert confined["allowPrivilegeEscalation"] is False
    assert confined["capabilities"] == {"drop": ["ALL"]}
    assert set(container()["resources"]["limits"]) == {"cpu", "memory"}
    assert all(mount["readOnly"] for mount in container()["volumeMounts"])
    mounted = {mount["name"] for mount in container()["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod()["volumes"]}


def test_the_service_the_budget_and_the_deployment_mean_the_same_pods() -> None:
    labels = manifests()["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert manifests()["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert manifests()["Service"]["spec"]["selector"] == labels
    assert manifests()["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    (port,) = container()["ports"]
    assert manifests()["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]


@contextlib.contextmanager
def at_the_address_of_a_pod(*words: str) -> Iterator[Listening]:
    """A server at an address that is none of the names of this machine, where the system has one."""
    host = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"
    server = Listening((*words, "--listen", f"{host}:0"), None)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def pods_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Listening, Path]]:
    """A server with the settings of the pods, on the sample chain."""
    folder = tmp_path_factory.mktemp("pod")
    (folder / "token").write_text(TOKEN + "\n")
    text = manifests()["ConfigMap"]["data"]["config.toml"]
    (folder / "config.toml").write_text(text.replace("/etc/qortal-mcp-token", str(folder)))
    with at_the_address_of_a_pod("serve", "--sample", "--config", str(folder / "config.toml")) as server:
        yield server, folder


@pytest.mark.parametrize("probe", ["startupProbe", "livenessProbe"])
def test_the_probes_by_http_get_an_answer_without_a_token(
    pods_server: tuple[Listening, Path], probe: str
) -> None:
    asked = container()[probe]["httpGet"]
    server, _ = pods_server
    # As Host, a probe sends the address of the pod, which no setting could allow beforehand.
    assert asked.keys() == {"path", "port"}
    assert server.ask(asked["path"])[0] == 200
    assert server.ask(asked["path"], headers={"Host": "10.1.2.3:8000"})[0] == 421


def test_the_readiness_probe_tells_ready_from_not_ready(pods_server: tuple[Listening, Path]) -> None:
    server, folder = pods_server
    program, flag, code = container()["readinessProbe"]["exec"]["command"]
    assert (program, flag) == ("python", "-c")
    here = code.replace("http://127.0.0.1:8000", server.url.removesuffix("/mcp"))
    here = here.replace("/etc/qortal-mcp-token", str(folder))
    assert subprocess.run([sys.executable, "-c", here], timeout=60).returncode == 0
    without = here.replace("/readyz", "/nowhere")
    assert subprocess.run([sys.executable, "-c", without], timeout=60, capture_output=True).returncode != 0


def composed() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_the_compose_file_builds_the_image_and_gives_it_the_token() -> None:
    service = composed()["services"]["qortal-mcp"]
    assert service["user"] == dockerfile()["USER"]
    assert (DEPLOY / service["build"] / "Dockerfile").is_file()
    assert service["secrets"] == list(composed()["secrets"])


@pytest.fixture(scope="module")
def composed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    """A server with the variables of the compose file, on the sample chain and without the store."""
    token = tmp_path_factory.mktemp("composed") / "token"
    token.write_text(TOKEN)
    told = composed()["services"]["qortal-mcp"]["environment"]
    given = {name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", value) for name, value in told.items()}
    given["QORTAL_MCP_TOKEN_FILE"] = str(token)
    given.pop("QORTAL_MCP_NODE")  # the sample chain is the node here
    given.pop("QORTAL_MCP_CACHE")
    with listening("serve", "--sample", env=given) as server:
        yield server


def test_the_variables_of_the_compose_file_are_settings(composed_server: Listening) -> None:
    assert composed_server.ask("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})[0] == 200


def test_prometheus_of_the_compose_file_may_read_the_metrics(composed_server: Listening) -> None:
    services = composed()["services"]
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yaml").read_text())
    (job,) = config["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    headers = {"Host": target, "Authorization": f"Bearer {TOKEN}"}
    assert composed_server.ask("/metrics", headers=headers)[0] == 200
    name, _, port = target.partition(":")
    assert services[name]["command"][-1].endswith(f":{port}")
    assert job["authorization"]["credentials_file"] == "/run/secrets/token"
    assert services["prometheus"]["secrets"] == ["token"]
    # Its folder is where the files say they are.
    folder = services["prometheus"]["volumes"][0].split(":")
    assert (DEPLOY / folder[0], folder[1]) == (DEPLOY / "./prometheus", "/etc/prometheus")
    assert all((DEPLOY / "prometheus" / Path(file).name).is_file() for file in config["rule_files"])
    assert set(services["prometheus"]["networks"]) & set(services["qortal-mcp"]["networks"])


def test_grafana_of_the_compose_file_finds_prometheus_and_the_dashboard() -> None:
    grafana = composed()["services"]["grafana"]
    mounted = dict(volume.split(":")[1::-1] for volume in grafana["volumes"])
    assert all((DEPLOY / file).is_file() for file in mounted.values())
    (source,) = yaml.safe_load((DEPLOY / "grafana/datasource.yaml").read_text())["datasources"]
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    (provider,) = yaml.safe_load((DEPLOY / "grafana/dashboards.yaml").read_text())["providers"]
    board = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert board in mounted
    assert str(Path(board).parent) == provider["options"]["path"]
    assert all(port.startswith("127.0.0.1:") for port in grafana["ports"])


@pytest.mark.parametrize("name", ["qortal-mcp", "valkey", "prometheus", "grafana"])
def test_every_service_of_the_compose_file_is_confined_and_bounded(name: str) -> None:
    service = composed()["services"][name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["user"].partition(":")[0]) > 0
    assert all(service[bound] for bound in ("mem_limit", "cpus", "pids_limit"))


def dockerfile() -> dict[str, str]:
    """The instructions of the last stage; of those that come several times, the last."""
    last = (ROOT / "Dockerfile").read_text().rpartition("FROM ")[2]
    lines = [line for line in last.splitlines()[1:] if line and not line.startswith("#")]
    return {word: rest for word, _, rest in (line.partition(" ") for line in lines)}


def test_the_image_names_the_server_and_runs_as_nobody() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert f'LABEL io.modelcontextprotocol.server.name="{ABOUT.registry_name}"' in text
    assert f'LABEL org.opencontainers.image.source="{ABOUT.repository}"' in text
    assert int(dockerfile()["USER"].partition(":")[0]) > 0
    assert pod()["securityContext"]["runAsUser"] == int(dockerfile()["USER"].partition(":")[0])


def test_the_steps_of_the_image_need_only_what_is_sent_to_the_builder() -> None:
    """`.ci/image.py` takes them; here is what it goes by."""
    spec = importlib.util.spec_from_file_location("image", ROOT / ".ci/image.py")
    assert spec is not None
    assert spec.loader is not None
    image = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(image)
    steps = image.steps((ROOT / "Dockerfile").read_text())
    copied = {
        name for word, rest in steps if word == "COPY" and "--from" not in rest for name in rest.split()[:-1]
    }
    assert copied
    assert [name for name in copied if image.is_ignored(name) or not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", ["deploy/kubernetes.yaml", "deploy/compose.yaml"])
def test_the_images_that_are_started_have_the_version_of_the_package(path: str) -> None:
    started = re.findall(rf"image: ({ABOUT.name}\S*)", (ROOT / path).read_text())
    assert started == [f"{ABOUT.name}:{ABOUT.version}"]


def stores() -> dict[str, Any]:
    """The stores that are started, by their file: the words of the command, and what confines them."""
    valkey = composed()["services"]["valkey"]
    found = {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes-store.yaml").read_text())}
    (inside,) = found["Deployment"]["spec"]["template"]["spec"]["containers"]
    return {"compose": (valkey["command"], valkey), "kubernetes": (inside["args"], inside)}


@pytest.mark.parametrize("where", ["compose", "kubernetes"])
def test_the_store_is_bounded_and_makes_room_by_itself(where: str) -> None:
    words, _ = stores()[where]
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert options["--maxmemory"] == "256mb"
    assert options["--maxmemory-policy"] == "allkeys-lru"
    assert (options["--save"], options["--appendonly"]) == ("", "no")


def test_the_store_is_reached_by_the_servers_alone() -> None:
    told = composed()
    _, valkey = stores()["compose"]
    assert "ports" not in valkey
    assert valkey["networks"] == ["store"]
    assert told["networks"]["store"]["internal"] is True
    assert "store" in told["services"]["qortal-mcp"]["networks"]
    found = {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes-store.yaml").read_text())}
    policy = found["NetworkPolicy"]["spec"]
    assert policy["podSelector"] == found["Deployment"]["spec"]["selector"]
    assert policy["egress"] == []
    (allowed,) = policy["ingress"][0]["from"]
    assert (
        allowed["podSelector"]["matchLabels"] == manifests()["Deployment"]["spec"]["selector"]["matchLabels"]
    )
    name, port = found["Service"]["metadata"]["name"], found["Service"]["spec"]["ports"][0]["port"]
    assert f"redis://{name}:{port}" in manifests()["ConfigMap"]["data"]["config.toml"]


def test_the_store_of_the_pods_is_confined() -> None:
    _, inside = stores()["kubernetes"]
    assert inside["securityContext"]["readOnlyRootFilesystem"] is True
    assert inside["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert set(inside["resources"]["limits"]) == {"cpu", "memory"}


def test_pods_say_that_they_leave_before_they_do() -> None:
    text = manifests()["ConfigMap"]["data"]["config.toml"]
    drain = int(re.findall(r"^drain-seconds = (\d+)$", text, re.M)[0])
    assert 0 < drain < pod()["terminationGracePeriodSeconds"] - 10


def test_whatever_ends_a_server_waits_as_long_everywhere() -> None:
    plist = plistlib.loads((DEPLOY / "launchd/qortal-mcp.plist").read_bytes())
    waits = {
        int(unit()["Service"]["TimeoutStopSec"]),
        plist["ExitTimeOut"],
        int(composed()["services"]["qortal-mcp"]["stop_grace_period"].removesuffix("s")),
        pod()["terminationGracePeriodSeconds"],
    }
    assert waits == {30}
