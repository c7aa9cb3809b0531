"""Opens pages in headless Chromium, controlled by its DevTools protocol over a pair of pipes.

This needs no driver, port or package: commands and events are JSON, each terminated by a zero byte.
"""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    "--remote-debugging-pipe",
)
# File descriptors on which the browser reads commands and writes answers.
LISTEN, ANSWER = 3, 4


def find_browser():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One tab; `events` holds all events since the page was opened."""

    def __init__(self, program, profile):
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()

        def connect():
            # Duplicate first: either descriptor may already have the number of the other.
            ends = os.dup(commands), os.dup(answers)
            os.dup2(ends[0], LISTEN)
            os.dup2(ends[1], ANSWER)

        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._buffer, self._last, self._session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._write)
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

    def call(self, method, **params):
        """Send a command and return its result; events received before it are kept."""
        self._last += 1
        session = {"sessionId": self._session} if self._session else {}
        os.write(
            self._write, json.dumps({"id": self._last, "method": method, "params": params, **session}).encode() + b"\0"
        )
        while True:
            message = self._next()
            if message.get("id") == self._last:
                assert "error" not in message, (method, message["error"])
                return message["result"]

    def _next(self):
        while b"\0" not in self._buffer:
            received = os.read(self._read, 1 << 16)
            assert received, "the browser ended"
            self._buffer += received
        first, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(first)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, page):
        """Show a file or an address, and wait until it is loaded with all its images."""
        self.events.clear()
        self.call("Page.navigate", url=page if "://" in str(page) else Path(page).resolve().as_uri())
        deadline = time.monotonic() + 60
        while not self.run("document.readyState === 'complete' && location.href !== 'about:blank'"):
            assert time.monotonic() < deadline, "the page does not load"
            time.sleep(0.05)

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def resize(self, width, height=800):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700
        )

    def received(self, method):
        """The parameters of every event of a kind."""
        return [event["params"] for event in self.events if event["method"] == method]

    def screenshot(self, path):
        """The whole page, however long."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def print(self, path):
        answer = self.call("Page.printToPDF", preferCSSPageSize=True)
        Path(path).write_bytes(base64.b64decode(answer["data"]))
