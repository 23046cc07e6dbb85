"""What the tests of `hawthorn web` share: the command as it runs, and questions to it."""

import http.client
import json
import signal
import subprocess
import unittest
import urllib.parse

import command_case
from command_case import HANG_SECONDS, CommandCase


def text_of(hexadecimal):
    return bytes.fromhex(hexadecimal)


def hex_of(text):
    return (text.encode() if isinstance(text, str) else text).hex()


def ask(address, target, method, headers):
    """Returns the answer and its body. A server closes a connection on which nothing has come for
    two seconds: where this process gets no processor for so long, it asks again, as browsers do."""
    for attempt in range(10):
        connection = http.client.HTTPConnection(address.hostname, address.port,
                                                timeout=HANG_SECONDS)
        connection.putrequest(method, target, skip_host=True)
        for name, value in {"Host": address.netloc, **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        try:
            connection.endheaders()
            answer = connection.getresponse()
            return answer, answer.read()
        except ConnectionError:
            if attempt == 9:
                raise
        finally:
            connection.close()
    raise AssertionError


class WebCase(CommandCase):
    def start(self, *options, directory=None):
        """Runs the command until the end of the test; its address is in self.url."""
        self.web = subprocess.Popen(
            [command_case.PROGRAM, "web", directory or self.db, "--port", "0", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end_at_last, self.web)
        line = self.web.stdout.readline().decode()
        if not line:
            said = self.web.stderr.read().decode()
            if "without cpp-httplib" in said:
                raise unittest.SkipTest(said)
            self.fail(said)
        self.url = json.loads(line)["url"] if "--json" in options else line.strip()
        self.address = urllib.parse.urlsplit(self.url)

    @staticmethod
    def end_at_last(process):
        process.kill()
        process.communicate()

    def end(self, how=signal.SIGTERM):
        self.web.send_signal(how)
        out, err = self.web.communicate(timeout=HANG_SECONDS)
        self.assertEqual((self.web.returncode, out, err), (0, b"", b""))

    def ask(self, target, method="GET", **headers):
        """Returns (status, headers, body) of any request."""
        answer, body = ask(self.address, target, method, headers)
        return answer.status, answer.headers, body

    def api(self, name, code=200, **parameters):
        status, headers, body = self.ask(f"/api/{name}?" + urllib.parse.urlencode(parameters))
        self.assertEqual(status, code, body)
        self.assertEqual(headers["Content-Type"], "application/json")
        return json.loads(body)

    def entries(self, tree="main", **parameters):
        found = self.api("entries", tree=hex_of(tree), **parameters)
        return [(text_of(entry["key"]), text_of(entry["value"])) for entry in found["entries"]]
