#!/usr/bin/env python3
"""completion and man: they know every command and every option that the command has."""

import os
import re
import shutil
import subprocess
import unittest

import command_case
from command_case import USAGE, CommandCase


class Generated(CommandCase):
    def commands(self):
        """All commands, with the options that their help tells."""
        text = self.hawthorn("--help").decode()
        names = re.findall(r"^  ([a-z][a-z-]*) ", text.split("Subcommands:")[1], re.M)
        self.assertGreater(len(names), 20)
        # Of other programs there are only names here.
        programs = {"bench", "import-rocksdb", "export-rocksdb", "import-sqlite", "export-sqlite",
                    "ldb", "mdbx-dump", "mdbx-load"}
        commands = {}
        for name in names:
            help_text = "" if name in programs else self.hawthorn(name, "--help").decode()
            commands[name] = set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z0-9-]*)", help_text, re.M))
        self.assertIn("--watch", commands["stats"])
        return commands

    def test_every_shell_knows_all(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.hawthorn("completion", shell).decode()
            for command, options in self.commands().items():
                with self.subTest(shell=shell, command=command):
                    if shell == "fish":
                        self.assertIn(f"-a {command} -d ", script)
                        own = "\n".join(line for line in script.splitlines()
                                        if f"__fish_seen_subcommand_from {command}'" in line)
                        known = {"--" + name for name in re.findall(r" -l (\S+)", own)}
                    else:
                        begin = f"\n    {command})\n" if shell == "bash" else f"\n    ({command})\n"
                        self.assertIn(begin, script)
                        own = script.split(begin)[1].split(";;\n    " if shell == "zsh"
                                                           else "\n      ;;\n")[0]
                        known = set(re.findall(r"--[a-z][a-z0-9-]*", own))
                    self.assertLessEqual(options, known)
        self.hawthorn("completion", "tcsh", code=USAGE)
        self.hawthorn("completion", code=USAGE)

    def bash(self, *words):
        script = self.hawthorn("completion", "bash").decode() + (
            'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hawthorn\n'
            'printf "%s\\n" "${COMPREPLY[@]}"\n')
        done = subprocess.run(["bash", "-euc", script, "bash", "hawthorn", *words], check=True,
                              capture_output=True, cwd=self.scratch)
        return done.stdout.decode().split()

    def test_bash_completes(self):
        (self.scratch / "somewhere").mkdir()
        self.file("some.csv", b"")
        self.assertEqual(self.bash("expl"), ["explain"])
        self.assertIn("put", self.bash(""))
        self.assertEqual(self.bash("put", "--dur"), ["--durability"])
        self.assertEqual(self.bash("put", "--durability", "n"), ["none"])
        self.assertEqual(self.bash("put", "so"), ["somewhere"])
        self.assertEqual(sorted(self.bash("import", "db", "so")), ["some.csv", "somewhere"])
        self.assertEqual(sorted(self.bash("import", "--tree", "t", "db", "--format", "")),
                         ["csv", "jsonl"])
        self.assertEqual(self.bash("import", "--tree", "t", "some"), ["somewhere"])
        self.assertEqual(self.bash("completion", "z"), ["zsh"])
        self.assertEqual(self.bash("put", "db", "k"), [])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_takes_the_script(self):
        file = self.file("_hawthorn", self.hawthorn("completion", "zsh"))
        subprocess.run(["zsh", "-n", file], check=True)
        done = subprocess.run(["zsh", "-fc", f"autoload -U compinit; compinit -D; source {file}; "
                               "print $_comps[hawthorn]"], check=True, capture_output=True)
        self.assertEqual(done.stdout, b"_hawthorn\n")

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish_completes(self):
        file = self.file("hawthorn.fish", self.hawthorn("completion", "fish"))

        def complete(line):
            done = subprocess.run(["fish", "--no-config", "-c",
                                   f"source {file}; complete -C '{line}'"],
                                  check=True, capture_output=True)
            return [each.split("\t")[0] for each in done.stdout.decode().splitlines()]

        self.assertEqual(complete("hawthorn expl"), ["explain"])
        self.assertEqual(complete("hawthorn put --dur"), ["--durability"])
        self.assertEqual(complete("hawthorn put --durability n"), ["none"])

    def test_man_pages_hold_all(self):
        page = self.hawthorn("man").decode()
        self.assertTrue(page.startswith(".TH HAWTHORN 1 "), page[:50])
        for command, options in self.commands().items():
            with self.subTest(command=command):
                name = command.replace("-", "\\-")
                self.assertIn(f"\n.SS {name}\n", page)
                own = self.hawthorn("man", command).decode()
                self.assertIn(f"\nhawthorn\\-{name} \\- ", own)
                for option in options:
                    self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", own)
        self.hawthorn("man", "fly", code=USAGE)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_groff_has_nothing_to_say(self):
        for command in ((), ("scan",)):
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], check=True,
                                  input=self.hawthorn("man", *command), capture_output=True,
                                  env={**os.environ, "LC_ALL": "C"})
            self.assertEqual(done.stderr, b"")


if __name__ == "__main__":
    command_case.main()
