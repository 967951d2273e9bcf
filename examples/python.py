"""Sends events with Python's standard library. Every event has an idempotency key, so retries are safe."""

import http.client
import json
import os
import random
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("WEIR_URL", "http://127.0.0.1:8080")
KEY = os.environ["WEIR_KEY"]
ATTEMPTS_MAX = 8


def track(name, **fields):
    """Sends one event. Returns False if it was a duplicate. Raises an error if Weir refused it."""
    body = json.dumps({"name": name, "idempotency_key": str(uuid.uuid4()), **fields}).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    for attempt in range(ATTEMPTS_MAX):
        wait = min(0.2 * 2**attempt, 30) * random.uniform(0.5, 1)
        try:
            request = urllib.request.Request(f"{URL}/api/v1/events", body, headers)
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)["data"]["accepted"]
        except urllib.error.HTTPError as error:
            if error.code not in (408, 429) and error.code < 500:
                raise
            after = error.headers.get("Retry-After", "")
            wait = float(after) if after.isdecimal() else wait  # a proxy can send a date
        except (OSError, http.client.HTTPException):
            pass  # no answer, or only a part of it
        time.sleep(wait)
    raise TimeoutError(f"{name} was not accepted in {ATTEMPTS_MAX} attempts")


if __name__ == "__main__":
    track("signup", user_id="ada", value=49, properties={"plan": "pro"})
