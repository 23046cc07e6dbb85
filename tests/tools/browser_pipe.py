"""A page of a headless browser that is driven through two pipes (--remote-debugging-pipe)."""

import json
import os
import subprocess
import time

from command_case import HANG_SECONDS


class BrowserPage:
    def __init__(self, command, url):
        answers, their_answers = os.pipe()
        their_questions, questions = os.pipe()

        def use_as_3_and_4():
            # Through copies: one of these may be 3 or 4 already.
            first, second = os.dup(their_questions), os.dup(their_answers)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen([*command, "--remote-debugging-pipe", "about:blank"],
                                        preexec_fn=use_as_3_and_4, close_fds=False,
                                        stderr=subprocess.DEVNULL)
        os.close(their_questions)
        os.close(their_answers)
        self.answers = os.fdopen(answers, "rb", 0)
        self.questions = os.fdopen(questions, "wb", 0)
        self.buffer, self.count, self.session, self.errors = b"", 0, {}, []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = {"sessionId": attached["sessionId"]}
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("Page.navigate", url=url)

    def message(self):
        while b"\0" not in self.buffer:
            part = self.answers.read(65536)
            if not part:
                raise EOFError("the browser has ended")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **parameters):
        self.count += 1
        self.questions.write(json.dumps({"id": self.count, "method": method, "params": parameters,
                                         **self.session}).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.count:
                return message["result"]
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.errors.append(message["params"])

    def run(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get(
            "value")

    def wait(self, script, wanted):
        """Until the script gives what is wanted; returns what it gave at last."""
        deadline = time.monotonic() + HANG_SECONDS
        while (found := self.run(script)) != wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.answers.close()
        self.questions.close()
