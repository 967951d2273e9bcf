import type { Json, JsonObject } from '../json/json.ts';

/** Limits of custom properties, as the schema of the endpoint defines them. */
export interface PropertiesLimits {
  readonly 'x-json-bytes-max': number;
  readonly 'x-keys-max': number;
  readonly 'x-depth-max'?: number;
}

interface Tally {
  keys: number;
  /** An upper bound of the size as JSON, in bytes. */
  bytes: number;
}

/** Returns the rule that custom properties break (docs/api.md: size, levels, number of keys); `undefined` if they break none. */
export function brokenPropertiesRule(properties: JsonObject, limits: PropertiesLimits): string | undefined {
  const depthMax = limits['x-depth-max'] ?? 1;
  const keysMax = limits['x-keys-max'];
  const bytesMax = limits['x-json-bytes-max'];
  const tally: Tally = { keys: 0, bytes: 0 };
  if (!fits(properties, depthMax, keysMax, tally)) {
    return tally.keys > keysMax
      ? `must have at most ${keysMax} keys in all`
      : `must be at most ${depthMax} levels deep`;
  }
  if (tally.bytes <= bytesMax || Buffer.byteLength(JSON.stringify(properties)) <= bytesMax) return undefined;
  return `must be at most ${bytesMax / 1024} KiB as JSON`;
}

function fits(value: Json, levels: number, keysMax: number, tally: Tally): boolean {
  if (typeof value === 'string') {
    // Upper limit for a string: a UTF-16 unit takes at most 6 bytes (a control character as \u001f).
    tally.bytes += value.length * 6 + 3;
    return true;
  }
  if (typeof value !== 'object' || value === null) {
    // Upper limit for a number, a boolean or null: 25 characters (the longest number that JavaScript writes) and a comma.
    tally.bytes += 26;
    return true;
  }
  if (levels === 0) return false;
  tally.bytes += 3;
  if (Array.isArray(value)) {
    for (const item of value) if (!fits(item, levels - 1, keysMax, tally)) return false;
    return true;
  }
  const object = value as JsonObject;
  for (const key in object) {
    tally.keys += 1;
    tally.bytes += key.length * 6 + 3;
    if (tally.keys > keysMax || !fits(object[key] as Json, levels - 1, keysMax, tally)) return false;
  }
  return true;
}
