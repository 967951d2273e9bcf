export type RecordErrorCode =
  /** The bytes are not a record that Weir wrote. A retry gives the same result. */
  | 'damaged'
  /** A newer Weir wrote the record: install a newer version of this package. */
  | 'unknown_version';

/** A record that cannot be decoded. The message contains no part of the record's values. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
  readonly code: RecordErrorCode;

  constructor(code: RecordErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

// Without `fatal`, TextDecoder silently replaces invalid UTF-8 with U+FFFD.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses the value of a record of `topic`. Throws `damaged` if it is not JSON in UTF-8. */
export function parseValue(topic: string, value: Uint8Array | null): unknown {
  if (value === null) throw new RecordError('damaged', `${topic}: the record has no value`);
  try {
    return JSON.parse(utf8.decode(value)) as unknown;
  } catch {
    // The error of JSON.parse is not passed on: its message quotes the text.
    throw new RecordError('damaged', `${topic}: the value (${value.byteLength} bytes) is not JSON in UTF-8`);
  }
}
