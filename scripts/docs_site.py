"""What mkdocs does not do by itself for the documentation site (mkdocs.yml names this as a hook).

- Pages that are no files of docs/: the API reference (api_reference.py), each example, the
  bindings' and shims' own pages, CONTRIBUTING.md, and every file of the repository that some page
  leads to, as a listing.
- Links: pages link to files, by paths that are right in the repository. Here they become links to
  the pages that those files have become. A path of bindings/ that stands as code becomes a link
  where it is there.
- Lists, where Markdown as others know it is more lenient than mkdocs is: without an empty line
  before them, and indented by two spaces.
"""

import os
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import api_reference  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
LISTING_BYTES_MAX = 150_000
LANGUAGES = (("python", "Python"), ("rust", "Rust"), ("go", "Go"), ("node", "Node.js"),
             ("nodejs", "Node.js"), ("java", "Java"))
SHIMS = (("rocksdb", "RocksDB's API: what there is"), ("mdbx", "libmdbx's API: what there is"),
         ("sqlite", "SQLite: what there is"))
KINDS = {".cc": "cpp", ".h": "cpp", ".c": "c", ".py": "python", ".sh": "bash", ".java": "java",
         ".rs": "rust", ".go": "go", ".js": "javascript", ".ts": "typescript", ".json": "json",
         ".yml": "yaml", ".toml": "toml"}

LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))|^\[[^\]]+\]:\s+(\S+)")
DEFINITION = re.compile(r"^(\[[^\]]+\]:\s+)(\S+)(.*)$")
FENCE = re.compile(r"^( *)(`{3,}|~{3,})(\w*)(.*)$")
BINDING = re.compile(r"(?<!\[)`(bindings/[\w./-]+)`")
ITEM = re.compile(r"^( *)([-*]|\d+\.) +")

# What the search makes of a page: listings are not found, code comes behind prose.
UNFOUND = "---\nsearch:\n  exclude: true\n---\n"
BEHIND = "---\nsearch:\n  boost: 0.3\n---\n"
BEFORE = "---\nsearch:\n  boost: 2\n---\n"

pages = {}  # path in the repository -> path of its page
sources = {}  # path of a page -> path in the repository of what it is made from


def example_pages():
    """Each example as a page: what its first comment says, then all of it."""
    index = ["# Examples", "", "Each is a program in one file, and a test: it checks what it "
             "claims. `must.h` is what they share.", "", "| example | about |", "|---|---|"]
    for path in sorted((REPOSITORY / "examples").glob("*.*")):
        if path.suffix not in (".cc", ".c", ".h"):
            continue
        text = path.read_text("utf-8")
        lines = text.split("\n")
        start = 1 if lines[0].startswith("#pragma") else 0
        comment = []
        for line in lines[start:]:
            if not line.startswith("//"):
                break
            comment.append(line[2:].strip())
        about = " ".join(comment).split("  ")[0].replace("<", "&lt;")
        about = about.replace("*", "\\*")
        name = path.name
        uri = f"examples/{path.stem}.md"
        pages[f"examples/{name}"] = uri
        body = "\n".join(lines[start + len(comment):]).strip("\n")
        yield uri, (f"{BEHIND}# {path.stem}\n\n{about}\n\n`examples/{name}`\n\n"
                    f"```{KINDS[path.suffix]}\n{body}\n```\n")
        if path.suffix != ".h":
            index.append(f"| [{path.stem}]({path.stem}.md) | {about} |")
    pages["examples"] = "examples/index.md"
    yield "examples/index.md", "\n".join(index) + "\n"


def reference_pages():
    for name, text in api_reference.pages().items():
        folder, stem = name.split("/")
        stem = stem[:-len(".md")]
        uri = f"reference/{name}"
        if stem != "index":
            header = f"c/{stem}.h" if folder == "c" else f"{stem}.h"
            pages[f"include/hawthorn/{header}"] = uri
        yield uri, BEFORE + text
    pages["include/hawthorn"] = pages["include/hawthorn/hawthorn.h"] = "reference/cpp/index.md"
    pages["include/hawthorn/c"] = pages["include/hawthorn/c.h"] = "reference/c/index.md"


