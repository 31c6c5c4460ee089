"""report_bench.py REPORT_PAGE: how long a headless browser takes to open a report of 5,000 variants. Exit 1: longer than it may."""
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "client", "browser"))
import devtools  # noqa: E402

VARIANTS = 5000
RUNS = 5
LIMIT_MS = 2000
# From the click to two drawn frames: what a person waits for.
OPEN_KERNEL = """new Promise((done) => { const begin = performance.now(); document.querySelector('#kernel-0 > summary').click();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin))); })"""
DRAWN = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
    done(Math.max(performance.now(), performance.getEntriesByName('cupilot-ready')[0].startTime)))))"""


def row(what, values):
    value = statistics.median(values)
    print("%-58s %10.0f ms   limit %d%s" % (what, value, LIMIT_MS, "" if value <= LIMIT_MS else "  FAILED"), flush=True)
    return value <= LIMIT_MS


def main():
    program = devtools.find_program()
    if program is None:
        print("no browser is installed: one of " + ", ".join(devtools.PROGRAMS))
        return 3
    with tempfile.TemporaryDirectory(prefix="cupilot-report.") as folder, devtools.Browser(program) as browser:
        path = os.path.join(folder, "report.html")
        subprocess.run([sys.argv[1], str(VARIANTS), path], check=True)
        print("%s, a file of %.1f MB, medians of %d" % (os.path.basename(program), os.path.getsize(path) / 1e6, RUNS))
        opened, unfolded = [], []
        for _ in range(RUNS):
            browser.open(path)
            opened.append(browser.value(DRAWN))
            unfolded.append(browser.value(OPEN_KERNEL))
    fine = row("a report of %d variants, from the address to the page" % VARIANTS, opened)
    fine = row("the part of the kernel that has them, from the click", unfolded) and fine
    return 0 if fine else 1


sys.exit(main())
