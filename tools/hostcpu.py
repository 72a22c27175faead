# SPDX-License-Identifier: GPL-2.0
"""What the machine under a guest can do: KVM, the frequency of its TSC, its load."""
import ctypes
import mmap
import os
import platform
import selectors
import subprocess
import sys
import time

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")


def boot_id():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        return f.read().strip()


def remembered(name):
    """What was found out since the machine booted, or None."""
    try:
        with open(os.path.join(BUILD, name), encoding="ascii") as f:
            boot, _, answer = f.read().partition(" ")
            return answer if boot == boot_id() else None
    except OSError:
        return None


def remember(name, answer):
    os.makedirs(BUILD, exist_ok=True)
    with open(os.path.join(BUILD, name), "w", encoding="ascii") as f:
        f.write(f"{boot_id()} {answer}")


def probe_kvm(args):
    """True if a guest reaches its first line under KVM; remembered for this boot."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    known = remembered("kvm-probe")
    if known:
        return known == "yes"
    cmd = [args.qemu, "-nodefaults", "-no-reboot", "-machine", "q35", "-accel", "kvm",
           "-cpu", "host", "-m", "512M", "-display", "none", "-serial", "stdio",
           "-kernel", args.kernel, "-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"]
    answer = "no"
    with subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as p:
        with selectors.DefaultSelector() as sel:
            sel.register(p.stdout, selectors.EVENT_READ)
            end = time.monotonic() + 10
            got = b""
            while time.monotonic() < end and sel.select(end - time.monotonic()):
                data = os.read(p.stdout.fileno(), 4096)
                got += data
                if not data or b"Linux version" in got:
                    break
            answer = "yes" if b"Linux version" in got else "no"
        p.kill()
    remember("kvm-probe", answer)
    if answer == "no":
        print("vm: /dev/kvm does not boot a guest here; using TCG", file=sys.stderr)
    return answer == "yes"


def choose_accel(args):
    """kvm or tcg, as VM_ACCEL says; ValueError if that cannot be had."""
    want = os.environ.get("VM_ACCEL", "auto")
    if want not in ("auto", "kvm", "tcg"):
        raise ValueError(f"VM_ACCEL={want}: kvm, tcg or auto")
    if want == "kvm" and not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise ValueError("VM_ACCEL=kvm, but /dev/kvm is not there or not for you; use VM_ACCEL=tcg")
    if want == "auto":
        return "kvm" if probe_kvm(args) else "tcg"
    return want


def slowness(accel):
    """How much longer a guest may take here: emulated, on CPUs that others use."""
    if accel == "kvm":
        return 1
    return min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1), 5)


def measure_tsc():
    """kHz, to some 0.01 %; the emulated TSC of a guest is the host's."""
    # rdtsc; shl $32, %rdx; or %rdx, %rax; ret
    code = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def both():
        # The narrowest of some readings: the others were interrupted.
        best = None
        for _ in range(20):
            t, tsc, u = time.monotonic_ns(), rdtsc(), time.monotonic_ns()
            if best is None or u - t < best[0]:
                best = (u - t, (t + u) // 2, tsc)
        return best[1:]

    t0, tsc0 = both()
    time.sleep(0.1)
    t1, tsc1 = both()
    return round((tsc1 - tsc0) * 1000000 / (t1 - t0))


def tsc_khz():
    """The frequency of this machine's TSC, or None: then the guest has to find out."""
    if platform.machine() != "x86_64":
        return None
    known = remembered("tsc-khz")
    if not known:
        try:
            known = str(measure_tsc())
        except (OSError, ValueError):
            return None     # no page may be both written and executed here
        remember("tsc-khz", known)
    return int(known)
