#!/usr/bin/env python3
"""What a new user types, typed: the way to a first key in docs/getting-started.md (C++, C, the
command) and in the README of each binding, from the documents alone.

    first_key_test.py PREFIX [NAME...]      NAME: started, python, rust, go, node, java

Each document is followed in an empty directory, from its top down. A block with a program goes into
the file whose name stands in the line before it (`first.c`:), and a block `sh first` is run; what
it exports stays for those behind it. A block `text output` is what the one before has to print. A
block `console first` has commands behind `$ `, and what each prints. `/path/to/hawthorn` is a copy
of the bindings, and PREFIX, where the library is installed, stands for /opt/hawthorn: what
getting-started.md says of such directories (`sh environment`) holds in all documents.

One line for each document: `passed`, `FAILED`, or `skipped` where a language is not on the machine.
How long each took is said, and not judged, since that is up to the machine: only what hangs fails.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from documents import COMMANDS, FENCE, REPOSITORY, lines_of

HANG_SECONDS = 1800
DOCUMENTS = {  # and the programs without which it is skipped
    "started": ("docs/getting-started.md", ("c++", "cc", "pkg-config")),
    "python": ("bindings/python/README.md", ("python3", "cc")),
    "rust": ("bindings/rust/README.md", ("cargo", "rustc")),
    "go": ("bindings/go/README.md", ("go", "cc")),
    "node": ("bindings/node/README.md", ("node", "npm", "c++")),
    "java": ("bindings/java/README.md", ("javac", "jar", "cc")),
}
NAMED = re.compile(r"`([\w./]+\.\w+)`:$")
GENERATED = ("build", "target", "node_modules", "__pycache__", "*.egg-info")


class Wrong(Exception):
    """The document does not hold."""


def steps(path):
    """(line, kind, what, text) of a document: files to write, commands, what these print."""
    before, block, start = "", None, 0
    for number, line, is_code in lines_of(path.read_text("utf-8")):
        fence = FENCE.match(line) if is_code else None
        if not is_code:
            before = line or before
        elif block is None:
            block, start, text = fence.groups()[1:], number, ""
        elif fence and not fence.group(2):
            language, words = block[0], block[1].strip()
            named = NAMED.search(before)
            if language in ("sh", "console") and words in (COMMANDS, "environment"):
                yield start, language, words, text
            elif (language, words) == ("text", "output"):
                yield start, "output", "", text
            elif named:
                yield start, "file", named.group(1), text
            block, before = None, ""
        else:
            text += line + "\n"


class Reader:
    """Somebody who reads a document and does what it says, in a directory."""

    def __init__(self, directory, prefix, checkout, environment):
        self.directory, self.environment = directory, dict(environment)
        self.places = {"/opt/hawthorn": str(prefix), "/path/to/hawthorn": str(checkout)}
        self.deadline = time.monotonic() + HANG_SECONDS

    def type(self, commands):
        """Runs commands; what they export stays. Returns what they printed."""
        for name, place in self.places.items():
            commands = commands.replace(name, place)
        kept = self.directory.parent / "environment"
        script = f"set -e\n{commands}\nenv -0 >'{kept}'\n"
        try:
            done = subprocess.run(
                ["bash", "-c", script], cwd=self.directory, env=self.environment, text=True,
                stdin=subprocess.DEVNULL, capture_output=True, check=False,
                timeout=max(1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired as late:
            raise Wrong(f"not done within {HANG_SECONDS} s:\n{commands}") from late
        if done.returncode != 0:
            raise Wrong(f"ended with {done.returncode}:\n{commands}{done.stdout}{done.stderr}")
        pairs = kept.read_text("utf-8").split("\0")
        self.environment = dict(pair.split("=", 1) for pair in pairs if pair)
        return done.stdout

    def console(self, text):
        for call in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, _, expected = call.partition("\n")
            printed = self.type(command)
            if printed != expected:
                raise Wrong(f"{command}\nprints\n{printed}and not\n{expected}")

    def follow(self, path):
        """Does all of a document; returns the number of commands' blocks with known output."""
        printed, compared, written = None, 0, 0
        for line, kind, what, text in steps(path):
            try:
                if kind == "file":
                    target = self.directory / what
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(text, "utf-8")
                    written += 1
                elif kind == "sh":
                    printed = self.type(text)
                elif kind == "console":
                    self.console(text)
                    compared += 1
                elif kind == "output":
                    if printed is None:
                        raise Wrong("an output without commands")
                    if printed != text:
                        raise Wrong(f"printed was\n{printed}and not\n{text}")
                    printed, compared = None, compared + 1
            except Wrong as wrong:
                raise Wrong(f"{path.parent.name}/{path.name}:{line}: {wrong}") from None
        if written == 0 or compared < written:
            raise Wrong(f"{path.parent.name}/{path.name}: {written} programs, {compared} outputs")
        return compared


