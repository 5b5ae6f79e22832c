"""The page's modules, checked by TypeScript against the schemas of the tools: what a tool takes and answers is a type."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.console.browser import programs

from qortal_mcp.console.files import STATIC

DEFINITIONS: dict[str, Any] = json.loads(
    (STATIC.parents[1] / "qortal" / "tools" / "definitions.json").read_bytes()
)
_PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
_OPTIONS = {
    "allowJs": True,
    "checkJs": True,
    "strict": True,
    "noEmit": True,
    "target": "es2022",
    "module": "esnext",
    "moduleResolution": "bundler",
    "lib": ["dom", "dom.iterable", "es2024"],
    "types": [],
}
# A compiler that takes a second; a loaded machine may take long.
_SECONDS = 120


def declaration(definitions: Mapping[str, Any]) -> str:
    """The interface `Tools`, which every module can name: what each tool takes, and what it answers."""
    members = (
        f"  {name}: {{\n"
        f"    arguments: {_type(tool['inputSchema'], name)};\n"
        f"    answer: {_type(tool['outputSchema'], name)};\n"
        "  };\n"
        for name, tool in definitions.items()
    )
    return f"interface Tools {{\n{''.join(members)}}}\n"


def _type(schema: Mapping[str, Any], tool: str) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(word) for word in schema["enum"])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " | ".join(_kind(kind, schema, tool) for kind in kinds) or "unknown"


def _kind(kind: str, schema: Mapping[str, Any], tool: str) -> str:
    if kind == "array":
        return f"Array<{_type(schema.get('items', {}), tool)}>"
    if kind == "object" and schema.get("properties"):
        required = schema.get("required", ())
        members = (
            f"{json.dumps(name)}{'' if name in required else '?'}: {_member(name, one, tool)}"
            for name, one in schema["properties"].items()
        )
        return f"{{ {'; '.join(members)} }}"
    if kind == "object":
        others = schema.get("additionalProperties", {})
        # An empty object type would take anything.
        return f"Record<string, {_type(others, tool) if isinstance(others, dict) else 'never'}>"
    return _PLAIN[kind]


def _member(name: str, schema: Mapping[str, Any], tool: str) -> str:
    # What a page names as the next call are arguments of the same tool.
    is_next_call = name == "next" and schema.get("type") == "object" and "properties" not in schema
    return f"Tools[{json.dumps(tool)}]['arguments']" if is_next_call else _type(schema, tool)


def diagnostics(static: Path, work: Path) -> list[str]:
    """What the compiler says about all modules of a folder, one line for each fault; `work` is for its own files."""
    declared = work / "tools.d.ts"
    declared.write_text(declaration(DEFINITIONS))
    project = work / "tsconfig.json"
    included = [str(declared), f"{static}/**/*.js"]
    project.write_text(json.dumps({"compilerOptions": _OPTIONS, "include": included}))
    done = subprocess.run(
        ["node", programs.TSC, "-p", project, "--pretty", "false"],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    lines = [line.partition(f"{static.name}/")[2] or line for line in done.stdout.splitlines() if line]
    assert done.returncode == 0 or lines, done.stderr
    return lines
