"""The watch over a page: whatever a page must not do is noted, and everything around it stays as it was."""

import asyncio
from typing import Any

import pytest
from tests.console.browser.consoles import Console
from tests.console.browser.judging import serious_faults, tab_stops, too_wide
from tests.console.browser.watching import Watch

# A browser reports what happened within a frame or two; a loaded machine may need many.
FRAMES = 600
FAULTS = [
    pytest.param("console.error('broken')", "error: broken", id="an error"),
    pytest.param("console.warn('old')", "warning: old", id="a warning"),
    pytest.param("setTimeout(() => { throw new Error('lost') })", "uncaught: lost", id="an exception"),
    pytest.param("Promise.reject(new Error('lost'))", "uncaught: lost", id="a rejected promise"),
    pytest.param("fetch('http://elsewhere.example/').catch(() => 0)", "elsewhere.example", id="a request"),
    pytest.param("new Image().src = 'http://192.0.2.1/x.png'", "192.0.2.1", id="an image by address"),
    pytest.param("setTimeout(() => alert('here'))", "alert box: here", id="a box of the browser"),
    pytest.param("document.body.innerHTML = '<b>x</b>'", "TrustedHTML", id="text made markup"),
    pytest.param("document.body.setAttribute('style', 'color: red')", "style-src", id="an inline style"),
]


@pytest.mark.parametrize(("script", "noted"), FAULTS)
def test_a_fault_of_the_page_is_noted(browser: Any, console: Console, script: str, noted: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    watch = Watch(page, console.origin)
    page.goto(console.at())
    page.evaluate(f"() => {{ try {{ {script} }} catch {{}} }}")
    for _ in range(FRAMES):
        if any(noted in fault for fault in watch.faults):
            break
        page.evaluate("() => new Promise(requestAnimationFrame)")
    context.close()
    assert any(noted in fault for fault in watch.faults), watch.faults


def test_what_a_test_expects_is_no_fault(browser: Any, console: Console) -> None:
    context = browser.new_context()
    page = context.new_page()
    watch = Watch(page, console.origin, expects=("^error: provoked",))
    page.evaluate("() => console.error('provoked, not found')")
    page.evaluate("() => console.error('another')")
    context.close()
    assert [fault.partition(" (")[0] for fault in watch.faults] == ["error: another"]


def test_a_page_that_scrolls_sideways_is_found(browser: Any) -> None:
    page = browser.new_context(viewport={"width": 375, "height": 700}).new_page()
    page.set_content("<p class=wide style='width: 500px'>too much")
    assert too_wide(page)[0].startswith('<p class="wide">')
    page.set_content("<div style='overflow: auto'><p style='width: 500px'>in a box</div>")
    assert too_wide(page) == []
    page.context.close()


def test_faint_text_and_a_field_without_a_name_are_serious(browser: Any) -> None:
    page = browser.new_context().new_page()
    page.set_content("<html lang=en><title>t</title><main><p style='color: #ccc'>faint</p><input></main>")
    assert {fault.partition(":")[0] for fault in serious_faults(page)} == {"color-contrast", "label"}
    page.context.close()


def test_the_stops_of_the_tab_key_are_named_in_order(browser: Any) -> None:
    page = browser.new_context().new_page()
    page.set_content("<a href='#x'>Links</a><label>Name <input></label><p>text</p><button>Send</button>")
    assert list(tab_stops(page)) == ["a Links", "input Name", "button Send"]
    page.context.close()


async def test_tests_with_a_loop_of_their_own_still_run_beside_a_browser() -> None:
    assert asyncio.get_running_loop().is_running()
