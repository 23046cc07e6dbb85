#!/usr/bin/env python3
"""metrics --listen: scraped as Prometheus does, beside who writes, and behind its end."""

import json
import os
import re
import signal
import socket
import subprocess
import unittest
import urllib.parse

import command_case
from command_case import ERROR, HANG_SECONDS, NOT_FOUND, USAGE, CommandCase, Writer, wait_until
from web_case import ask

SAMPLE = re.compile(r'^(hawthorn_[a-z_]+)\{database="([^"]*)"\} ([0-9.]+)$')


class Listen(CommandCase):
    def start(self, *options, listen="0"):
        self.process = subprocess.Popen(
            [command_case.PROGRAM, "metrics", self.db, "--listen", listen, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end_at_last, self.process)
        line = self.process.stdout.readline().decode()
        if not line:
            said = self.process.stderr.read().decode()
            if "without cpp-httplib" in said:
                raise unittest.SkipTest(said)
            self.fail(said)
        url = json.loads(line)["url"] if "--json" in options else line.strip()
        self.url = urllib.parse.urlsplit(url)
        self.assertEqual(self.url.path, "/metrics")

    @staticmethod
    def end_at_last(process):
        process.kill()
        process.communicate()

    def end(self, how):
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=HANG_SECONDS)
        self.assertEqual((self.process.returncode, out, err), (0, b"", b""))

    def ask(self, path="/metrics", method="GET", **headers):
        answer, body = ask(self.url, path, method, headers)
        return answer, body.decode()

    def scrape(self):
        """The samples, by name."""
        answer, body = self.ask(Accept="text/plain;version=0.0.4;q=1,*/*;q=0.1")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.getheader("Content-Type"),
                         "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(int(answer.getheader("Content-Length")), len(body))
        self.assertTrue(body.endswith("\n"))
        samples = {}
        for line in body.splitlines():
            if line.startswith("#"):
                continue
            name, database, value = SAMPLE.match(line).groups()
            self.assertEqual(database, str(self.db))
            self.assertNotIn(name, samples)
            samples[name] = float(value)
        return samples

    def await_sample(self, name, least):
        samples = {}

        def there():
            nonlocal samples
            samples = self.scrape()
            return samples.get(name, -1) >= least

        self.assertTrue(wait_until(there), f"{name}: {samples}")
        return samples

    def test_beside_a_writer_and_behind_its_end(self):
        with Writer(self) as writer:
            writer.write("k", "0")
            self.start()
            before = self.scrape()
            self.assertEqual(before["hawthorn_up"], 1)
            # What the file has is what the endpoint has.
            names = {line.split("{")[0]
                     for line in self.hawthorn("metrics", self.db).decode().splitlines()
                     if not line.startswith("#")}
            self.assertEqual(set(before), names)
            for number in range(10):
                writer.write("k", str(number))
            after = self.await_sample("hawthorn_commits_total",
                                      before.get("hawthorn_commits_total") + 1)
            self.assertGreater(after["hawthorn_updated_time_seconds"],
                               before["hawthorn_updated_time_seconds"])
            self.assertEqual(after["hawthorn_opened_time_seconds"],
                             before["hawthorn_opened_time_seconds"])
            writer.close()
        self.assertEqual(self.scrape(), {"hawthorn_up": 0})
        with Writer(self):  # the next one that opens it is found by the same endpoint
            self.assertEqual(self.await_sample("hawthorn_up", 1)["hawthorn_up"], 1)
        self.end(signal.SIGTERM)

    def test_one_that_was_killed(self):
        with Writer(self) as writer:
            self.start("--json")
            self.assertEqual(self.scrape()["hawthorn_up"], 1)
            writer.process.kill()
            writer.process.communicate()
            self.assertEqual(self.scrape(), {"hawthorn_up": 0})
        self.end(signal.SIGINT)

    def test_a_directory_that_goes(self):
        self.hawthorn("put", self.db, "a", "1")
        self.start()
        self.db.rename(self.scratch / "elsewhere")
        self.assertEqual(self.scrape(), {"hawthorn_up": 0})
        self.end(signal.SIGTERM)

    def test_what_else_is_asked_for(self):
        self.hawthorn("put", self.db, "secret", "1815")
        self.start()
        for path in ("/", "/metrics/", "/metric", "/api/trees", "/../metrics", "/metrics.gz"):
            answer, body = self.ask(path)
            self.assertEqual(answer.status, 404, path)
            self.assertEqual(body, "the figures are at /metrics\n")
        answer, body = self.ask(method="HEAD")
        self.assertEqual((answer.status, body), (200, ""))
        self.assertEqual(self.ask("/metrics?collect=x")[0].status, 200)
        self.assertEqual(self.ask(method="POST")[0].status, 405)
        self.assertEqual(self.ask(Host="example.org")[0].status, 403)
        self.assertNotIn("secret", self.ask()[1])
        with socket.socket() as outside:  # at this one address, not at all of them
            outside.settimeout(2)
            self.assertNotEqual(outside.connect_ex(("127.0.0.2", self.url.port)), 0)
        self.end(signal.SIGTERM)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_other_users_are_answered(self):
        self.hawthorn("put", self.db, "a", "1")
        self.start()
        child = os.fork()
        if child == 0:
            try:
                os.setuid(65534)
                os._exit(0 if self.scrape() == {"hawthorn_up": 0} else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_addresses(self):
        self.hawthorn("put", self.db, "a", "1")
        self.start(listen="127.0.0.3:0")
        self.assertEqual(self.url.hostname, "127.0.0.3")
        self.assertEqual(self.scrape(), {"hawthorn_up": 0})
        self.end(signal.SIGINT)
        self.start(listen="0.0.0.0:0")  # other machines call this one by other names
        self.assertEqual(self.ask(Host="db1.example.org:9464")[0].status, 200)
        self.end(signal.SIGTERM)

    def test_mistakes(self):
        self.hawthorn("metrics", self.db, "--listen", "0", code=NOT_FOUND)
        self.hawthorn("put", self.db, "a", "1")
        self.start()
        taken = str(self.url.port)
        self.hawthorn("metrics", self.db, "--listen", taken, code=ERROR)
        self.assertIn(f"127.0.0.1:{taken} cannot be listened at: Address already in use",
                      self.stderr)
        self.hawthorn("metrics", self.db, "--listen", "192.0.2.1:0", code=ERROR)
        self.assertIn("192.0.2.1:0 cannot be listened at: Cannot assign requested address",
                      self.stderr)
        for wrong in ("65536", "x", "localhost:1", "::1:9464", "1.2.3:9464", ":9464"):
            self.hawthorn("metrics", self.db, "--listen", wrong, code=USAGE)
            self.assertRegex(self.stderr, "--listen: (a port between|.* is no IP address)")
        for other in (["--output", self.scratch / "f"],
                      ["--output", self.scratch / "f", "--every", "1"]):
            self.hawthorn("metrics", self.db, "--listen", "0", *other, code=USAGE)


if __name__ == "__main__":
    command_case.main()
