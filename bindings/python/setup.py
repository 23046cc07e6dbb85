"""Builds the extension module against a library that is installed: in the directory
HAWTHORN_PREFIX, or where pkg-config finds it. One wheel serves CPython 3.11 and all later ones."""

import os
import subprocess
import sysconfig

from setuptools import Extension, setup


def paths() -> tuple[list[str], list[str]]:
    """Where the headers and the library are."""
    prefix = os.environ.get("HAWTHORN_PREFIX")
    if prefix:
        prefix = os.path.abspath(prefix)
        if not os.path.exists(os.path.join(prefix, "include", "hawthorn", "c.h")):
            raise SystemExit(f"HAWTHORN_PREFIX: no library is installed in {prefix}")
        return [os.path.join(prefix, "include")], [os.path.join(prefix, "lib")]

    def ask(variable: str) -> str:
        command = ["pkg-config", f"--variable={variable}", "hawthorn"]
        return os.path.realpath(subprocess.check_output(command, text=True).strip())

    try:
        return [ask("includedir")], [ask("libdir")]
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit(
            "libhawthorn was not found: set HAWTHORN_PREFIX to where it is installed, or "
            "PKG_CONFIG_PATH to the directory of its hawthorn.pc (pkg-config is needed, too)"
        ) from None


include_dirs, library_dirs = paths()
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    raise SystemExit("Python.h was not found: install Python's headers (Debian: python3-dev)")
sources = "handle module access writes walk database transaction copies feed options"
setup(
    ext_modules=[
        Extension(
            "hawthorn._hawthorn",
            [f"src/{name}.c" for name in sources.split()],
            depends=["src/binding.h"],
            include_dirs=include_dirs,
            library_dirs=library_dirs,
            runtime_library_dirs=library_dirs,
            libraries=["hawthorn"],
            # -fexceptions: pthread_cleanup_push works by unwinding, and without setjmp.
            extra_compile_args=[
                "-std=gnu11",
                "-fexceptions",
                "-Wall",
                "-Wextra",
                "-Wno-missing-field-initializers",
            ],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
