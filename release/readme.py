"""The README as a package index shows it: there are no files beside it, so every link names the released file."""

import re

from .project import Project

# A link or a picture of Markdown. Code comes first, so that what looks like a link in it is passed over.
_LINK = re.compile(
    r"```.*?```|`[^`\n]*`|(?P<mark>!?)\[(?P<text>(?:`[^`\n]*`|[^\]])*)\]\((?P<target>[^)\s]+)\)", re.DOTALL
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def relative_links(text: str) -> list[str]:
    """Targets that only work beside the files of the project; an anchor on the same page works everywhere."""
    return [found["target"] for found in _LINK.finditer(text) if _is_relative(found["target"])]


def released(text: str, project: Project) -> str:
    """The same text, with each relative link pointing to the file of this release."""

    def absolute(found: re.Match[str]) -> str:
        target = found["target"]
        if not _is_relative(target):
            return found[0]
        # Pictures are fetched as they are, pages are shown.
        way = "raw" if found["mark"] else "blob"
        return f"{found['mark']}[{found['text']}]({project.repository}/{way}/{project.tag}/{target})"

    return _LINK.sub(absolute, text)


def _is_relative(target: str | None) -> bool:
    return target is not None and not target.startswith("#") and not _SCHEME.match(target)