def own_pages():
    """Markdown of the repository outside of docs/ that has a place in the navigation."""
    found = {"CONTRIBUTING.md": "contributing.md"}
    for name, _ in SHIMS:
        found[f"shims/{name}/SUPPORTED.md"] = f"shims/{name}.md"
    for name, _ in LANGUAGES:
        found[f"bindings/{name}/README.md"] = f"bindings/{name}.md"
    for path, uri in found.items():
        if (REPOSITORY / path).is_file():
            pages[path] = uri
            pages[posixpath.dirname(path) or "."] = uri
            sources[uri] = path
            yield uri, (REPOSITORY / path).read_text("utf-8")
    pages["README.md"] = pages["docs"] = "index.md"


def decision_pages():
    index = ["# Decisions", "", "Choices that somebody may want to undo, with what they were "
             "measured by.", "", "| | |", "|---|---|"]
    for path in sorted((REPOSITORY / "docs" / "decisions").glob("*.md")):
        title = path.read_text("utf-8").split("\n", 1)[0].lstrip("# ")
        title = re.sub(r"^\d+\. ", "", title)
        index.append(f"| {int(path.name[:4])} | [{title}]({path.name}) |")
    pages["docs/decisions"] = "decisions/index.md"
    yield "decisions/index.md", "\n".join(index) + "\n"


def listing(path):
    """A page with the text of any file; None where it is too large, or no text."""
    try:
        text = (REPOSITORY / path).read_text("utf-8")
    except (UnicodeDecodeError, OSError):
        return None
    if len(text) > LISTING_BYTES_MAX:
        return None
    if path.endswith(".md"):
        return text
    kind = KINDS.get(posixpath.splitext(path)[1], "text")
    return (f"{UNFOUND}# {posixpath.basename(path)}\n\n`{path}`\n\n"
            f"````{kind}\n{text.rstrip()}\n````\n")


def folder_listing(path):
    names = sorted(entry.name + ("/" if entry.is_dir() else "")
                   for entry in (REPOSITORY / path).iterdir() if not entry.name.startswith("."))
    return f"{UNFOUND}# {path}\n\n" + "\n".join(f"- `{name}`" for name in names) + "\n"


def target_of(source, link):
    """The path in the repository that a link of a file leads to, and its fragment."""
    path, _, fragment = link.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    return target, fragment


def is_local(link):
    return not (link.startswith("#") or "://" in link or link.startswith("mailto:"))


def lines_of(text):
    """The lines of Markdown, each with whether it is code."""
    fence = ""
    for line in text.split("\n"):
        found = FENCE.match(line)
        if fence:
            yield line, True
            if found and found.group(2).startswith(fence) and not found.group(3):
                fence = ""
        elif found:
            fence = found.group(2)
            yield line, True
        else:
            yield line, line.startswith("    ") and not ITEM.match(line)


def links_of(text):
    for line, is_code in lines_of(text):
        if not is_code:
            links = [one or other for one, other in LINK.findall(line)]
            yield from (link for link in links if is_local(link))


def add_listings(texts):
    """Pages for all files to which these pages lead, and those that are made lead, and so on."""
    made = []
    for uri, text in texts:
        source = sources.get(uri)
        if source is None:
            continue
        for link in links_of(text):
            target, _ = target_of(source, link)
            path = REPOSITORY / target
            if target in pages or target.startswith("docs/") or not path.exists():
                continue
            page = folder_listing(target) if path.is_dir() else listing(target)
            if page is None:
                continue
            uri = f"source/{target.removesuffix('.md')}.md"
            if target.endswith("/index") or target == "index":
                continue
            pages[target] = uri
            sources[uri] = target
            made.append((uri, page))
    if made:
        yield from made
        yield from add_listings(made)


def put_into(nav, title, entries):
    for item in nav:
        if isinstance(item, dict):
            (name, value), = item.items()
            if name == title:
                item[name] = entries
            elif isinstance(value, list):
                put_into(value, title, entries)


