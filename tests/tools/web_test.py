#!/usr/bin/env python3
"""web: the page of a database, as a browser or a script asks for it."""

import concurrent.futures
import os
import signal
import socket
import subprocess
import unittest

import command_case
from command_case import ERROR, NOT_FOUND, USAGE, wait_until
from web_case import WebCase, hex_of, text_of

KEY = b"0123456789abcdef" * 4


class Web(WebCase):
    def put(self, *arguments):
        self.hawthorn("put", self.db, *arguments)

    def test_the_page_and_its_headers(self):
        self.put("ada", "1815")
        self.start()
        self.assertRegex(self.url, r"^http://127\.0\.0\.1:\d+/$")
        for target, kind in (("/", "text/html"), ("/page.css", "text/css"),
                             ("/page.js", "text/javascript")):
            status, headers, body = self.ask(target)
            self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, kind))
            self.assertNotIn(b"//cdn", body)
            policy = headers["Content-Security-Policy"]
            for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
                self.assertIn(part, policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertNotIn("Access-Control-Allow-Origin", headers)
            length = int(headers["Content-Length"])
            status, headers, body = self.ask(target, "HEAD")
            self.assertEqual((status, int(headers["Content-Length"]), body), (200, length, b""))

    def test_every_endpoint(self):
        self.put("ada", "1815")
        self.put("grace", "1906", "--tree", "other")
        self.start()
        found = self.api("trees")
        self.assertEqual([text_of(tree["name"]) for tree in found["trees"]], [b"main", b"other"])
        self.assertEqual(found["trees"][0]["entries_estimated"], 1)
        self.assertEqual(self.entries(), [(b"ada", b"1815")])
        value = self.api("value", tree=hex_of("main"), key=hex_of("ada"))
        self.assertEqual((text_of(value["value"]), value["value_bytes"]), (b"1815", 4))
        containers = self.api("containers", tree=hex_of("main"))["containers"]
        self.assertEqual((containers[0]["low_key"], containers[0]["entries_flushed"]), ("", 1))
        self.assertEqual((containers[0]["extents_bytes"], containers[0]["garbage_bytes"]), (0, 0))
        told = self.api("explain", tree=hex_of("other"), key=hex_of("grace"))
        self.assertEqual((told["found"], told["value_bytes"]), (True, 4))
        figures = self.api("metrics")
        self.assertEqual((figures["mode"], figures["path"]), ("follower", str(self.db)))
        self.assertFalse(figures["process"]["alive"])
        self.assertGreater(figures["stats"]["disk_bytes_reachable"], 0)

    def test_any_bytes_come_as_they_are(self):
        every = bytes(range(256))
        self.hawthorn("put", self.db, "--hex", every.hex(), every[::-1].hex())
        self.start()
        self.assertEqual(self.entries(), [(every, every[::-1])])
        value = self.api("value", tree=hex_of("main"), key=every.hex())
        self.assertEqual(text_of(value["value"]), every[::-1])

    def test_large_values_come_in_parts(self):
        value = bytes(range(256)) * 20000
        self.put("large", "--file", str(self.file("value", value)))
        self.start()
        (entry,) = self.api("entries", tree=hex_of("main"))["entries"]
        self.assertEqual((entry["value_bytes"], len(entry["value"])), (len(value), 512))
        got = b""
        while len(got) < len(value):
            part = self.api("value", tree=hex_of("main"), key=hex_of("large"), offset=len(got),
                            size=1 << 20)
            got += text_of(part["value"])
        self.assertEqual(got, value)

    def test_who_is_refused(self):
        self.put("ada", "1815")
        self.start()
        port = self.address.port
        for host in ("example.org", f"example.org:{port}", "127.0.0.1.example.org", "0.0.0.0", ""):
            status, _, body = self.ask("/api/entries?tree=6d61696e", Host=host)
            self.assertEqual(status, 403, host)
            self.assertNotIn(b"61646", body)
        for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", "[::1]:1"):
            self.assertEqual(self.ask("/api/trees", Host=host)[0], 200, host)
        self.assertEqual(self.ask("/api/trees", Sec_Fetch_Site="cross-site")[0], 403)
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
            self.assertIn(self.ask("/", method)[0], (400, 405), method)
        # It listens at this one address, not at all of them.
        with socket.socket() as outside:
            outside.settimeout(2)
            self.assertNotEqual(outside.connect_ex(("127.0.0.2", port)), 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_other_users_are_refused(self):
        self.put("ada", "1815")
        self.start()
        for user, status in ((0, 200), (65534, 403)):
            child = os.fork()
            if child == 0:
                try:
                    os.setuid(user)
                    os._exit(0 if self.ask("/api/trees")[0] == status else 1)
                finally:
                    os._exit(2)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0, user)

    def test_errors(self):
        self.put("ada", "1815")
        self.start()
        main = hex_of("main")
        for code, status, name, parameters in (
                ("NotFound", 404, "nothing", {}),
                ("NotFound", 404, "entries", {"tree": hex_of("none")}),
                ("NotFound", 404, "value", {"tree": main, "key": hex_of("none")}),
                ("InvalidArgument", 400, "entries", {}),
                ("InvalidArgument", 400, "entries", {"tree": "main"}),
                ("InvalidArgument", 400, "entries", {"tree": main, "limit": "501"}),
                ("InvalidArgument", 400, "entries", {"tree": main, "limit": "-1"}),
                ("InvalidArgument", 400, "value", {"tree": main}),
                ("InvalidArgument", 400, "containers", {"tree": main, "from": "0"}),
                ("InvalidArgument", 400, "explain", {"tree": main, "key": "<script>"})):
            error = self.api(name, code=status, **parameters)["error"]
            self.assertEqual(error["code"], code, (name, parameters))
            self.assertTrue(error["message"])
            self.assertNotIn("<script>", error["message"])
        self.assertEqual(self.ask("/" + "a" * 9000)[0], 414)
        self.assertEqual(self.ask("/../../etc/passwd")[0], 404)
        self.assertEqual(self.entries(), [(b"ada", b"1815")])

    def test_it_changes_nothing(self):
        self.put("ada", "1815")
        # But for its entry among the followers.
        files = lambda: {path: path.read_bytes() for path in self.db.iterdir()
                         if path.name != "followers"}
        before = files()
        self.start()
        self.entries()
        self.api("containers", tree=hex_of("main"))
        self.end()
        self.assertEqual(files(), before)

    def test_it_keeps_nobody_out(self):
        self.skip_under_emulator("4 GB of addresses have no room for as many views and threads")
        self.put("ada", "1815")
        self.start()
        self.assertEqual(self.entries(), [(b"ada", b"1815")])
        for number in range(3):
            self.put("grace", str(number))
            self.assertEqual(self.entries(), [(b"ada", b"1815"), (b"grace", b"%d" % number)])
        self.hawthorn("compact", self.db)
        self.assertEqual(len(self.entries()), 2)
        self.end()

    def test_where_nothing_can_be_followed(self):
        self.put("ada", "1815")
        (self.db / "followers").unlink()
        self.start()
        self.assertEqual(self.entries(), [(b"ada", b"1815")])
        self.assertEqual(self.api("metrics")["mode"], "read_only")
        self.hawthorn("put", self.db, "grace", "1906", code=command_case.BUSY)
        self.end()

    def test_beside_a_process_that_writes(self):
        self.skip_without_start_times()
        writer = subprocess.Popen([command_case.PROGRAM, "shell", self.db], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.addCleanup(self.end_at_last, writer)

        def write(number):
            writer.stdin.write(b"put k%03d v%d\nget k%03d\n" % (number, number, number))
            writer.stdin.flush()
            self.assertEqual(writer.stdout.readline(), b"v%d\n" % number)

        write(0)
        self.start()
        for number in range(1, 30):
            write(number)
            self.assertEqual(len(self.entries()), number + 1)
        self.assertEqual(self.entries(**{"from": ""}), self.entries())
        self.assertEqual(self.entries(reverse=1, limit=1), [(b"k029", b"v29")])
        figures = self.api("metrics")
        self.assertEqual((figures["mode"], figures["process"]["pid"], figures["process"]["alive"]),
                         ("follower", writer.pid, True))
        commits = lambda: {counter["name"]: counter["value"] for counter in
                           self.api("metrics")["process"]["counters"]}["commits"]
        seen = commits()
        write(30)
        self.assertTrue(wait_until(lambda: commits() > seen))
        containers = self.api("containers", tree=hex_of("main"))["containers"]
        self.assertEqual(containers[0]["entries_unflushed"], 31)
        # It goes on where that process ends, and where another one begins.
        writer.communicate(b"quit\n")
        self.assertEqual(len(self.entries()), 31)
        self.assertFalse(self.api("metrics")["process"]["alive"])
        self.put("k999", "from another one")
        self.assertEqual(self.entries(reverse=1, limit=1), [(b"k999", b"from another one")])
        self.end()

    def test_many_ask_at_once(self):
        self.put("ada", "1815")
        self.start()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for found in pool.map(lambda _: self.entries(), range(200)):
                self.assertEqual(found, [(b"ada", b"1815")])

    def test_an_encrypted_one(self):
        key = self.file("key", KEY)
        self.put("ada", "secret", "--key-file", str(key))
        self.hawthorn("web", self.db, "--port", "0", code=USAGE)
        self.assertIn("is encrypted", self.stderr)
        self.start("--key-file", str(key))
        self.assertEqual(self.entries(), [(b"ada", b"secret")])
        self.assertNotIn(KEY, self.ask("/api/metrics")[2])

    def test_its_ends(self):
        self.put("ada", "1815")
        for how in (signal.SIGTERM, signal.SIGINT):
            self.start()
            self.entries()
            with socket.create_connection((self.address.hostname, self.address.port)) as idle:
                idle.sendall(b"GET / HTTP/1.1\r\n")
                self.end(how)
        self.start("--json")
        self.end()

    def test_what_cannot_begin(self):
        self.hawthorn("web", self.scratch / "none", code=NOT_FOUND)
        self.put("ada", "1815")
        self.start()
        self.hawthorn("web", self.db, "--port", str(self.address.port), code=ERROR)
        self.assertIn("cannot be listened at", self.stderr)
        for port in ("65536", "-1", "x"):
            self.hawthorn("web", self.db, "--port", port, code=USAGE)


if __name__ == "__main__":
    command_case.main()
