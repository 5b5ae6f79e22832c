"""Parameters and results of every kind of type: how they are read, listed, refused and written."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run
from tests.server.types_of_all_kinds import SERVER, Shelf

from qortal_mcp import Server
from qortal_mcp.client import connect

PROGRAM = Path(__file__).with_name("types_of_all_kinds.py")
SEED = "abandon ability able about above absent absorb abstract absurd abuse access accident"
EVENT = {"title": "Fair", "start": "2026-11-18T09:30:00Z"}
READ_EVENT = (
    "Event(title='Fair', start=datetime.datetime(2026, 11, 18, 9, 30, tzinfo=datetime.timezone.utc), "
    "where=None, folder=PosixPath('events'), fee=Decimal('0.00'))"
)
EVE = {"fullName": "Eve"}
READ_EVE = "Person(full_name='Eve', lucky=None, events={})"

READ: list[Any] = [
    ("keep", {"colour": "blue"}, {"colour": "<Colour.BLUE: 'blue'>"}),
    ("keep", {"colour": "BLUE"}, {"colour": "<Colour.BLUE: 'blue'>"}),
    ("keep", {"level": 2}, {"level": "<Level.HIGH: 2>"}),
    ("keep", {"level": "2"}, {"level": "<Level.HIGH: 2>"}),
    ("keep", {"spot": [1.5]}, {"spot": "Spot(lat=1.5, lon=0.0)"}),
    ("keep", {"pair": [2, "b"]}, {"pair": "(2, 'b')"}),
    ("keep", {"many": [1, 2.5]}, {"many": "(1.0, 2.5)"}),
    ("keep", {"words": ["a", "a"]}, {"words": "frozenset({'a'})"}),
    ("keep", {"shelf": {"name": "top"}}, {"shelf": "{'name': 'top'}"}),
    ("keep", {"event": EVENT}, {"event": READ_EVENT}),
    ("keep", {"event": json.dumps(EVENT)}, {"event": READ_EVENT}),
    ("keep", {"events": [EVENT]}, {"events": f"[{READ_EVENT}]"}),
    ("keep", {"by_name": {"x": EVENT}}, {"by_name": f"{{'x': {READ_EVENT}}}"}),
    ("keep", {"by_number": {"5": "five"}}, {"by_number": "{5: 'five'}"}),
    # Read slowly, since a number is written as a text.
    ("keep", {"by_number": {"5": "five"}, "ratio": "0.25"}, {"by_number": "{5: 'five'}", "ratio": "0.25"}),
    ("keep", {"day": "2026-11-18", "clock": "09:30:00"}, {"day": "datetime.date(2026, 11, 18)"}),
    ("keep", {"length": "PT1H"}, {"length": "datetime.timedelta(seconds=3600)"}),
    ("keep", {"price": "2.50"}, {"price": "Decimal('2.50')"}),
    ("keep", {"price": 2.5}, {"price": "Decimal('2.5')"}),
    ("keep", {"folder": "/tmp/x"}, {"folder": "PosixPath('/tmp/x')"}),
    ("keep", {"data": "aGVsbG8="}, {"data": "b'hello'"}),
    ("keep", {"either": ["a"]}, {"either": "['a']"}),
    ("keep", {"either": 5}, {"either": "5"}),
    ("keep", {}, {"price": "Decimal('1.50')", "folder": "PosixPath('here')", "pair": "(1, 'a')"}),
    ("meet", {"person": EVE}, {"person": READ_EVE}),
    ("meet", {"people": [EVE, EVE]}, {"people": f"[{READ_EVE}, {READ_EVE}]"}),
    ("meet", {"team": {"lead": EVE}}, {"team": f"Team(lead={READ_EVE}, size=1)"}),
    (
        "meet",
        {"record": {"person": EVE, "at": "2026-11-18"}},
        {"record": f"Record(person={READ_EVE}, at=datetime.date(2026, 11, 18), shelves={{}})"},
    ),
    ("meet", {"howMany": 5}, {"size": "5"}),
    ("meet", {}, {"size": "2", "limit": "3", "rank": "1", "choices": "['a']"}),
    ("meet", {"site": "https://example.org"}, {"site": "HttpUrl('https://example.org/')"}),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), READ)
async def test_a_value_is_read_into_the_declared_type(
    name: str, arguments: dict[str, Any], expected: dict[str, str]
) -> None:
    async with connect(SERVER) as client:
        answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.text
    assert isinstance(answer.structured, dict)
    assert {key: answer.structured[key] for key in expected} == expected


REFUSED: list[Any] = [
    ("keep", {"colour": "green"}, "Invalid colour. colour takes one of: red, blue."),
    ("keep", {"level": 3}, "Invalid level. level takes one of: 1, 2."),
    ("keep", {"spot": ["a"]}, "Invalid spot. spot takes a list of 1 to 2 numbers."),
    ("keep", {"pair": ["b", "b"]}, "Invalid pair[0]. pair[0] takes a whole number."),
    ("keep", {"shelf": {"name": 5}}, "Invalid shelf.name. shelf.name takes text."),
    ("keep", {"shelf": {}}, "Missing argument shelf.name."),
    ("keep", {"shelf": {"name": "a", "row": 1}}, "Unknown argument shelf.row. Valid in shelf: name, rows."),
    ("keep", {"shelf": "top"}, "Invalid shelf. shelf takes an object with name, rows."),
    (
        "keep",
        {"event": {**EVENT, "titel": ""}},
        "Unknown argument event.titel. Valid in event: title, start, where, folder, fee.",
    ),
    (
        "keep",
        {"events": [EVENT, EVENT, {**EVENT, "start": "soon"}]},
        "Invalid events[2].start. events[2].start takes a date and time, such as 2026-11-18T09:30:00Z.",
    ),
    (
        "keep",
        {"by_name": {**{f"n{at}": EVENT for at in range(50)}, "a b": {**EVENT, "title": 1}}},
        'Invalid by_name["a b"].title. by_name["a b"].title takes text.',
    ),
    ("keep", {"by_name": {"x": EVENT, "y": {"title": "z"}}}, "Missing argument by_name.y.start."),
    ("keep", {"by_number": {"five": "5"}}, "Invalid by_number. The name of a member does not fit."),
    ("keep", {"day": "18.11.2026"}, "Invalid day. day takes a date, such as 2026-11-18."),
    ("keep", {"clock": "late"}, "Invalid clock. clock takes a time, such as 09:30:00Z."),
    ("keep", {"length": "1h"}, "Invalid length. length takes a length of time, such as PT1H30M or P2D."),
    ("keep", {"price": "NaN"}, 'Invalid price. price takes a decimal number, such as "12.50".'),
    ("keep", {"price": "1e999999999"}, 'Invalid price. price takes a decimal number, such as "12.50".'),
    (
        "keep",
        {"event": {**EVENT, "fee": "Infinity"}},
        'Invalid event.fee. event.fee takes a decimal number, such as "12.50".',
    ),
    (
        "keep",
        {"number": "5"},
        "Invalid number. number takes a UUID, such as 123e4567-e89b-42d3-a456-426614174000.",
    ),
    ("keep", {"folder": 5}, "Invalid folder. folder takes a path of a file or folder."),
    ("keep", {"folder": "a\0b"}, "Invalid folder. folder takes a path of a file or folder."),
    ("keep", {"data": "?"}, "Invalid data. data takes bytes in Base64."),
    ("keep", {"either": "x"}, "Invalid either. either takes a whole number or a list."),
    ("keep", {"ratio": "much"}, "Invalid ratio. ratio takes a number."),
    (
        "meet",
        {"person": {"fullName": "E"}},
        "Invalid person.fullName. String should have at least 2 characters.",
    ),
    ("meet", {"person": {}}, "Missing argument person.fullName."),
    (
        "meet",
        {"person": {**EVE, "age": 5}},
        "Unknown argument person.age. Valid in person: fullName, lucky, events.",
    ),
    (
        "meet",
        {"person": {**EVE, "lucky": {"number": 3}}},
        "Invalid person.lucky.number. an even number is needed.",
    ),
    (
        "meet",
        {"people": [EVE, {**EVE, "events": {"x": [EVENT, {"title": "y"}]}}]},
        "Missing argument people[1].events.x[1].start.",
    ),
    (
        "meet",
        {"team": {"lead": EVE, "size": 0}},
        "Invalid team.size. team.size takes a whole number from 1 up.",
    ),
    (
        "meet",
        {"record": {"person": {"fullName": 5}}},
        "Invalid record.person.fullName. Input should be a valid string.",
    ),
    (
        "meet",
        {"record": {"person": EVE, "x": 1}},
        "Unknown argument record.x. Valid in record: person, at, shelves.",
    ),
    ("meet", {"howMany": 6}, "Invalid howMany. howMany takes a whole number from 1 to 5."),
    ("meet", {"size": 6}, "Unknown argument size."),
    ("meet", {"limit": 0}, "Invalid limit. limit takes a whole number above 0."),
    ("meet", {"site": "nowhere"}, "Invalid site. site takes an address, such as https://example.org."),
    ("meet", {"rank": 0}, "Invalid rank. rank takes a whole number above 0."),
    ("meet", {"name": "A"}, "Invalid name. String should match pattern '^[a-z]+$'."),
]


@pytest.mark.promise(
    "Library",
    "An argument that does not fit is refused with its place, such as `items[2].name`, and what would fit there.",
)
@pytest.mark.parametrize(("name", "arguments", "words"), REFUSED)
async def test_what_does_not_fit_is_refused_with_its_place(
    name: str, arguments: dict[str, Any], words: str
) -> None:
    async with connect(SERVER) as client:
        answer = await client.call_tool(name, arguments)
    assert answer.is_error
    assert (
        answer.text.startswith(words) if words.startswith("Unknown argument size") else answer.text == words
    )


async def test_the_valid_names_of_an_object_that_may_be_null_are_named() -> None:
    def keep(where: list[Shelf | None]) -> int:
        """Keeps some shelves."""
        return len(where)

    async with connect(Server("shelves", tools=[keep])) as client:
        answer = await client.call_tool("keep", {"where": [None, {"name": "a", "row": 1}]})
    assert answer.text == "Unknown argument where[1].row. Valid in where[1]: name, rows."


SECRETS: list[Any] = [
    ("keep", {"shelf": {"name": SEED}}),
    ("keep", {"event": {**EVENT, "title": SEED}}),
    ("keep", {"event": {**EVENT, "folder": SEED}}),
    ("keep", {"by_name": {SEED: EVENT}}),
    ("keep", {"by_number": {"5": SEED}}),
    ("keep", {"folder": SEED}),
    ("keep", {"data": "A1b" * 14 + "c="}),
    ("keep", {"either": [SEED]}),
    ("keep", {"either": SEED.split()}),
    ("keep", {"events": [EVENT, {**EVENT, "title": SEED, "start": 5}]}),
    ("meet", {"person": {"fullName": SEED}}),
    ("meet", {"people": [EVE, {"fullName": SEED, "age": 5}]}),
    ("meet", {"site": f"https://example.org/{SEED.replace(' ', '-')}"}),
    ("meet", {"short": SEED}),
]


@pytest.mark.promise(
    "Read-only and secrets",
    "An argument that looks like a key, a seed phrase or another secret is refused, never sent to the node and never repeated.",
)
@pytest.mark.parametrize(("name", "arguments"), SECRETS)
async def test_a_secret_is_found_at_any_depth(name: str, arguments: dict[str, Any]) -> None:
    async with connect(SERVER) as client:
        answer = await client.call_tool(name, arguments)
    assert answer.is_error
    assert answer.text.startswith("Refused.")
    assert "abandon" not in answer.text


WHOLE_EVENT = {**EVENT, "where": None, "folder": "events", "fee": "0.00"}
WHOLE_EVE: dict[str, Any] = {"fullName": "Eve", "lucky": None, "events": {}}
GIVEN: list[Any] = [
    ("echo_event", {"event": EVENT}, WHOLE_EVENT),
    ("echo_event", {"event": {**EVENT, "where": [1, 2]}}, {**WHOLE_EVENT, "where": [1.0, 2.0]}),
    ("echo_person", {"person": EVE}, WHOLE_EVE),
    (
        "echo_person",
        {"person": {**EVE, "events": {"x": [EVENT]}}},
        {**WHOLE_EVE, "events": {"x": [WHOLE_EVENT]}},
    ),
    ("echo_team", {"team": {"lead": EVE}}, {"result": [{"lead": WHOLE_EVE, "size": 1}]}),
    ("echo_record", {"record": {"person": EVE}}, {"person": WHOLE_EVE, "at": None, "shelves": {}}),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), GIVEN)
async def test_a_result_is_written_as_its_schema_says(
    name: str, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    async with connect(SERVER) as client:
        answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.text
    assert answer.structured == expected


async def test_everything_that_field_says_is_listed() -> None:
    async with connect(SERVER) as client:
        listed = {each.name: each.inputSchema for each in (await client.list_tools()).items}
    meet = listed["meet"]["properties"]
    assert meet["howMany"] == {
        "type": "integer",
        "title": "Size",
        "description": "How many.",
        "examples": [2],
        "minimum": 1,
        "maximum": 5,
        "default": 2,
        "x-unit": "heads",
    }
    assert meet["limit"] == {
        "type": "integer",
        "description": "At most.",
        "exclusiveMinimum": 0,
        "default": 3,
    }
    assert meet["short"] == {"type": "string", "description": "A few words.", "default": ""}
    assert meet["name"] == {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "default": "a"}
    assert meet["note"]["description"] == "Somebody else."
    assert meet["person"]["properties"]["fullName"] == {
        "type": "string",
        "title": "Name",
        "examples": ["Eve"],
        "minLength": 2,
    }
    assert "size" not in meet
    # No name of a class is repeated as a title.
    assert "title" not in meet["person"]
    assert "title" not in meet["record"]
    spot = {
        "type": "array",
        "description": "In this order: lat, lon.",
        "items": {"type": "number"},
        "minItems": 1,
        "maxItems": 2,
    }
    assert listed["keep"]["properties"]["spot"] == spot
    assert listed["keep"]["properties"]["pair"]["items"] == {
        "anyOf": [{"type": "integer"}, {"type": "string"}]
    }


def test_the_audit_finds_nothing_in_a_server_with_all_types(tmp_path: Path) -> None:
    calls = tmp_path / "calls.json"
    each = [
        # The text of a list is JSON that is not an object, which the audit reports.
        *((name, arguments) for name, arguments, _ in GIVEN if name != "echo_team"),
        ("keep", {"event": EVENT}),
        ("meet", {"person": EVE}),
    ]
    calls.write_text(json.dumps([{"tool": name, "arguments": arguments} for name, arguments in each]))
    ended = run("audit", "--json", "--calls", str(calls), "--", sys.executable, str(PROGRAM))
    # How fast a program starts is a matter of the machine, and pydantic's share of it.
    assert [one for one in ended.json["findings"] if one["code"] != "slow-start"] == []
    assert ended.json["toolsCalled"] == ended.json["tools"] - 1 == 5