def on_config(config):
    nav = config.nav
    examples = sorted(path.stem for path in (REPOSITORY / "examples").glob("*.c*"))
    put_into(nav, "Examples",
             ["examples/index.md"] + [{name: f"examples/{name}.md"} for name in examples])
    put_into(nav, "Decisions", ["decisions/index.md"])
    cpp = sorted(path.stem for path in api_reference.INCLUDE.glob("*.h")
                 if path.name not in api_reference.NO_PAGE)
    c = sorted(path.stem for path in (api_reference.INCLUDE / "c").glob("*.h"))
    put_into(nav, "Reference", [
        {"C++": ["reference/cpp/index.md"] + [{f"{n}.h": f"reference/cpp/{n}.md"} for n in cpp]},
        {"C": [{"Conventions": "c-api.md"}, "reference/c/index.md"] +
              [{f"c/{n}.h": f"reference/c/{n}.md"} for n in c]}])
    bindings = [{title: f"bindings/{name}.md"} for name, title in LANGUAGES
                if (REPOSITORY / "bindings" / name / "README.md").is_file()]
    for item in nav:
        if "Start" in item and bindings:
            item["Start"].append({"Languages": bindings})
        if "Move here" in item:
            item["Move here"] += [{title: f"shims/{name}.md"} for name, title in SHIMS
                                  if (REPOSITORY / "shims" / name / "SUPPORTED.md").is_file()]
    named = set(re.findall(r"[\w-]+\.md", str(nav)))
    for item in nav:
        if "Inside" in item:  # what nobody has given a place
            item["Inside"] += sorted(path.name for path in (REPOSITORY / "docs").glob("*.md")
                                     if path.name not in named)
    return config


def on_files(files, config):
    pages.clear()
    sources.clear()
    texts = []
    for file in files.documentation_pages():
        path = "docs/" + file.src_uri
        pages[path] = file.src_uri
        sources[file.src_uri] = path
        texts.append((file.src_uri, file.content_string))
    for made in (example_pages(), reference_pages(), decision_pages(), own_pages()):
        for uri, text in made:
            files.append(File.generated(config, uri, content=text))
            texts.append((uri, text))
    for uri, text in list(add_listings(texts)):
        files.append(File.generated(config, uri, content=text))
    for file in files:  # other files of docs/, such as pictures
        if not file.is_documentation_page():
            pages.setdefault("docs/" + file.src_uri, file.src_uri)
    return files


def link_to(page, link):
    """A link of the repository as one of the site; None where the site has no such page."""
    source = sources[page]
    target, fragment = target_of(source, link)
    uri = pages.get(target)
    if uri is None:
        return None
    path = os.path.relpath(uri, posixpath.dirname(page) or ".")
    is_page_of_headers = uri.startswith("reference/")
    return path + (f"#{fragment}" if fragment and not is_page_of_headers else "")


def relinked(page, line):
    def one(found):
        if not is_local(found.group(2)):
            return found.group(0)
        link = link_to(page, found.group(2))
        if link is not None:
            return f"{found.group(1)}({link})"
        target, _ = target_of(sources[page], found.group(2))
        if (REPOSITORY / target).exists():  # there, and too large for a page
            return f"{found.group(1)[1:-1]} (`{target}`)"
        return found.group(0)

    def binding(found):
        uri = pages.get(found.group(1))
        if uri is None:
            return found.group(0)
        return f"[{found.group(0)}]({os.path.relpath(uri, posixpath.dirname(page) or '.')})"

    defined = DEFINITION.match(line)
    if defined and is_local(defined.group(2)):
        return defined.group(1) + (link_to(page, defined.group(2)) or defined.group(2)) + \
            defined.group(3)
    line = re.sub(r"(\[(?:[^\[\]`]|`[^`]*`)*\])\(([^)\s]+)\)", one, line)
    return BINDING.sub(binding, line)


def on_page_markdown(markdown, page, config, files):
    del config, files
    uri = page.file.src_uri
    out, depths, before = [], [], ""
    for line, is_code in lines_of(markdown):
        fence = FENCE.match(line) if is_code else None
        if fence and fence.group(3):
            line = "".join(fence.groups()[:3])  # what stands behind the language is for the tests
        item = ITEM.match(line) if not is_code else None
        if not line.strip():
            out.append("")
            before = ""
            continue
        indent = len(line) - len(line.lstrip())
        if item:
            while depths and indent < depths[-1][1]:
                depths.pop()
            if not depths and before and not before.startswith("|"):
                out.append("")
            depths.append((indent, item.end()))
            line = " " * 4 * (len(depths) - 1) + line.lstrip()
        elif depths and not before and indent < depths[0][1]:
            depths = []  # a paragraph of its own ends the list
        elif depths:
            while depths and indent < depths[-1][1] and not before:
                depths.pop()
            inside = depths[-1][1] if depths else 0
            line = " " * (4 * len(depths) + max(0, indent - inside)) + line.lstrip()
        if not is_code and uri in sources:
            line = relinked(uri, line)
        out.append(line)
        before = line
    return "\n".join(out)
