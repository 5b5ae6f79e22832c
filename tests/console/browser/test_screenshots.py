"""The pictures of the README: there, small, and what the browser showed."""

import base64
from typing import Any

import pytest
from tests.console.browser.png import with_palette
from tests.console.browser.screenshots import FOLDER, MOST_BYTES, PICTURES

# The largest difference of one colour between two pictures of the same size.
_DIFFERENCE = """async (pictures) => {
  const pixels = await Promise.all(pictures.map(async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const drawn = new OffscreenCanvas(image.width, image.height).getContext('2d');
    drawn.drawImage(image, 0, 0);
    return drawn.getImageData(0, 0, image.width, image.height).data;
  }));
  return pixels[0].reduce((most, value, at) => Math.max(most, Math.abs(value - pixels[1][at])), 0);
}"""


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_there_and_small(name: str) -> None:
    assert 0 < (FOLDER / f"{name}.png").stat().st_size < MOST_BYTES


def test_a_picture_with_a_palette_looks_the_same(browser: Any) -> None:
    page = browser.new_context(viewport={"width": 300, "height": 120}).new_page()
    page.set_content(
        "<body style='background: linear-gradient(#fff, #eef)'><h1 style='color: #06c'>Some text</h1>"
    )
    taken = page.screenshot()
    small = with_palette(taken)
    assert len(small) < len(taken)
    assert page.evaluate(_DIFFERENCE, [base64.b64encode(png).decode() for png in (taken, small)]) < 24
    page.context.close()
