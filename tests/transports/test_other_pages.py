"""Pages of others in a browser on this machine: what they can load of ours, and what a link may lead to."""

from collections.abc import Iterator

import pytest
from tests.door import Door, open_door

PATHS = ["/console/status", "/console/connect", "/console/audit", "/ask", "/metrics"]


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("--sample") as running:
        yield running


@pytest.mark.promise(
    "Access", "A page of another origin cannot load what the server answers, not even as an image."
)
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", PATHS)
def test_a_page_of_another_origin_loads_nothing(door: Door, path: str, site: str) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    assert door.get(path, headers).status == 403


@pytest.mark.parametrize("path", ["/", "/console/status", "/llms.txt"])
def test_a_link_of_another_page_may_be_followed(door: Door, path: str) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert door.get(path, headers).status == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_page_and_the_address_bar_are_served(door: Door, site: str) -> None:
    assert door.get("/console/status", {"sec-fetch-site": site, "sec-fetch-mode": "cors"}).status == 200


@pytest.mark.parametrize("port", ["65536", "99999999999999", "-1", "80x"])
def test_a_host_with_a_port_that_does_not_exist_is_none_of_ours(door: Door, port: str) -> None:
    assert door.get("/console/connect", {"host": f"localhost:{port}"}).status == 421
