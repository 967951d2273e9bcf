#!/usr/bin/env bash
# The idempotency key makes retries safe: the event is stored only once. curl repeats the request after 408, 429, 500, 502, 503 and 504, a timeout, and a
# refused connection. If the connection ends without an answer, curl does not repeat the request: run the script again with the same key.
set -euo pipefail
curl --silent --show-error --fail-with-body --max-time 10 --retry 5 --retry-connrefused \
  --request POST "${WEIR_URL:-http://127.0.0.1:8080}/api/v1/events" \
  --header "Authorization: Bearer ${WEIR_KEY}" --header 'Content-Type: application/json' \
  --data "{\"name\": \"signup\", \"user_id\": \"ada\", \"value\": 49, \"idempotency_key\": \"${1:-$(date +%s%N)}\"}"
