"""What is known of SQLite's TCL tests over Hawthorn (tcl.py), and how a run compares with it.

tcl_reasons.tsv   KEY, KIND, SENTENCE: why cases are left out, or fail.
tcl.tsv           FILE, KEY, PATTERN...: to which cases of a file a reason applies; `*`: to all.

KIND is `excluded`: what they test is not there, by design; or `fails`: they count. Cases that fail
with SQLite's B-tree too count for nothing.

1. A case that does not pass, of those that SQLite's B-tree passes, has a reason.
2. A pattern with a reason that `fails` is of cases that do not pass. One that excludes may be of
   cases that do pass, which then count as such.
"""

import collections
import fnmatch
import re

NEW = "unsorted"


class Table:
    def __init__(self, directory):
        self.path = directory / "tcl.tsv"
        self.reasons = {}
        for key, kind, sentence in rows(directory / "tcl_reasons.tsv"):
            if kind not in ("excluded", "fails"):
                raise SystemExit(f"tcl_reasons.tsv: {key} is of kind {kind}")
            self.reasons[key] = (kind, sentence)
        self.patterns = collections.defaultdict(list)  # of a file: (pattern, key)
        for name, key, *patterns in rows(self.path):
            if key not in self.reasons and key != NEW:
                raise SystemExit(f"tcl.tsv: {name}: {key} is no reason")
            self.patterns[name] += [(pattern, key) for pattern in patterns[0].split(" ")]

    def files(self):
        return set(self.patterns)

    def whole(self, name):
        """Why a file is excluded as a whole, or None."""
        return next((key for pattern, key in self.patterns.get(name, ()) if pattern == "*"), None)

    def reason(self, name, case):
        case = plain(case)
        return next((key for pattern, key in self.patterns.get(name, ())
                     if fnmatch.fnmatchcase(case, pattern)), None)

    def excludes(self, key):
        return key in self.reasons and self.reasons[key][0] == "excluded"

    def update(self, judged):
        """Patterns that are still right stay; for the cases that are left new ones are made."""
        for name, verdict in judged.items():
            if self.whole(name):
                continue
            passed = {plain(case) for case in verdict.passed}
            by_key = collections.defaultdict(set)
            for case in verdict.not_passed:
                by_key[self.reason(name, case) or NEW].add(plain(case))
            others = {key: passed.union(*(by_key[k] for k in by_key if k != key)) for key in by_key}
            kept = []
            for pattern, key in self.patterns[name]:
                met = {case for case in by_key[key] if fnmatch.fnmatchcase(case, pattern)}
                passes = any(fnmatch.fnmatchcase(case, pattern) for case in passed)
                if met and key != NEW and (self.excludes(key) or not passes):
                    kept.append((pattern, key))
                    by_key[key] -= met
            self.patterns[name] = kept + [(pattern, key) for key in sorted(by_key)
                                          for pattern in patterns_of(by_key[key], others[key])]
        lines = ["# file, reason, its cases; see tcl_table.py"]
        for name in sorted(self.patterns):
            keys = collections.defaultdict(list)
            for pattern, key in self.patterns[name]:
                keys[key].append(pattern)
            lines += ["\t".join([name, key, " ".join(sorted(keys[key]))]) for key in sorted(keys)]
        self.path.write_text("\n".join(lines) + "\n")


def rows(path):
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def plain(case):
    """A name as it stands in the table: what means something in a pattern is one of anything."""
    return re.sub(r"[][*?\s]", "?", case)


def patterns_of(wanted, others):
    """Patterns that match all of `wanted` and none of `others`, by the parts of the names."""
    found = []

    def visit(prefix, names):
        if len(names) == 1:
            found.append(names.pop())
            return
        if prefix and not any(other.startswith(prefix) for other in others):
            found.append(prefix + "*")
            return
        parts = collections.defaultdict(set)
        for name in names:
            part = re.match(r"[^.-]*[.-]?", name[len(prefix):]).group(0)
            parts[part].add(name)
        for part, these in sorted(parts.items()):
            if part:
                visit(prefix + part, these)
            else:
                found.append(prefix)

    visit("", set(wanted))
    return found


class Verdict:
    """Of a file: cases, by how often they are run with SQLite's B-tree."""

    def __init__(self):
        self.stock = 0         # of SQLite's B-tree
        self.stock_failed = 0  # with which they fail too
        self.excluded = collections.Counter()  # by reason
        self.failed = collections.Counter()    # by reason
        self.not_passed = {}   # names, and how often
        self.passed = set()    # names
        self.how = ""


def total(cases):
    return sum(run for run, _ in cases.values())


def judge(table, name, stock, ours):
    verdict = Verdict()
    verdict.how = ours[0]
    whole = table.whole(name)
    # Names that are made of random numbers differ from run to run.
    as_many = ours[0] == "ended" and total(ours[1]) == total(stock[1])
    for case in list(stock[1]) + [case for case in ours[1] if case not in stock[1]]:
        run, stock_failed = stock[1].get(case, (0, 0))
        run_here, failed = ours[1].get(case, (0, 0))
        verdict.stock += run
        if stock_failed:
            verdict.stock_failed += run
            continue
        # One that is run here alone, or more often, counts where it fails.
        bad = failed + (0 if as_many else max(0, run - run_here))
        if run:
            bad = min(bad, run)
        if whole:
            verdict.excluded[whole] += run
        elif bad:
            key = table.reason(name, case) or NEW
            verdict.not_passed[case] = bad
            (verdict.excluded if table.excludes(key) else verdict.failed)[key] += bad
        else:
            verdict.passed.add(case)
    return verdict


def report(table, judged):
    """Prints what there is, and answers the exit code."""
    wrong = []
    excluded, failed = collections.Counter(), collections.Counter()
    for name, verdict in judged.items():
        excluded.update(verdict.excluded)
        failed.update(verdict.failed)
        if verdict.failed[NEW]:
            new = [case for case in verdict.not_passed
                   if (table.reason(name, case) or NEW) == NEW]
            wrong.append(f"{name}: {len(new)} cases fail without a reason: {' '.join(new[:10])}")
        for pattern, key in table.patterns.get(name, ()):
            if table.excludes(key):
                continue
            passes = [c for c in verdict.passed if fnmatch.fnmatchcase(plain(c), pattern)]
            fails = [c for c in verdict.not_passed if fnmatch.fnmatchcase(plain(c), pattern)]
            if passes or not fails:
                wrong.append(f"{name}: {pattern} passes now" +
                             (f": {' '.join(passes[:10])}" if fails else ""))
    cases = sum(verdict.stock for verdict in judged.values())
    both = sum(verdict.stock_failed for verdict in judged.values())
    left = cases - both - sum(excluded.values())
    bad = sum(failed.values())
    print(f"{len(judged)} files, {cases} cases with SQLite's B-tree, of which {both} fail with it")
    for key, count in excluded.most_common():
        print(f"{count:8} excluded: {key}: {table.reasons[key][1]}")
    for key, count in failed.most_common():
        print(f"{count:8} fail: {key}: {table.reasons.get(key, ('', 'no reason is known'))[1]}")
    print(f"{sum(excluded.values())} excluded, {left} remain, {left - bad} of them pass"
          f" ({100.0 * (left - bad) / max(left, 1):.2f} %)")
    for line in wrong:
        print("wrong:", line)
    return 1 if wrong else 0
