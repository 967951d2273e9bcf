#!/usr/bin/env bash
# The idempotency key makes retries safe: the event is stored only once.
set -euo pipefail
curl --silent --show-error --fail-with-body --retry 5 --retry-all-errors \
  --request POST "${WEIR_URL:-http://127.0.0.1:8080}/api/v1/events" \
  --header "Authorization: Bearer ${WEIR_KEY}" --header 'Content-Type: application/json' \
  --data "{\"name\": \"signup\", \"user_id\": \"ada\", \"value\": 49, \"idempotency_key\": \"${1:-$(date +%s%N)}\"}"
