"""Reads events.enriched as objects: pip install kafka-python; KAFKA_BROKERS=127.0.0.1:9092 python3 examples/consume_enriched.py"""

import json
import os
from pathlib import Path

SCHEMA = json.loads((Path(__file__).parent.parent / "schemas/topics/events.enriched.schema.json").read_text())
# The number of columns by version, from version 1 on: a new version adds columns at the end.
COUNTS = {str(nth + 1).encode(): version["minItems"] for nth, version in enumerate(SCHEMA["oneOf"])}
COLUMNS = [column["title"] for column in SCHEMA["prefixItems"]]


def decode_enriched(headers, value):
    """Returns a dict with one item per column. Raises ValueError where the record is damaged or has another version."""
    count = COUNTS.get(dict(headers).get("v"))
    if count is None:
        raise ValueError("the record has another version of the column list: get a newer schema")
    line = json.loads(value)
    if not isinstance(line, list) or len(line) != count:
        raise ValueError(f"the record is not an array of {count} columns")
    return dict(zip(COLUMNS, line))


def rows(messages):
    """Yields the rows of the messages without repeats. Weir can append some outcomes twice: store the raw offsets with your results."""
    highest = {}
    for message in messages:
        event = decode_enriched(message.headers, message.value)
        place = event["log_id"], event["raw_partition"]
        if event["raw_offset"] <= highest.get(place, -1):
            continue
        highest[place] = event["raw_offset"]
        if event["outcome"] == "row":
            yield event


if __name__ == "__main__":
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        os.environ.get("KAFKA_TOPIC_PREFIX", "") + "events.enriched",
        bootstrap_servers=os.environ.get("KAFKA_BROKERS", "127.0.0.1:9092").split(","),
        group_id="consume-enriched-python-example",
        auto_offset_reset="earliest",
    )
    for row in rows(consumer):
        shown = {"site": row["site_id"], "name": row["event_name"] or row["type"], "path": row["pathname"]}
        print(json.dumps(shown), flush=True)
