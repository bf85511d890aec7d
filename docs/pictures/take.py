"""Take the pictures of both rooms that the documentation shows: light, dark, and on a phone.

python docs/pictures/take.py

Needs the extras app and test, and Chromium.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
CASE = {"changes_in_node": "lac central", "special_forms": "vesicles", "by_pass": "yes"}
ROOMS = {
    "recall": ("?pattern=3&noise=0.25", "document.querySelector('.verdict')?.textContent"),
    "consult": (f"consult?{urlencode({'case': json.dumps(CASE)})}", "document.querySelector('table.signed .total')"),
}
LOOKS = {
    "light": {"viewport": {"width": 1320, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1320, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True},
}
STEPS = 100


def main():
    command = [sys.executable, "-m", "bnn", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address = re.search(r"http://\S+", server.stdout.readline())[0]
        try:
            with sync_playwright() as playwright:
                options = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
                browser = playwright.chromium.launch(**options)
                for room, (path, ready) in ROOMS.items():
                    for look, context in LOOKS.items():
                        take(browser.new_page(**context), address + path, ready, HERE / f"{room}_{look}.png")
                browser.close()
        finally:
            server.terminate()


def take(page, address, ready, file):
    """One picture, of the whole page where it is no phone; a recall in the middle of its course."""
    page.goto(address)
    page.wait_for_function(ready)
    if page.locator(".transport").count():
        page.get_by_role("slider", name="Step").fill(str(STEPS))
        page.wait_for_function(f"document.querySelector('.transport output').textContent.includes('flip {STEPS} ')")
        page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(500)  # until all that came with it is drawn
    page.screenshot(path=file, full_page="phone" not in file.stem)
    page.close()


if __name__ == "__main__":
    main()
