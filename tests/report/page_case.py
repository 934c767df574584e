"""Makes pages and takes them apart, for the tests of the report."""
import base64
import contextlib
import io
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import report
from report_case import ReportCase


class Page(HTMLParser):
    """The page's text, its images, and every address in it; fails where tags do not match."""

    VOID = {"meta", "img", "br", "link", "hr"}

    def __init__(self, source):
        super().__init__()
        self.open, self.pieces, self.images, self.addresses, self.tags, self.wrong = [], [], [], [], set(), []
        self.feed(source)
        self.text = re.sub(r"\s+", " ", "".join(self.pieces))

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        values = dict(attributes)
        self.addresses += [values[k] for k in ("src", "href", "srcset", "data", "action") if k in values]
        if tag == "img":
            self.images.append(values)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.pieces.append(data)


class PageCase(ReportCase):
    def call(self, *arguments):
        """Exit code, standard output and error lines of report.py, without a process of its own."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = report.main([str(argument) for argument in arguments])
        return code, out.getvalue(), err.getvalue()

    def page(self, out):
        code, said, err = self.call(out)
        self.assertEqual((code, err), (0, ""), said)
        page = Page((out / "report/index.html").read_text(encoding="utf-8"))
        self.assertEqual((page.open, page.wrong), ([], []))
        self.assertFalse(page.tags & {"script", "link", "iframe", "object", "base"})
        for address in page.addresses:
            self.assertTrue(address.startswith("data:image/svg+xml;base64,"), address[:80])
        for image in page.images:
            self.assertGreater(len(image["alt"]), 20)
            self.assertTrue(ElementTree.fromstring(base64.b64decode(image["src"].partition(",")[2])).tag.endswith("svg"))
        svgs = sorted(path.stem for path in (out / "report").glob("*.svg"))
        self.assertEqual(svgs, sorted(path.stem for path in (out / "report").glob("*.png")))
        self.assertEqual(len(page.images), len(svgs))
        self.assertEqual(list((out / "report").glob("*.partial")), [])
        self.assertNotIn("nan", page.text.lower().split())
        return page

    def error(self, *arguments):
        code, _, err = self.call(*arguments)
        self.assertEqual(code, 1)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertTrue(err.startswith("report: error: "), err)
        return err

    def check(self, text, *parts):
        for part in parts:
            self.assertIn(str(part), text)
