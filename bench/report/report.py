#!/usr/bin/env python3
"""Runs the benchmark documents' workloads on every engine and writes one page about it.

`make report` calls this by scripts/report.sh. Ends with 0 when the page is there, whatever it says
of peers; with 1 when a run of Hawthorn failed or gave nothing to compare; with 2 when nothing
could be run at all.
"""

import argparse
import datetime
import os
import shutil
import sys
import time

import charts
import history
import machine
import page
import png
import run
from chart import times
from documents import DOCUMENTS
from figures import Figures, compare
from plan import OURS, make_plan

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bench", required=True, help="the program hawthorn-bench")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "report"),
                        help="folder of the page, its data and pictures")
    parser.add_argument("--minutes", type=float, default=20.0, help="the time budget")
    parser.add_argument("--engines", default="", help="only these, separated by commas")
    parser.add_argument("--history", default="", help="default: history.jsonl in OUT")
    parser.add_argument("--databases", default="",
                        help="folder of the databases while they are run; default: data in OUT")
    parser.add_argument("--copy-to-docs", action="store_true",
                        help="copy the pictures of the README to docs/")
    parser.add_argument("--plan", action="store_true", help="print what would be run, and end")
    options = parser.parse_args(arguments)
    if not 0 < options.minutes <= 100_000:
        parser.error("--minutes is above 0")
    return options


def wanted_engines(text, installed):
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in installed]
    if unknown:
        raise ValueError(f"this build has no {', '.join(unknown)}; it has {', '.join(installed)}")
    if not names:
        return list(installed)
    return [OURS] + [name for name in names if name != OURS]


def print_plan(plan, log):
    log(f"{plan.seconds / 60:.1f} minutes are planned, of {plan.minutes:g}:")
    for job in plan.jobs:
        log(f"  {job.item.key:<14} {job.size:>12,} {job.item.unit}, rounds: {job.rounds}, about "
            f"{job.seconds:.0f} s: {', '.join(job.engines)}")
    for item, why in plan.not_run:
        log(f"  {item.key:<14} {why}")


def measured_slowness(plan, runs):
    """Seconds that runs took by those that the costs say, of a machine of slowness 1."""
    jobs = {job.item.key: job for job in plan.jobs}
    done = [one for one in runs if one.has_figures()]
    expected = sum(jobs[one.item].seconds_of(one.engine, 1.0) for one in done)
    return sum(one.seconds for one in done) / expected if expected else 0.0


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def draw_pictures(figures, jobs, options, date, log):
    """The pictures of the README; returns the names of those that were written."""
    if not png.available():
        log("no pictures for the README: python3-matplotlib is missing")
        return []
    names = []
    for name, made in charts.pictures(figures, jobs).items():
        if made:
            png.draw(made, os.path.join(options.out, name), f"{date}, hawthorn-bench")
            names.append(name)
    if options.copy_to_docs:
        for name in names:
            shutil.copy(os.path.join(options.out, name), os.path.join(ROOT, "docs", name))
    return names


def exit_message(content, names, options):
    """Lines that end a report, the worst first."""
    lines = []
    for change in content.regressions:
        lines.append(f"worse: {change.key}: {times(change.now)} times {change.peer}, before "
                     f"{times(change.before)} (-{(1 - change.part) * 100:.0f}%)" +
                     (", within the spread of the rounds" if change.within_spread else ""))
    for one in content.runs:
        if one.status == run.FAILED:
            lines.append(f"failed: {one.engine}, {one.item}, round {one.round + 1}: {one.reason}")
    rows = content.all_compared()
    lines.append(f"{len(rows)} rows: {sum(one.lost for one in rows)} lost; "
                 f"{len(content.regressions)} more than 10% below earlier reports; "
                 f"{sum(one.status == run.FAILED for one in content.runs)} runs failed")
    lines += [f"picture: {os.path.join(options.out, name)}" for name in names]
    lines.append(f"report: {os.path.join(options.out, 'index.html')}")
    return lines


def main(arguments, log=print):
    options = parse(arguments)
    started = time.monotonic()
    folder = options.databases or os.path.join(options.out, "data")
    history_file = options.history or os.path.join(options.out, "history.jsonl")
    os.makedirs(options.out, exist_ok=True)
    os.makedirs(folder, exist_ok=True)
    try:
        engines, not_built = run.list_engines(options.bench)
        installed = wanted_engines(options.engines, engines)
    except (OSError, ValueError, run.subprocess.SubprocessError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    if OURS not in engines:
        print(f"report: {options.bench} was built without {OURS}", file=sys.stderr)
        return 2

    facts = machine.describe(folder)
    machine_id = machine.machine_id(facts)
    entries, broken = history.load(history_file)
    plan = make_plan(options.minutes, installed, history.slowness_of(entries, machine_id),
                     machine.available_bytes(), run.can_cap(options.bench, folder))
    print_plan(plan, log)
    if options.plan:
        return 0
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    # The page takes some seconds at the end.
    deadline = started + options.minutes * 60 - min(10.0, options.minutes * 3)
    runner = run.Runner(options.bench, folder, deadline, plan.slowness, log)
    try:
        runs = runner.run_plan(plan)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

    figures = Figures(runs, [name for name, one in engines.items() if one.assertions])
    compared = {job.item.key: compare(figures, job.item) for job in plan.jobs}
    rows = [one for found in compared.values() for one in found]
    commit = machine.commit_of(ROOT)
    entry = history.record(date, commit, machine_id, options.minutes,
                           measured_slowness(plan, runs), plan.jobs, rows,
                           {name: one.build() for name, one in engines.items()})
    changes = history.changes(entries, entry)
    made = charts.Charts(figures, plan.jobs)
    content = page.Content(
        date=date, commit=commit, minutes=options.minutes, seconds=time.monotonic() - started,
        machine=facts, engines=engines, not_built=not_built, settings=run.settings_of(runs),
        plan=plan, documents=DOCUMENTS, compared=compared,
        charts={document.key: made.of(document.key) for document in DOCUMENTS}, runs=runs,
        changes=changes, regressions=history.regressions(changes),
        earlier=history.of_machine(entries, machine_id), broken_history=broken,
        files={"figures.csv": run.raw_csv(runs), "curves.csv": run.curves_csv(runs)})
    for name, text in content.files.items():
        write(os.path.join(options.out, name), text)
    write(os.path.join(options.out, "index.html"), page.render(content))
    if rows:
        history.append(history_file, entry)
    names = draw_pictures(figures, plan.jobs, options, date, log)
    for line in exit_message(content, names, options):
        log(line)
    ours_failed = any(one.status == run.FAILED and one.engine == OURS for one in runs)
    return 1 if ours_failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
