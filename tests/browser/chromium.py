"""Drives a headless Chromium over its debugging pipe (the DevTools protocol), with the standard library alone."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 60


def installed():
    return next((found for found in map(shutil.which, NAMES) if found), None)


class Chromium:
    """A browser with one page. `events` holds what it told since the page was last opened."""

    def __init__(self):
        self.events = []
        self._number = 0
        self._unread = b""
        self._profile = tempfile.TemporaryDirectory(prefix="branchmark-browser-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        def connect():  # the browser reads from 3 and writes to 4
            low, high = os.dup(to_browser), os.dup(from_browser)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self._process = subprocess.Popen(
            [installed(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=connect)
        os.close(to_browser)
        os.close(from_browser)
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        try:
            self._session = None
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile.name, ignore_errors=True)

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        number = self._number
        answer = self._wait_for(lambda told: told.get("id") == number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, address, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url=address)
        self._wait_for(lambda told: told.get("method") == "Page.loadEventFired")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def _wait_for(self, wanted):
        for told in self.events:
            if wanted(told):
                return told
        end = time.monotonic() + PATIENCE_S
        while True:
            while b"\0" not in self._unread:
                ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
                if not ready:
                    raise TimeoutError("the browser did not answer")
                piece = os.read(self._read, 1 << 20)
                if not piece:
                    raise EOFError("the browser has gone")
                self._unread += piece
            line, self._unread = self._unread.split(b"\0", 1)
            told = json.loads(line)
            if "method" in told:
                self.events.append(told)
            if wanted(told):
                return told
