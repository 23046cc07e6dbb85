#!/usr/bin/env python3
"""Packaging: installs a finished build into an empty prefix and builds programs on nothing else.

Run by ctest, which says where the build is; --cxx names the compiler of the consumers.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
CONSUMER_C = CONSUMER.with_name("consumer_c")
arguments = None


def run(*command, **options):
    """Runs a command; its output is shown when it fails."""
    done = subprocess.run([str(part) for part in command], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)
        first = cls.scratch / "first"
        run("cmake", "--install", arguments.build, "--prefix", first)
        # An installed tree may be moved: all that follows uses it at its second place.
        cls.prefix = cls.scratch / "prefix"
        first.rename(cls.prefix)
        cls.library = next(cls.prefix.rglob("libhawthorn.so")).parent
        cls.shims = cls.scratch / "shims"
        cache = (pathlib.Path(arguments.build) / "CMakeCache.txt").read_text(encoding="utf-8")
        cls.has_shims = "HAWTHORN_BUILD_SHIMS:BOOL=ON" in cache
        if cls.has_shims:
            run("cmake", "--install", arguments.build, "--component", "shims", "--prefix",
                cls.shims)

    def all_libraries(self):
        """Ours, and those with other APIs."""
        libraries = sorted([*self.library.glob("*.so"), *self.shims.rglob("*.so")])
        self.assertGreater(len(libraries), 3 if self.has_shims else 0)
        return libraries

    def use(self, program):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.library))
        database = self.scratch / "database"
        shutil.rmtree(database, ignore_errors=True)
        self.assertEqual(run(program, database, env=environment), f"{arguments.version} value\n")

    def needs_shared_library(self, program):
        return "libhawthorn.so" in run("readelf", "--dynamic", program)

    def configure(self, build, *options):
        return run("cmake", "-S", CONSUMER, "-B", build, "-G", "Ninja",
                   f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_CXX_COMPILER={arguments.cxx}", *options)

    def test_find_package(self):
        build = self.scratch / "cmake"
        self.configure(build, f"-DWANTED_VERSION={arguments.version}")
        run("cmake", "--build", build)
        for target, shared in (("shared", True), ("static", False), ("hawthorn", True)):
            with self.subTest(target=target):
                self.use(build / f"use_{target}")
                self.assertEqual(self.needs_shared_library(build / f"use_{target}"), shared)

    def test_find_package_with_static_libraries_as_the_default(self):
        build = self.scratch / "cmake_static"
        self.configure(build, "-Dhawthorn_USE_STATIC_LIBS=ON")
        run("cmake", "--build", build, "--target", "use_hawthorn")
        self.use(build / "use_hawthorn")
        self.assertFalse(self.needs_shared_library(build / "use_hawthorn"))

    def test_find_package_refuses_another_version(self):
        with self.assertRaisesRegex(AssertionError, "hawthorn"):
            self.configure(self.scratch / "newer", "-DWANTED_VERSION=99.0")

    def pkg_config(self, *options):
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.library / "pkgconfig"))
        return shlex.split(run("pkg-config", *options, "hawthorn", env=environment))

    def test_pkg_config_shared(self):
        program = self.scratch / "pkg_shared"
        run(arguments.cxx, "-std=c++20", *self.pkg_config("--cflags"), CONSUMER / "use.cc",
            "-o", program, *self.pkg_config("--libs"))
        self.use(program)
        self.assertTrue(self.needs_shared_library(program))

    def test_pkg_config_static(self):
        program = self.scratch / "pkg_static"
        libraries = ["-l:libhawthorn.a" if part == "-lhawthorn" else part
                     for part in self.pkg_config("--static", "--libs")]
        run(arguments.cxx, "-std=c++20", *self.pkg_config("--cflags"), CONSUMER / "use.cc",
            "-o", program, *libraries)
        self.use(program)
        self.assertFalse(self.needs_shared_library(program))

    def test_pkg_config_names_the_version(self):
        self.assertEqual(self.pkg_config("--modversion"), [arguments.version])

    def test_libraries_with_other_apis_are_a_component_of_their_own(self):
        if not self.has_shims:
            self.skipTest("built without them")
        for pattern in ("**/libhawthorn_rocksdb.so", "**/libhawthorn_lmdb.so", "bin/hawthorn-mdbx",
                        "**/hawthorn_rocksdb/rocksdb/db.h", "**/hawthornShimsTargets.cmake"):
            self.assertTrue(list(self.shims.glob(pattern)), pattern)
            self.assertFalse(list(self.prefix.glob(pattern)), pattern)

    def test_the_command_is_installed_and_runs(self):
        program = self.prefix / "bin" / "hawthorn"
        self.assertIn(arguments.version, run(program, "--version"))
        share = self.prefix / "share"
        for path, arguments_of in (("man/man1/hawthorn.1", ("man",)),
                                   ("bash-completion/completions/hawthorn", ("completion", "bash")),
                                   ("zsh/site-functions/_hawthorn", ("completion", "zsh")),
                                   ("fish/vendor_completions.d/hawthorn.fish",
                                    ("completion", "fish"))):
            self.assertEqual((share / path).read_text(), run(program, *arguments_of))

    def test_only_the_public_api_is_exported(self):
        symbols = run("nm", "--dynamic", "--defined-only", "--demangle",
                      self.library / "libhawthorn.so").splitlines()
        names = [line.split(" ", 2)[2] for line in symbols]
        self.assertTrue(any(name.startswith("hawthorn::Db::open") for name in names), names)
        layers = ("base", "os", "format", "wal", "space", "tree", "txn", "db", "c")
        inside = [name for name in names
                  if "::Impl::" in name or any(f"hawthorn::{layer}::" in name for layer in layers)]
        self.assertEqual(inside, [])

    def test_no_thread_local_object_has_a_destructor(self):
        """Decision 46: the C library ends a process that has no memory for noting one."""
        symbols = run("nm", "--dynamic", "--undefined-only", str(self.library / "libhawthorn.so"))
        self.assertIn("pthread_setspecific", symbols)
        for library in self.all_libraries():
            with self.subTest(library.name):
                symbols = run("nm", "--dynamic", "--undefined-only", library)
                self.assertNotIn("__cxa_thread_atexit", symbols)

    def test_no_child_of_fork_waits_for_a_variable_of_a_function(self):
        """Such a one is never made there, if another thread of the parent was just making it."""
        for library in self.all_libraries():
            with self.subTest(library.name):
                symbols = run("nm", "--dynamic", "--undefined-only", library)
                self.assertNotIn("__cxa_guard_acquire", symbols)

    def test_the_shared_library_is_small(self):
        header = run("readelf", "--file-header", self.library / "libhawthorn.so")
        cache = pathlib.Path(arguments.build, "CMakeCache.txt").read_text()
        if "X86-64" not in header or "CMAKE_BUILD_TYPE:STRING=Release\n" not in cache:
            self.skipTest("the limit is that of a release build for x86-64")
        stripped = self.scratch / "stripped.so"
        run("strip", "-o", stripped, self.library / "libhawthorn.so")
        self.assertLess(stripped.stat().st_size, 3_000_000)

    def test_the_c_api_is_exported_under_its_version(self):
        symbols = run("readelf", "--dyn-syms", "--wide", self.library / "libhawthorn.so")
        self.assertIn("hawthorn_db_open@@HAWTHORN_1", symbols)

    def test_c_programs_are_built_by_pkg_config(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        program = self.scratch / "pkg_c"
        run(compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
            *self.pkg_config("--cflags"), CONSUMER_C / "use.c", "-o", program,
            *self.pkg_config("--libs"))
        self.use(program)
        self.assertTrue(self.needs_shared_library(program))

    def test_projects_without_cpp_find_the_package(self):
        build = self.scratch / "cmake_c"
        run("cmake", "-S", CONSUMER_C, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.use(build / "use_c")

    def test_public_headers_compile_alone(self):
        headers = sorted((self.prefix / "include" / "hawthorn").rglob("*.h"))
        self.assertIn("access.h", [header.name for header in headers])
        for header in headers:
            with self.subTest(header=header.name):
                run(arguments.cxx, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
                    "-Werror", f"-I{self.prefix / 'include'}", "-include", header, "-x", "c++",
                    os.devnull)

    def test_c_headers_need_no_path(self):
        """Tools that make bindings are given a header alone."""
        headers = [self.prefix / "include" / "hawthorn" / "c.h"]
        for name in ("mdbx.h", "lmdb.h", "sqlite3.h", "rocksdb/c.h"):
            found = sorted(self.shims.rglob(name))
            self.assertTrue(found or not self.has_shims, name)
            headers += found
        source = self.scratch / "alone" / "alone.c"
        source.parent.mkdir()
        for header in headers:
            with self.subTest(header=header):
                source.write_text(f'#include "{header}"\n')
                run(arguments.cc, "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                    source)

    def pack(self, generator, name):
        # Twice, each with files of other times: of one moment, so the bytes have to be the same.
        found = []
        for times in ("first", "second"):
            folder = self.scratch / generator / times
            run("cpack", "-G", generator, "-B", folder,
                "--config", pathlib.Path(arguments.build) / "CPackConfig.cmake",
                env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000"))
            found.append(next(folder.glob(name)))
            shutil.rmtree(folder / "_CPack_Packages")
            time.sleep(1.1)
        self.assertEqual(found[0].read_bytes(), found[1].read_bytes())
        return found[0]

    def test_tarball(self):
        package = self.pack("TGZ", "hawthorn-*.tar.gz")
        with tarfile.open(package) as archive:
            members = archive.getmembers()
        names = [member.name.split("/", 1)[-1] for member in members]
        for path in ("bin/hawthorn", "include/hawthorn/db.h", "share/doc/hawthorn/CHANGELOG.md",
                     "share/doc/hawthorn/hawthorn.cdx.json"):
            self.assertTrue(any(name.endswith(path) for name in names), (path, names))
        self.assertEqual({member.mtime for member in members}, {1700000000})
        self.assertEqual({member.uid for member in members}, {0})

    def test_bill_of_materials(self):
        bill = json.loads((self.prefix / "share/doc/hawthorn/hawthorn.cdx.json").read_text())
        self.assertEqual(bill["bomFormat"], "CycloneDX")
        self.assertEqual(bill["metadata"]["component"]["version"], arguments.version)
        names = {component["name"] for component in bill["components"]}
        for binary in (self.library / "libhawthorn.so", self.prefix / "bin" / "hawthorn"):
            dynamic = run("readelf", "--dynamic", binary)
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
            self.assertLessEqual({name for name in needed
                                  if not name.startswith(("libhawthorn", "ld-linux"))}, names)
        for component in bill["components"]:
            self.assertIn("version", component)
            self.assertIn("licenses", component)

    def test_the_changelog_has_this_version(self):
        text = (self.prefix / "share/doc/hawthorn/CHANGELOG.md").read_text()
        self.assertRegex(text, rf"(?m)^## {re.escape(arguments.version)}\b")

    def test_debian_package(self):
        package = self.pack("DEB", "hawthorn_*.deb")
        content = run("dpkg-deb", "--contents", package)
        for path in ("/usr/bin/hawthorn", "/usr/include/hawthorn/db.h",
                     "/usr/include/hawthorn/c/base.h", "libhawthorn.so.0",
                     "hawthornConfig.cmake", "hawthorn.pc"):
            self.assertIn(path, content)
        self.assertNotIn("hawthorn-bench", content)
        depends = run("dpkg-deb", "--field", package, "Depends")
        self.assertIn("libhwy", depends)
        # liburing is optional: the package needs it when the library does.
        needed = run("readelf", "--dynamic", self.library / "libhawthorn.so")
        self.assertEqual("liburing" in depends, "liburing.so" in needed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--cc", required=True)
    arguments, rest = parser.parse_known_args()
    sys.exit(unittest.main(argv=[sys.argv[0]] + rest))
