#!/usr/bin/env python3
"""web in a browser: the page shows what there is, and runs nothing of what it shows."""

import html.parser
import shutil
import subprocess
import tempfile
import unittest

import command_case
from command_case import HANG_SECONDS
from browser_pipe import BrowserPage
from web_case import WebCase, hex_of

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--enable-logging=stderr"]
ATTACKS = ["<script>document.title='pwned'</script>",
           "<img src=x onerror=\"document.title='pwned'\">",
           "<svg/onload=document.title='pwned'>", "</td></tr></table><h1>pwned</h1>",
           "\"><iframe srcdoc='<script>parent.document.title=1</script>'>",
           "javascript:document.title='pwned'", "${document.title='pwned'}"]


class Page(html.parser.HTMLParser):
    """What a page has come to: its text, its elements, and the text of each that has an id."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.by_id, self.stack, self.classes = [], {}, [], []
        self.text = self.title = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        self.classes += (attributes.get("class") or "").split()
        if tag not in ("meta", "link", "input", "br", "img"):
            self.stack.append((tag, attributes.get("id")))

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, data):
        self.text += data
        if self.stack and self.stack[-1][0] == "title":
            self.title += data
        for _, name in self.stack:
            if name:
                self.by_id[name] = self.by_id.get(name, "") + data

    def tags(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]


@unittest.skipUnless(BROWSER, "there is no chromium (Debian: apt-get install chromium)")
class Browser(WebCase):
    def page(self, place):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            done = subprocess.run(
                [BROWSER, *FLAGS, f"--user-data-dir={profile}", "--virtual-time-budget=8000",
                 "--dump-dom", f"{self.url}#{place}"],
                capture_output=True, check=False, timeout=HANG_SECONDS)
        said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 0, said[-2000:])
        for line in said.splitlines():
            # What scripts and the policy say of errors.
            if "CONSOLE" in line:
                self.assertNotRegex(line, "Uncaught|Refused|violates|Error")
        page = Page(done.stdout.decode())
        self.assertIn("Hawthorn", page.text)
        self.assertEqual(page.by_id.get("trouble", ""), "", place)
        return page

    def test_trees_entries_and_values(self):
        self.hawthorn("put", self.db, "ada", '{"born":1815,"large":12345678901234567890}')
        self.hawthorn("put", self.db, "grace", "1906", "--tree", "other")
        self.start()
        page = self.page("")
        for name in ("main", "other"):
            self.assertIn(name, page.by_id["trees"])
        self.assertIn("ada", page.by_id["rows"])
        self.assertNotIn("grace", page.by_id["rows"])
        self.assertIn("no process writes", page.by_id["mode"])
        page = self.page(f"view=entries&tree={hex_of('other')}&form=hex")
        self.assertIn(hex_of("grace"), page.by_id["rows"])
        self.assertIn(hex_of("1906"), page.by_id["rows"])
        page = self.page(f"tree={hex_of('main')}&form=json&key={hex_of('ada')}")
        self.assertEqual(page.by_id["detail-value"],
                         '{\n  "born": 1815,\n  "large": 12345678901234567890\n}')

    def test_containers_and_metrics(self):
        self.hawthorn("put", self.db, "ada", "1815")
        self.start()
        page = self.page(f"view=containers&tree={hex_of('main')}")
        self.assertIn("data.0 at", page.by_id["map-rows"])
        self.assertIn("heat-0", page.classes)
        self.assertIn("garbage", page.by_id["tree-facts"])
        page = self.page("view=metrics")
        for name in ("commits", "memory_used_bytes", "disk_bytes_reachable"):
            self.assertIn(name, page.by_id["figures"])

    def test_nothing_of_what_is_shown_is_run(self):
        for attack in ATTACKS:
            self.hawthorn("put", self.db, "--tree", "hostile", "--", attack, attack)
            self.hawthorn("put", self.db, "--tree", attack[:200], "--", "key", attack)
        self.start()
        for place in (f"tree={hex_of('hostile')}",
                      f"tree={hex_of('hostile')}&form=json&key={hex_of(ATTACKS[0])}",
                      f"tree={hex_of(ATTACKS[1])}&key={hex_of('key')}",
                      f"view=containers&tree={hex_of(ATTACKS[0])}", "view=<b>"):
            with self.subTest(place=place):
                page = self.page(place)
                self.assertEqual([a.get("src") for a in page.tags("script")], ["page.js"])
                for tag in ("img", "iframe"):
                    self.assertEqual(page.tags(tag), [])
                self.assertEqual(len(page.tags("h1")), 1)
                for _, attributes in page.elements:
                    self.assertFalse([name for name in attributes if name.startswith("on")])
                    self.assertFalse((attributes.get("href") or "").startswith("javascript"))
                self.assertIn(ATTACKS[0], page.text)
                self.assertNotIn("pwned", page.title)

    def test_beside_a_process_that_writes(self):
        self.skip_without_start_times()
        writer = subprocess.Popen([command_case.PROGRAM, "shell", self.db], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.addCleanup(self.end_at_last, writer)
        writer.stdin.write(b"put ada 1815\nget ada\n")
        writer.stdin.flush()
        writer.stdout.readline()
        self.start()
        page = self.page("view=metrics")
        self.assertIn(f"follows process {writer.pid}", page.by_id["mode"])
        self.assertIn("in a second", page.by_id["charts"])
        self.assertIn("ada", self.page("").by_id["rows"])

    def test_who_clicks_and_types(self):
        lines = "".join(f"put k{number:03d} v{number}\n" for number in range(120))
        self.hawthorn("shell", self.db, stdin=lines.encode())
        self.start()
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(profile.cleanup)
        page = BrowserPage([BROWSER, *FLAGS, f"--user-data-dir={profile.name}"], self.url)
        self.addCleanup(page.close)
        first_key = "document.querySelector('#rows button')?.textContent"

        def click(name):
            page.run(f"document.querySelector({name!r}).click()")

        self.assertEqual(page.wait(first_key, "k000"), "k000")
        click("#next")
        self.assertEqual(page.wait(first_key, "k050"), "k050")
        click("#reverse")
        self.assertEqual(page.wait(first_key, "k119"), "k119")
        page.run("history.back()")
        self.assertEqual(page.wait(first_key, "k050"), "k050")
        page.run("document.querySelector('#from').value = 'k10\\\\x30'")
        page.run("document.querySelector('#seek').requestSubmit()")
        self.assertEqual(page.wait(first_key, "k100"), "k100")
        click("#rows button")
        value = "document.querySelector('#detail-value').textContent"
        self.assertEqual(page.wait(value, "v100"), "v100")
        self.assertEqual(page.run("document.activeElement.id"), "detail")
        click("#explain")
        told = "document.querySelector('#explained').textContent.includes('data.0 at')"
        self.assertEqual(page.wait(told, True), True)
        page.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
        self.assertEqual(page.run("document.querySelector('#detail').hidden"), True)
        self.assertEqual(page.run("document.activeElement.textContent"), "k100")
        page.run("document.querySelector('#from').value = '\\\\q'")
        page.run("document.querySelector('#seek').requestSubmit()")
        self.assertIn("no \\n", page.run("document.querySelector('#trouble').textContent"))
        self.assertEqual(page.errors, [])


if __name__ == "__main__":
    command_case.main()
