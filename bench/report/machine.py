"""What the machine is that a report was made on: read from /proc and /sys, nothing else."""

import hashlib
import os
import platform
import subprocess


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def cpu_model(text):
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model", "Hardware"):
            return value.strip()
    return platform.machine()


def memory_bytes(text, name="MemTotal"):
    for line in text.splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _unescaped(field):
    """Spaces and such in a path of /proc/mounts are octal numbers."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def file_system(mounts, path):
    """(device, type, options) of the mount that holds `path`."""
    best = ("", "unknown", "")
    longest = -1
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        point = _unescaped(fields[1])
        if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= longest:
            longest = len(point)
            best = (fields[0], fields[2], fields[3])
    return best


def governor(cpus):
    found = {_read(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor")
             for cpu in range(cpus)} - {""}
    return ", ".join(sorted(found)) or "none to be seen (a virtual machine, mostly)"


def device_kind(device):
    """rotating or not, by the block device of a mount."""
    name = os.path.basename(os.path.realpath(device))
    for candidate in (name, name.rstrip("0123456789"), name.rstrip("0123456789").rstrip("p")):
        found = _read(f"/sys/block/{candidate}/queue/rotational")
        if found:
            model = _read(f"/sys/block/{candidate}/device/model")
            kind = "said to be rotating" if found == "1" else "solid state"
            return kind + (f", {model}" if model else "")
    return ""


def describe(folder):
    """Facts by name, in the order in which the page has them."""
    cpus = os.cpu_count() or 1
    memory = memory_bytes(_read("/proc/meminfo"))
    device, kind, options = file_system(_read("/proc/mounts"), os.path.realpath(folder))
    return {
        "CPU": f"{cpu_model(_read('/proc/cpuinfo'))}, {cpus} seen by this system",
        "memory": f"{memory / (1 << 30):.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "system": _system_name(),
        "file system of the databases": f"{kind} on {device} ({options})",
        "device": device_kind(device) or "unknown",
        "governor": governor(cpus),
        "load at the start": _read("/proc/loadavg"),
    }


def _system_name():
    for line in _read("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return "unknown"


def machine_id(facts):
    """What has to be the same for two reports to be compared: the hardware, not its name."""
    parts = [facts["CPU"], facts["memory"],
             facts["file system of the databases"].partition(" ")[0], facts["device"]]
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:12]


def available_bytes():
    return memory_bytes(_read("/proc/meminfo"), "MemAvailable")


def commit_of(root):
    """The commit, with + behind it where files differ from it."""
    def git(*arguments):
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""
    try:
        commit = git("rev-parse", "--short=12", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=no")
    except OSError:
        return "unknown"
    return (commit + ("+" if changed else "")) or "unknown"
