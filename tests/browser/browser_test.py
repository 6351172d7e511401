#!/usr/bin/env python3
"""Opens the pages of a folder in Chromium: on a phone and on a desktop, light and dark.

browser_test.py FOLDER      exit code 77 where there is no Chromium
"""

import pathlib
import sys
import unittest

import chromium

NOT_INSTALLED = 77
SCHEMES = ("light", "dark")
WIDTHS = (360, 800, 1280)

# Texts that leave their picture, by more than half a unit.
CLIPPED = """
[...document.querySelectorAll('figure > svg')].flatMap(svg => {
  const box = svg.viewBox.baseVal;
  return [...svg.querySelectorAll('text')].filter(text => {
    const own = text.getBBox();
    return own.x < box.x - 0.5 || own.x + own.width > box.x + box.width + 0.5 ||
           own.y < box.y - 0.5 || own.y + own.height > box.y + box.height + 0.5;
  }).map(text => text.textContent);
})"""

# Pairs of ticks, or of titles of axes and ticks, that lie over each other.
OVERLAPPING = """
[...document.querySelectorAll('figure > svg')].flatMap(svg => {
  const texts = [...svg.querySelectorAll('.tick, .axis-title')].map(text => [text.textContent, text.getBBox()]);
  return texts.flatMap(([one, a], i) => texts.slice(i + 1).filter(([other, b]) =>
    a.x + 0.5 < b.x + b.width && b.x + 0.5 < a.x + a.width && a.y + 3 < b.y + b.height && b.y + 3 < a.y + a.height
  ).map(([other]) => one + ' / ' + other));
})"""

# Sizes of the pictures' letters on the screen.
SMALLEST_TEXT = """
Math.min(99, ...[...document.querySelectorAll('figure > svg text')].map(text =>
  parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""

OPEN_ALL = "document.querySelectorAll('details').forEach(details => { details.open = true; })"


class InChromium(unittest.TestCase):
    pages = []

    @classmethod
    def setUpClass(cls):
        cls.browser = chromium.Chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def in_each_view(self, check, widths=WIDTHS):
        self.assertGreaterEqual(len(self.pages), 5)
        for page in self.pages:
            for scheme in SCHEMES:
                for width in widths:
                    with self.subTest(page=page.name, scheme=scheme, width=width):
                        self.browser.open(page.as_uri(), width, scheme)
                        check(page, scheme, width)

    def test_loads_in_silence_and_fetches_nothing_more(self):
        def check(page, _scheme, _width):
            self.browser.evaluate("1")  # what came before the answer has been told
            told = [event["method"] for event in self.browser.events]
            for unwanted in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                             "Page.javascriptDialogOpening"):
                self.assertNotIn(unwanted, told)
            asked = [event["params"]["request"]["url"] for event in self.browser.events
                     if event["method"] == "Network.requestWillBeSent"]
            self.assertEqual(asked, [page.as_uri()])

        self.in_each_view(check, [1280])

    def test_never_scrolls_sideways(self):
        def check(_page, _scheme, width):
            for _ in ("closed", "open"):
                self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), width)
                self.browser.evaluate(OPEN_ALL)

        self.in_each_view(check)

    def test_follows_the_scheme(self):
        def check(_page, scheme, _width):
            red = self.browser.evaluate("parseInt(getComputedStyle(document.body).backgroundColor.split(/[(,]/)[1])")
            self.assertEqual(red > 128, scheme == "light")

        self.in_each_view(check, [1280])

    def test_letters_are_whole_apart_and_large_enough(self):
        def check(_page, _scheme, _width):
            self.assertEqual(self.browser.evaluate(CLIPPED), [])
            self.assertEqual(self.browser.evaluate(OVERLAPPING), [])
            self.assertGreaterEqual(self.browser.evaluate(SMALLEST_TEXT), 9)

        self.in_each_view(check)

    def test_hostile_text_stays_text(self):
        def check(page, _scheme, _width):
            self.assertEqual(self.browser.evaluate("document.querySelectorAll('script, img').length"), 0)
            if page.name == "awkward.html":
                self.assertIn("<script>alert(1)</script>", self.browser.evaluate("document.body.textContent"))

        self.in_each_view(check, [1280])


if __name__ == "__main__":
    if chromium.installed() is None:
        print("skipped: found none of " + ", ".join(chromium.NAMES) + "; install one to run this (apt-get install chromium)")
        sys.exit(NOT_INSTALLED)
    InChromium.pages = sorted(pathlib.Path(sys.argv.pop()).resolve().glob("*.html"))
    unittest.main()
