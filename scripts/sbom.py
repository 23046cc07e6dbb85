#!/usr/bin/env python3
"""What a release is made of: a bill of materials (CycloneDX 1.5, JSON) of what was built.

    sbom.py --version VERSION --output FILE BINARY...

Each shared library that a binary needs is a component, with the Debian package that it comes from
and that package's version; so are the libraries that are compiled in. What is in no package is
listed by its name alone. The same binaries on the same system give the same bytes: the time is that
of SOURCE_DATE_EPOCH, or left out.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import uuid

# What is compiled in and leaves no trace in the binaries.
COMPILED_IN = ("libhwy-dev", "libxxhash-dev", "libcli11-dev")
# By source package, as Debian's copyright files have them.
LICENSES = {
    "highway": "Apache-2.0 OR BSD-3-Clause", "xxhash": "BSD-2-Clause", "cli11": "BSD-3-Clause",
    "lz4": "BSD-2-Clause", "libzstd": "BSD-3-Clause OR GPL-2.0-only", "openssl": "Apache-2.0",
    "liburing": "LGPL-2.1-or-later OR MIT", "libedit": "BSD-3-Clause",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later",
    "ncurses": "X11", "libbsd": "BSD-3-Clause", "libmd": "BSD-3-Clause", "rocksdb": "Apache-2.0",
    "cpp-httplib": "MIT", "snappy": "BSD-3-Clause", "bzip2": "bzip2-1.0.6", "zlib": "Zlib",
    "gflags": "BSD-3-Clause", "jemalloc": "BSD-2-Clause", "brotli": "MIT",
}


def output_of(*command):
    """What it prints, or nothing where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def needed(binary):
    """{soname: path} of all that it loads."""
    lines = output_of("ldd", binary)
    return dict(re.findall(r"(\S+) => (/\S+)", lines))


def package_of(path):
    for name in (path, os.path.realpath(path)):
        found = output_of("dpkg-query", "--search", name)
        if found:
            return found.split(":")[0]
    return None


def component(name, package):
    made = {"type": "library", "name": name}
    fields = output_of("dpkg-query", "-W", "-f=${Version}\t${source:Package}\t${Architecture}",
                       package).split("\t") if package else []
    if len(fields) == 3:
        version, source, architecture = fields
        made["version"] = version
        if source in LICENSES:
            made["licenses"] = [{"expression": LICENSES[source]}]
        made["purl"] = f"pkg:deb/debian/{package}@{version}?arch={architecture}"
    made["bom-ref"] = made.get("purl", name)
    return made


def bill(version, binaries):
    own = {os.path.basename(os.path.realpath(binary)) for binary in binaries}
    components = {}
    for binary in binaries:
        for soname, path in needed(binary).items():
            if os.path.basename(os.path.realpath(path)) not in own:
                components[soname] = component(soname, package_of(path))
    for package in COMPILED_IN:
        components[package] = component(package, package)
    listed = [components[name] for name in sorted(components)]
    main = {"type": "library", "name": "hawthorn", "version": version,
            "bom-ref": f"hawthorn@{version}",
            "licenses": [{"license": {"id": "Apache-2.0"}}]}
    made = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([main, listed]))}",
        "metadata": {"component": main},
        "components": listed,
        "dependencies": [{"ref": main["bom-ref"], "dependsOn": [c["bom-ref"] for c in listed]}],
    }
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch:
        moment = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
        made["metadata"]["timestamp"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return made


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--version", required=True)
    arguments.add_argument("--output", required=True)
    arguments.add_argument("binaries", nargs="+")
    asked = arguments.parse_args()
    for binary in asked.binaries:
        if not os.path.exists(binary):
            sys.exit(f"sbom.py: there is no {binary}")
    with open(asked.output, "w", encoding="utf-8") as file:
        json.dump(bill(asked.version, asked.binaries), file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
