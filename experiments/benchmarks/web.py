"""How quick the page is: until it is ready, from a click to the new picture, and with 20 visitors at once.

A server is started on a free port of the loopback address, and visited by Chromium, whose clock measures from a click
until the picture of 784 neurons is drawn anew. Run it on a quiet machine, with the extras app and test:

    python experiments/benchmarks/web.py [--json] [--visitors 20] [--clicks 100]

About two minutes. Visitors click about once a second, each in a page of its own and through a recall of its own; the
browser that draws all their pages shares the cores with the server.
"""

import argparse
import asyncio
import re
import shutil
import subprocess
import sys

import numpy as np
from playwright.async_api import async_playwright
from timing import Figure, report

PAGES = 5
SETTLED = "document.querySelector('.verdict')?.textContent"
CLICKS = """async ([label, clicks, pause]) => {
    const button = document.querySelector(`[aria-label^='${label}']`);
    const canvas = document.querySelector(".recall canvas"), times = [];
    for (let click = 0; click < clicks; click++) {
        await new Promise((go) => setTimeout(go, pause * (0.5 + Math.random())));
        times.push(await new Promise((done, fail) => {
            const begin = performance.now(), late = setTimeout(() => fail(new Error("no picture came")), 20000);
            const watch = new MutationObserver(() => {
                clearTimeout(late);
                watch.disconnect();
                done(performance.now() - begin);
            });
            watch.observe(canvas, { attributeFilter: ["data-drawn"] });
            button.click();
        }));
    }
    return times;
}"""


def late(times):
    """The 95th percentile."""
    return float(np.percentile(times, 95))


async def opened(browser, address, query):
    """A page whose recall is shown, and the seconds that took."""
    page = await browser.new_page()
    await page.goto(f"{address}?{query}")
    await page.wait_for_function(SETTLED, timeout=60_000)
    return page, await page.evaluate("performance.now() / 1000")


async def measured(address, visitors, clicks):
    """The figures of one run."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        ready = []
        for _ in range(PAGES):
            page, seconds = await opened(browser, address, "")
            ready.append(seconds)
            await page.close()
        page, _ = await opened(browser, address, "noise=0.4&rules=hopfield")
        step = await page.evaluate(CLICKS, ["One step on", clicks, 50])
        cue = await page.evaluate(CLICKS, ["Other noise", clicks, 50])
        await page.close()
        pages = [(await opened(browser, address, f"noise=0.4&seed={v}&rules=hopfield"))[0] for v in range(visitors)]
        crowd = await asyncio.gather(*(page.evaluate(CLICKS, ["One step on", clicks, 1000]) for page in pages))
        await browser.close()
    return [
        Figure("page ready, slowest of five", max(ready), 2.0, "s"),
        Figure("click on a step to its picture, 95th percentile", late(step), 100.0, "ms"),
        Figure("click on other noise to the picture recalled anew, 95th percentile", late(cue), 100.0, "ms"),
        Figure(
            f"the same step with {visitors} visitors at once, 95th percentile", late(np.concatenate(crowd)), 200.0, "ms"
        ),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--clicks", type=int, default=100)
    given = parser.parse_args()
    command = [sys.executable, "-m", "bnn", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address = re.search(r"http://\S+", server.stdout.readline())[0]
        try:
            figures = asyncio.run(measured(address, given.visitors, given.clicks))
        finally:
            server.terminate()
    report(figures, given.json)


if __name__ == "__main__":
    main()
