//! Finds the library: in HAWTHORN_PREFIX (its lib/ directory), or where pkg-config says.

use std::path::Path;
use std::process::Command;

fn pkg_config(what: &str) -> Option<String> {
    let program = std::env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let out = Command::new(program)
        .args([what, "hawthorn"])
        .output()
        .ok()?;
    if !out.status.success() {
        return None;
    }
    Some(String::from_utf8_lossy(&out.stdout).trim().to_string())
}

fn main() {
    for name in ["HAWTHORN_PREFIX", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={}", name);
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-lib=dylib=hawthorn");
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
        Err(_) => match pkg_config("--variable=libdir") {
            Some(directory) => directory,
            None => panic!(
                "libhawthorn was not found: set HAWTHORN_PREFIX to where it is installed, or \
                 PKG_CONFIG_PATH to the directory of its hawthorn.pc"
            ),
        },
    };
    println!("cargo:rustc-link-search=native={}", directory);
    // For tests, examples and benchmarks of this crate; programs link as they see fit, with
    // DEP_HAWTHORN_LIBDIR in their own build scripts.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", directory);
    println!("cargo:libdir={}", directory);
}
