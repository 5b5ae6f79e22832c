"""The tables of what a bridge repairs, one for each kind of thing that can be wrong."""

from qortal_mcp.audit.reports.sentences import sentence
from qortal_mcp.repairs import subjects
from qortal_mcp.repairs.chosen import REPAIRS
from qortal_mcp.repairs.envelope.message import Message
from qortal_mcp.repairs.framing import Piece
from qortal_mcp.repairs.wires import Http

from .audit_table import breaks
from .markdown import code, table

# In the order in which a message passes them.
_AREAS: dict[type, str] = {
    Http: "HTTP",
    Piece: "Lines and frames",
    Message: "Messages",
    subjects.Handshake: "The handshake",
    subjects.Notice: "Notifications and requests of the server",
    subjects.ListPage: "Lists",
    subjects.ToolEntry: "Tools",
    subjects.CallResult: "Results of calls",
    subjects.OtherEntry: "Prompts, resources and templates",
    subjects.OtherResult: "Other results",
}
_HEAD = ["code", "level", "what is recognised", "what becomes of it", "clients that break"]


def repairs_tables() -> str:
    parts = []
    for kind, words in _AREAS.items():
        rows = [
            (code(one.code), one.level, one.title, sentence(one.makes), breaks(one.code))
            for one in REPAIRS
            if one.about is kind
        ]
        parts.append(f"### {words}\n\n{table(_HEAD, rows)}")
    return "\n".join(parts)
