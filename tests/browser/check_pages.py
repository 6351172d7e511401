#!/usr/bin/env python3
"""Reads the pages of a folder with the standard library's parsers, as HTML and as XML.

check_pages.py FOLDER
"""

import html.parser
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
NEVER = {"script", "img", "link", "iframe", "object", "embed", "form", "base", "foreignobject"}
VOID = {"meta", "br"}
NUMBERS = {"x", "y", "x1", "x2", "y1", "y2", "width", "height"}


class Reader(html.parser.HTMLParser):
    """Follows which elements are open, as a browser that repairs nothing would."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.faults = []
        self.num_elements = 0

    def handle_starttag(self, tag, attrs):
        self.num_elements += 1
        if tag in NEVER:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in ("src", "href", "srcset", "style"):
                self.faults.append(f"<{tag} {name}={value!r}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")


def text_of(node):
    return "".join(node.itertext())


class Pages(unittest.TestCase):
    pages = []

    def setUp(self):
        self.assertGreaterEqual(len(self.pages), 5)

    def test_html_nests_and_holds_nothing_active(self):
        for name, text in self.pages:
            with self.subTest(page=name):
                reader = Reader()
                reader.feed(text)
                reader.close()
                self.assertEqual(reader.faults, [])
                self.assertEqual(reader.open, [])
                self.assertGreater(reader.num_elements, 20)

    def test_xml_is_well_formed(self):
        for name, text in self.pages:
            with self.subTest(page=name):
                root = ElementTree.fromstring(text)
                self.assertEqual(root.tag, XHTML + "html")
                self.assertEqual(root.get("lang"), "en")

    def test_pictures_have_numbers_and_names(self):
        for name, text in self.pages:
            with self.subTest(page=name):
                for svg in ElementTree.fromstring(text).iter(SVG + "svg"):
                    self.assertTrue(svg.get("aria-hidden") == "true" or (svg.get("role") == "img" and svg.get("aria-label")))
                    for node in svg.iter():
                        for name in NUMBERS & set(node.keys()):
                            self.assertRegex(node.get(name), r"^-?[0-9]+(\.[0-9]+)?$")
                        if node.tag == SVG + "polyline":
                            self.assertRegex(node.get("points"), r"^(-?[0-9.]+,-?[0-9.]+ ?)+$")
                        if node.tag == SVG + "rect":
                            self.assertGreaterEqual(float(node.get("width")), 0)

    def test_tables_are_whole(self):
        for name, text in self.pages:
            with self.subTest(page=name):
                for table in ElementTree.fromstring(text).iter(XHTML + "table"):
                    columns = len(table.find(f"{XHTML}thead/{XHTML}tr"))
                    for row in table.findall(f"{XHTML}tbody/{XHTML}tr"):
                        self.assertEqual(len(row), columns, text_of(row))
                        self.assertEqual(row[0].get("scope"), "row")
                    for head in table.findall(f"{XHTML}thead/{XHTML}tr/{XHTML}th"):
                        self.assertEqual(head.get("scope"), "col")

    def test_every_figure_has_a_table_in_its_section(self):
        for name, text in self.pages:
            with self.subTest(page=name):
                for section in ElementTree.fromstring(text).iter(XHTML + "section"):
                    if section.find(f".//{XHTML}figure") is not None and section.find(f"{XHTML}h2").text != "Times":
                        self.assertIsNotNone(section.find(f".//{XHTML}table"), text_of(section)[:80])

    def test_nothing_is_fetched(self):
        for name, text in self.pages:
            with self.subTest(page=name):
                addresses = set(re.findall(r"[a-z]+://[^\"'\s)<]*", text))
                self.assertLessEqual(addresses, {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"})


if __name__ == "__main__":
    Pages.pages = [(page.name, page.read_text(encoding="utf-8"))
                   for page in sorted(pathlib.Path(sys.argv.pop()).glob("*.html"))]
    unittest.main()
