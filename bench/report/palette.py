"""One colour for each engine, in light and in dark, the same in every chart.

Ours is the strong green and the wide line; engines of one family are of one hue, and a dash or a
hollow mark tells them apart where colours do not.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Style:
    slot: str
    light: str
    dark: str
    dash: str = ""
    width: float = 1.6


STYLES = (
    Style("ours", "#0a7d43", "#3ddc84", width=3.0),
    Style("rocks", "#d2560b", "#ff8a3d"),
    Style("rocks2", "#9a3b00", "#ffb98a", "6 3"),
    Style("rocks3", "#e6a100", "#ffd24d"),
    Style("rocks4", "#b88a00", "#ffe9a8", "6 3"),
    Style("lmdb", "#1668c7", "#6cb2ff"),
    Style("lmdb2", "#5aa9e6", "#b9dcff", "6 3"),
    Style("mdbx", "#4a4fd4", "#a5a8ff", "2 2"),
    Style("sqlite", "#c2378f", "#ff7ac6"),
    Style("leveldb", "#6d4c41", "#c9a395", "8 3 2 3"),
    Style("wired", "#607d8b", "#a9c0cc", "2 2"),
    Style("tides", "#00838f", "#4dd9e6", "8 3 2 3"),
    Style("tupl", "#5b8c00", "#b5e04a", "2 2"),
    Style("theirs", "#7b1fa2", "#d48cf5", width=2.4),
    Style("theirs2", "#b05fd0", "#ecc5fb", "6 3", 2.0),
    Style("other", "#777777", "#bbbbbb", "4 2"),
    Style("unfair", "#d40000", "#ff5c5c"),
)
BY_SLOT = {style.slot: style for style in STYLES}

# Names of engines here, and of those in the documents.
SLOTS = {
    "hawthorn": "ours",
    "rocksdb": "rocks", "rocksdb-tuned": "rocks2", "rocksdb-level": "rocks3",
    "rocksdb-universal": "rocks3", "rocksdb-universal-get": "rocks4",
    "lmdb": "lmdb", "lmdb-writemap": "lmdb2", "mdbx": "mdbx", "mdbx-writemap": "lmdb2",
    "sqlite": "sqlite", "leveldb": "leveldb", "wiredtiger": "wired", "tidesdb": "tides",
    "RocksDB": "rocks", "MDBX": "mdbx", "TidesDB": "tides",
    "tupldb": "tupl", "psitri": "theirs2", "hedgedb": "theirs",
    "PsiTri": "theirs", "HedgeDB": "theirs", "PsiTriRocks": "theirs2", "HedgeDB QD8": "theirs2",
}


# Behind the name of an engine whose library was built with assertions: all of these are red, and
# dashes tell them apart.
UNFAIR = " (assertions)"
UNFAIR_DASHES = ("1 2", "6 3", "2 4", "8 3 2 3")


def style_of(engine):
    if not engine.endswith(UNFAIR):
        return BY_SLOT[SLOTS.get(engine, "other")]
    places = list(BY_SLOT)
    place = places.index(SLOTS.get(engine.removesuffix(UNFAIR), "other"))
    return replace(BY_SLOT["unfair"], dash=UNFAIR_DASHES[place % len(UNFAIR_DASHES)])


def variables(dark):
    return "".join(f"--e-{style.slot}:{style.dark if dark else style.light};" for style in STYLES)
