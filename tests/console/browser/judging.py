"""What can be judged of any page as it is shown: by axe-core, by its width, and by where the Tab key leads."""

from collections.abc import Iterator
from typing import Any

from tests.console.browser import programs
from tests.console.browser.require import require

_SERIOUS = ("serious", "critical")
_RUN = """async (rules) => {
  const only = rules.length ? {runOnly: {type: 'rule', values: rules}} : {};
  const found = await axe.run(document, {resultTypes: ['violations'], ...only});
  return found.violations.flatMap((fault) =>
    fault.nodes.map((node) => ({
      impact: node.impact ?? fault.impact,
      text: `${fault.id}: ${node.target.join(' ')}: ${node.failureSummary}`,
    })));
}"""
# Parts that scroll within themselves, such as a wide table, may hold something wider than the window.
_TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > width + 1)
    .map((one) => `<${one.localName} class="${one.getAttribute('class') ?? ''}"> ${one.textContent.slice(0, 40)}`);
}"""
_FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return '';
  const named = one.getAttribute('aria-label') || one.labels?.[0]?.textContent || one.textContent || one.id;
  return `${one.localName} ${named.trim().replace(/\\s+/g, ' ').slice(0, 60)}`;
}"""

# Names repeat, elements do not.
_MARK = "() => (document.activeElement.dataset.stop ??= String(Math.random()))"


def serious_faults(page: Any, *rules: str) -> list[str]:
    """What axe-core finds to be serious or critical on the page as it is now; by some of its rules only, if any are named."""
    require(programs.no_packages())
    # By the debugger: the policy of the page lets no other script in.
    debugger = page.context.new_cdp_session(page)
    debugger.send("Runtime.evaluate", {"expression": programs.AXE.read_text()})
    debugger.detach()
    return [fault["text"] for fault in page.evaluate(_RUN, rules) if fault["impact"] in _SERIOUS]


def too_wide(page: Any) -> list[str]:
    """The elements that make the page scroll sideways; empty if it does not."""
    found: list[str] = page.evaluate(_TOO_WIDE)
    return found


def focused(page: Any) -> str:
    """The element that has the focus, as its tag and name: `button Copy`; empty if nothing has it."""
    found: str = page.evaluate(_FOCUSED)
    return found


def tab_stops(page: Any, most: int = 60) -> Iterator[str]:
    """Presses Tab and tells where that led, until it leaves the page or comes to a place twice."""
    seen = set()
    for _ in range(most):
        page.keyboard.press("Tab")
        where = page.evaluate(_MARK)
        if where in seen or not (name := focused(page)):
            return
        seen.add(where)
        yield name