def environment_of(prefix, scratch):
    """That of a new shell, with what getting-started.md says of directories of their own."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("HAWTHORN", "CGO_", "VIRTUAL_ENV", "PYTHON", "CARGO_TARGET"))}
    clean["npm_config_cache"] = str(scratch / "npm")
    reader = Reader(scratch, prefix, "", clean)
    found = [text for _, _, words, text in steps(REPOSITORY / DOCUMENTS["started"][0])
             if words == "environment"]
    if len(found) != 1:
        raise Wrong("getting-started.md does not say what a directory of its own needs")
    reader.type(found[0])
    return reader.environment


def try_document(name, prefix, scratch):
    path = REPOSITORY / DOCUMENTS[name][0]
    missing = [tool for tool in DOCUMENTS[name][1] if not shutil.which(tool)]
    if missing:
        print(f"skipped first key: {name}: no {', '.join(missing)}", flush=True)
        return True
    directory = scratch / name
    directory.mkdir()
    started = time.monotonic()
    try:
        compared = Reader(directory, prefix, scratch / "hawthorn",
                          environment_of(prefix, scratch)).follow(path)
    except Wrong as wrong:
        print(wrong)
        print(f"FAILED first key: {name}", flush=True)
        return False
    seconds = time.monotonic() - started
    print(f"passed first key: {name}, {compared} outputs in {seconds:.0f} s", flush=True)
    return True


def check_itself(prefix, scratch):
    """A document that lies must fail."""
    program, run = "`a.sh`:\n\n```sh\n{}\n```\n\n", "```sh first\nsh a.sh\n```\n\n"
    output, console = "```text output\n1\n```\n", "```console first\n$ echo {}\n1\n```\n"
    for text, holds in ((program.format("echo 1") + run + output + console.format(1), True),
                        (program.format("echo 2") + run + output, False),
                        (program.format("echo 1; exit 1") + run + output, False),
                        (program.format("echo 1") + run, False),
                        (program.format("echo 1") + output, False),
                        (program.format("echo 1") + run + output + console.format(2), False)):
        folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        (folder / "in").mkdir()
        document = folder / "a.md"
        document.write_text(text, "utf-8")
        try:
            Reader(folder / "in", prefix, "", os.environ).follow(document)
            followed = True
        except Wrong:
            followed = False
        if followed != holds:
            sys.exit(f"FAILED first key: followed is {followed}:\n{text}")


def main():
    if len(sys.argv) < 2 or set(sys.argv[2:]) - set(DOCUMENTS):
        sys.exit(__doc__)
    prefix = pathlib.Path(sys.argv[1]).resolve()
    work = REPOSITORY / "build" / "bindings"
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work, prefix="first_key.") as folder:
        scratch = pathlib.Path(folder)
        shutil.copytree(REPOSITORY / "bindings", scratch / "hawthorn" / "bindings",
                        ignore=shutil.ignore_patterns(*GENERATED))
        check_itself(prefix, scratch)
        good = [try_document(name, prefix, scratch) for name in sys.argv[2:] or DOCUMENTS]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
