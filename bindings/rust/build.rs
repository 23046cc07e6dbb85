//! Finds the library: in HAWTHORN_PREFIX (its lib/ directory), or where pkg-config says. With
//! HAWTHORN_STATIC=1 it is linked into the program.

use std::path::Path;
use std::process::Command;

/// An answer of pkg-config about the library, in a directory or wherever it looks.
fn pkg_config(directory: Option<&str>, what: &[&str]) -> Option<String> {
    let program = std::env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let mut command = Command::new(program);
    if let Some(directory) = directory {
        command.env("PKG_CONFIG_PATH", format!("{}/pkgconfig", directory));
    }
    let out = command.args(what).arg("hawthorn").output().ok()?;
    if !out.status.success() {
        return None;
    }
    Some(String::from_utf8_lossy(&out.stdout).trim().to_string())
}

fn main() {
    for name in [
        "HAWTHORN_PREFIX",
        "HAWTHORN_STATIC",
        "PKG_CONFIG",
        "PKG_CONFIG_PATH",
    ] {
        println!("cargo:rerun-if-env-changed={}", name);
    }
    println!("cargo:rerun-if-changed=build.rs");
    let is_static = match std::env::var("HAWTHORN_STATIC").as_deref() {
        Ok("1") => true,
        Ok("" | "0") | Err(_) => false,
        Ok(other) => panic!("HAWTHORN_STATIC is 1 or 0, not {}", other),
    };
    let kind = if is_static { "static" } else { "dylib" };
    println!("cargo:rustc-link-lib={}=hawthorn", kind);
    if std::env::var_os("DOCS_RS").is_some() {
        return;
    }
    let directory = match std::env::var("HAWTHORN_PREFIX") {
        Ok(prefix) => {
            let directory = Path::new(&prefix).join("lib");
            if !directory.join("libhawthorn.so").exists() {
                panic!(
                    "HAWTHORN_PREFIX: there is no libhawthorn.so in {}",
                    directory.display()
                );
            }
            directory.display().to_string()
        }
        Err(_) => match pkg_config(None, &["--variable=libdir"]) {
            Some(directory) => directory,
            None => panic!(
                "libhawthorn was not found: set HAWTHORN_PREFIX to where it is installed, or \
                 PKG_CONFIG_PATH to the directory of its hawthorn.pc"
            ),
        },
    };
    println!("cargo:rustc-link-search=native={}", directory);
    if is_static {
        if !Path::new(&directory).join("libhawthorn.a").exists() {
            panic!(
                "HAWTHORN_STATIC: there is no libhawthorn.a in {}",
                directory
            );
        }
        let all = pkg_config(Some(&directory), &["--static", "--libs"])
            .expect("HAWTHORN_STATIC: pkg-config has to say what the library needs");
        for word in all.split_whitespace() {
            match word.strip_prefix("-l") {
                Some("hawthorn") | None => {} // -pthread and places: Rust has them
                Some(library) => println!("cargo:rustc-link-lib=dylib={}", library),
            }
        }
        println!("cargo:libdir={}", directory);
        return;
    }
    // For tests, examples and benchmarks of this crate; programs link as they see fit, with
    // DEP_HAWTHORN_LIBDIR in their own build scripts.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", directory);
    println!("cargo:libdir={}", directory);
}
