"""Which charts of our figures stand beside those of a document."""

import statistics

from chart import Chart, Series
from palette import UNFAIR
from run import curve_point

PERCENTILES = (("p50_us", "p50"), ("p90_us", "p90"), ("p99_us", "p99"), ("p999_us", "p99.9"),
               ("max_us", "longest"))


class Charts:
    """Makes the charts of one document of the figures and the jobs of a plan."""

    def __init__(self, figures, jobs):
        self.figures = figures
        self.jobs = {job.item.key: job for job in jobs}

    def of(self, document):
        made = getattr(self, "_" + document)()
        return [chart for chart in made if not chart.is_empty()]

    def _name(self, engine):
        return engine + UNFAIR if engine in self.figures.unfair else engine

    def _series(self, item, named):
        """A series for each engine: `named` are (position, phase, metric)."""
        result = []
        for engine in self.figures.engines(item):
            found = [(at, self.figures.summary(item, engine, phase, metric))
                     for at, phase, metric in named]
            found = [(at, one) for at, one in found if one is not None]
            if found:
                result.append(Series(self._name(engine), [(at, one.median) for at, one in found],
                                     [one.low for _, one in found],
                                     [one.high for _, one in found]))
        return tuple(result)

    def _bars(self, item, title, unit, named, better="more", log_y=False):
        """`named`: (category, phase, metric)."""
        series = self._series(item, [(at, phase, metric)
                                     for at, (_, phase, metric) in enumerate(named)])
        return Chart("bars", title, "", unit, series, tuple(name for name, _, _ in named),
                     better=better, log_y=log_y)

    def _percentiles(self, item, phase, title):
        series = self._series(item, [(at, phase, metric)
                                     for at, (metric, _) in enumerate(PERCENTILES)])
        lines = tuple(Series(one.name, one.points) for one in series)
        return Chart("lines", title, "percentile", "us", lines,
                     tuple(name for _, name in PERCENTILES), log_y=True, better="less")

    def _curve(self, item, title, x_label, y_label, phase=None, column=None,
               better="more"):
        """The lines of --csv by position: medians over the rounds, with their range."""
        series = []
        for engine in self.figures.engines(item):
            places = {}
            for run in self.figures.runs:
                if (run.item, run.engine) != (item, engine) or not run.has_figures():
                    continue
                rows = [row for row in run.curve if phase is None or row.get("phase") == phase]
                for at, row in enumerate(rows):
                    x, y = curve_point(row, at)
                    y = float(row.get(column) or 0) if column else y
                    places.setdefault(at, []).append((x, y))
            points = [(statistics.median(x for x, _ in found),
                       statistics.median(y for _, y in found)) for found in places.values()]
            if points:
                series.append(Series(self._name(engine), points,
                                     [min(y for _, y in found) for found in places.values()],
                                     [max(y for _, y in found) for found in places.values()]))
        # A run of less than two seconds, or rounds, is no curve.
        if max((len(one.points) for one in series), default=0) < 2:
            series = []
        return Chart("lines", title, x_label, y_label, tuple(series), better=better)

    def _sizes(self, item, title="Bytes reachable, and on disk when closed"):
        return self._bars(item, title, "bytes", (("reachable", "verify", "bytes_reachable"),
                                                 ("on disk", "verify", "bytes_on_disk")), "less")

    def _memory(self, item):
        return self._bars(item, "Peak resident memory", "bytes",
                          (("", "verify", "rss_bytes"),), "less")

    def _upsert(self):
        return [
            self._curve("upsert", "Random upserts, by round", "keys", "keys/s"),
            self._sizes("upsert"),
            self._bars("upsert", "All rounds, as they went and drained", "keys/s",
                       (("as it went", "upsert", "ops_per_s"),
                        ("drained", "drain", "ops_per_s"))),
            self._curve("upsert", "Blocks of the files while it grows", "keys", "bytes",
                        column="bytes_on_disk", better="less"),
            self._percentiles("upsert", "upsert", "Upserts: time of a commit of 100"),
            self._memory("upsert"),
        ]

    def _scale(self):
        return [
            self._curve("scale", "Inserts beside 12 readers, by round", "keys", "inserts/s"),
            self._curve("scale", "Gets of 12 threads beside the writer, by round", "keys",
                        "gets/s", column="reads_per_s"),
            self._bars("scale", "Inserts: first ten rounds, mean, last ten", "inserts/s",
                       (("first ten", "insert", "first_ten_rounds_ops_per_s"),
                        ("mean", "insert", "ops_per_s"),
                        ("last ten", "insert", "last_ten_rounds_ops_per_s"))),
            self._bars("scale", "Gets: first ten rounds, mean, last ten", "gets/s",
                       (("first ten", "read", "first_ten_rounds_ops_per_s"),
                        ("mean", "read", "ops_per_s"),
                        ("last ten", "read", "last_ten_rounds_ops_per_s")), log_y=True),
            self._percentiles("scale", "read", "Time of a get beside the writer"),
            self._percentiles("scale", "insert", "Time of a commit of 1,024"),
            self._sizes("scale"),
            self._memory("scale"),
        ]

    def _by_parameter(self, workload, title, x_label, y_label, phase, metric):
        """A line for each engine over the items of a workload: batches, sizes of records."""
        items = [job.item for job in self.jobs.values() if job.item.workload == workload]
        places = {}
        for item in items:
            for one in self._series(item.key, [(item.parameter, phase, metric)]):
                places.setdefault(one.name, []).append((one.points[0], one.low[0], one.high[0]))
        series = tuple(Series(engine, [point for point, _, _ in found],
                              [low for _, low, _ in found], [high for _, _, high in found])
                       for engine, found in places.items())
        series = tuple(sorted(series, key=lambda one: one.name != "hawthorn"))
        return Chart("lines", title, x_label, y_label, series, log_x=True)

    def _bank(self):
        batch = "transfers a commit, logarithmic"
        best = next((key for key in ("bank-100", "bank-1", "bank-10000") if key in self.jobs), "")
        each = {"bank-100": "100", "bank-1": "1", "bank-10000": "10,000"}.get(best, "")
        return [
            self._by_parameter("bank", "Transfers by batch, alone", batch, "tx/s", "write",
                               "tx_per_s"),
            self._by_parameter("bank", "Transfers by batch, beside a reader", batch, "tx/s",
                               "write_read", "tx_per_s"),
            self._by_parameter("bank", "The reader by batch", batch, "reads/s", "write_read",
                               "reads_per_s"),
            self._curve(best, f"By tenth of the phase, {each} a commit, beside a reader", "tenth",
                        "tx/s", phase="write_read"),
            self._sizes(best),
            self._transfers(best, each),
            self._percentiles(best, "write", f"Bank: time of a commit of {each}"),
            self._bars(best, "Scan of all, and walk by cursor", "entries/s",
                       (("scan", "scan", "entries_per_s"),
                        ("cursor", "iterate", "entries_per_s"))),
            self._bars(best, "Load of the accounts, one batch", "entries/s",
                       (("", "load", "ops_per_s"),)),
            self._memory(best),
        ]

    def _transfers(self, item, each):
        return self._bars(item, f"Bank, {each} a commit: alone, and beside a reader", "tx/s",
                          (("alone", "write", "tx_per_s"),
                           ("with a reader", "write_read", "tx_per_s")))

    def _insert(self):
        charts = [
            self._by_parameter("insert", "Inserts by the size of a record",
                               "bytes of a record, logarithmic", "inserts/s", "insert",
                               "ops_per_s"),
        ]
        for size in (128, 256, 512):
            charts.append(self._curve(f"insert-{size}", f"Records of {size} bytes, by second",
                                      "records", "inserts/s"))
        for size in (128, 512):
            charts.append(self._percentiles(f"insert-{size}", "insert",
                                            f"Time of an insert of {size} bytes"))
        return charts + [
            self._bars("insert-128", "Records of 128 bytes: mean, and worst second", "inserts/s",
                       (("mean", "insert", "ops_per_s"),
                        ("worst second", "insert", "worst_second_ops_per_s"))),
            self._sizes("insert-128", "Records of 128 bytes: reachable, and on disk"),
            self._memory("insert-128"),
        ]

    def _by_depth(self, title, y_label, phase, metric, log_y=False, better="more"):
        series = self._series("nvme", [(depth, f"{phase}_{depth}", metric)
                                       for depth in (1, 8, 16)])
        return Chart("lines", title, "reads under way from each of 12 threads, logarithmic",
                     y_label, series, log_x=True, log_y=log_y, better=better)

    def _nvme(self):
        return [
            self._bars("nvme", "Operations per second", "1/s",
                       (("load", "load", "ops_per_s"), ("drained", "drain", "ops_per_s"),
                        ("gets, 16", "read_16", "ops_per_s"), ("mix, 16", "mix_16", "ops_per_s"))),
            self._percentiles("nvme", "read_16", "Latency of a get, 16 under way"),
            self._bars("nvme", "Entries of ranges per second", "entries/s",
                       (("1 to 100", "range_small", "entries_per_s"),
                        ("512 to 1,024", "range_medium", "entries_per_s"),
                        ("114 K to 131 K", "range_large", "entries_per_s"))),
            self._bars("nvme", "Peak resident memory by phase", "bytes",
                       (("load", "load", "rss_bytes"), ("gets", "read_16", "rss_bytes"),
                        ("ranges", "range_large", "rss_bytes"), ("mix", "mix_16", "rss_bytes")),
                       "less"),
            self._by_depth("Gets by queue depth", "gets/s", "read", "ops_per_s"),
            self._by_depth("p99 of a get by queue depth", "us", "read", "p99_us", True, "less"),
            self._by_depth("Half gets, half puts by queue depth", "operations/s", "mix",
                           "ops_per_s"),
            self._percentiles("nvme", "load", "Latency of a put of the load"),
            self._percentiles("nvme", "mix_read_16", "Latency of a get of the mix, 16 under way"),
            self._sizes("nvme"),
        ]


def pictures(figures, jobs):
    """Those of the README, by file name: each is some charts side by side."""
    charts = Charts(figures, jobs)
    found = {
        "report-throughput.png": (charts._transfers("bank-100", "100"), charts._upsert()[0]),
        "report-latency.png": (
            charts._percentiles("bank-100", "write", "Bank: time of a commit of 100"),
            charts._percentiles("upsert", "upsert", "Upserts: time of a commit of 100")),
    }
    return {name: [chart for chart in made if not chart.is_empty()]
            for name, made in found.items()}
