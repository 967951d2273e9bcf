const LONE_SURROGATE = /\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}|\\u[dD][c-fC-F][0-9a-fA-F]{2}/g;

/** A string as JSON that ClickHouse reads too: it refuses the escapes that JSON.stringify gives for half a surrogate pair. */
export function jsonText(text: string): string {
  return text === '' ? '""' : JSON.stringify(text.isWellFormed() ? text : text.toWellFormed());
}

/** Any JSON value, likewise. JSON.stringify escapes surrogates only where they stand alone. */
export function jsonValue(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes('\\ud')) return json;
  return json.replace(LONE_SURROGATE, (found) => (found === '\\\\' ? found : '\ufffd'));
}
