import { fits64Bits, fitsFloat64, markLongIntegers } from '../json/exact-numbers.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { BodyText } from '../people/identity.ts';
import { cutChars } from './context.ts';

/** What the first pass over properties has found. Each `true` needs a second, exact check. */
interface Found {
  dottedKey: boolean;
  longInteger: boolean;
}

const SHOWN_CHARS = 80;
const shown = (text: string): string => JSON.stringify(cutChars(text, SHOWN_CHARS));

/**
 * Returns the rule of ClickHouse's JSON type that these properties or traits break; `undefined` if they can be stored as they were
 * sent (docs/api.md). A property that is null or an empty object is not stored, but breaks no rule. `text` returns the text of the
 * request's body, in which long integers still have all digits. `sentAs` returns the part of the parsed body from which `properties` was
 * read.
 */
export function unstorableRule(
  properties: JsonObject,
  text: BodyText,
  sentAs: (body: JsonObject) => Json | undefined,
): string | undefined {
  const found: Found = { dottedKey: false, longInteger: false };
  const broken = brokenValue(properties, '', found);
  if (broken !== undefined) return broken;
  const clash = found.dottedKey ? clashIn(properties) : undefined;
  if (clash !== undefined) return clash;
  return found.longInteger ? roundedNumber(properties, text(), sentAs) : undefined;
}

function brokenValue(value: Json, key: string, found: Found): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : notUnicode(key);
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      return `must hold numbers that fit a 64-bit float: the number at ${shown(key)} does not`;
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) found.longInteger = true;
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return brokenArray(value, key, found);
  const object = value as JsonObject;
  for (const name in object) {
    if (!name.isWellFormed()) return notUnicode(name);
    if (name.includes('.')) found.dottedKey = true;
    const broken = brokenValue(object[name] as Json, name, found);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** What the arrays at one depth of a nested array contain. ClickHouse stores all items of one depth with the same type. */
interface ArrayItems {
  nulls: boolean;
  arrays: boolean;
}

/**
 * Returns the rule that an array breaks, or undefined. ClickHouse has no Nullable(Array): if the same level of a nested array contains
 * nulls and arrays, ClickHouse returns each null as an empty array.
 */
function brokenArray(
  array: readonly Json[],
  key: string,
  found: Found,
  depths: ArrayItems[] = [],
  depth = 0,
): string | undefined {
  depths[depth] ??= { nulls: false, arrays: false };
  const items = depths[depth];
  for (const item of array) {
    if (item === null) items.nulls = true;
    else if (Array.isArray(item)) items.arrays = true;
    const broken = Array.isArray(item)
      ? brokenArray(item, key, found, depths, depth + 1)
      : brokenValue(item, key, found);
    if (broken !== undefined) return broken;
  }
  return items.nulls && items.arrays
    ? `must not have null beside an array in one array, as at ${shown(key)}`
    : undefined;
}

function notUnicode(key: string): string {
  return `must be valid Unicode: there is half a surrogate pair at ${shown(key)}`;
}

/**
 * Returns the rule that an object breaks if two of its values clash, or undefined. ClickHouse reads a dot in a key as a step into an
 * object. Two values clash if they have the same path, or if the path of one continues the path of the other (`a` and `a.b`). The paths
 * of an object in an array begin at that object.
 */
function clashIn(object: JsonObject): string | undefined {
  const leaves: { readonly path: string; readonly order: string }[] = [];
  const inner: JsonObject[] = [];
  const walk = (value: JsonObject, prefix: string): void => {
    for (const key in value) {
      const item = value[key] as Json;
      if (item === null) continue;
      const path = prefix + key;
      if (typeof item === 'object' && !Array.isArray(item)) {
        walk(item as JsonObject, `${path}.`);
      } else {
        leaves.push({ path, order: inOrder(path) });
        objectsIn(item, inner);
      }
    }
  };
  walk(object, '');
  // In `order`, the dot sorts before all other characters. So a path that continues another path comes directly after it.
  leaves.sort((a, b) => (a.order < b.order ? -1 : 1));
  for (const [at, { path, order }] of leaves.entries()) {
    const next = leaves[at + 1];
    if (next !== undefined && (next.order === order || next.order.startsWith(`${order}\0`))) {
      const clash =
        path === next.path
          ? `two values have the path ${shown(path)}`
          : `the paths ${shown(path)} and ${shown(next.path)} clash`;
      return `must not store two values under one path: a dot in a key is a step into an object ({"a.b":1} and {"a":{"b":1}} are the same), so ${clash}`;
    }
  }
  for (const one of inner) {
    const clash = clashIn(one);
    if (clash !== undefined) return clash;
  }
  return undefined;
}

function inOrder(path: string): string {
  return path.replaceAll('\u0001', '\u0001\u0001').replaceAll('\0', '\u0001\0').replaceAll('.', '\0');
}

function objectsIn(value: Json, into: JsonObject[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) into.push(value as JsonObject);
  else for (const item of value) objectsIn(item, into);
}

/** The numbers of an array and of its nested arrays. If one of them is a Float64, ClickHouse stores all of them as Float64. */
interface ArrayNumbers {
  float: boolean;
  /** The digits of a whole number that would be rounded as a Float64. */
  long: string | undefined;
}

function roundedNumber(
  properties: JsonObject,
  text: string,
  sentAs: (body: JsonObject) => Json | undefined,
): string | undefined {
  const marked = markLongIntegers(text, () => true);
  if (marked === undefined) return undefined;
  const sent = sentAs(JSON.parse(marked.text) as JsonObject);
  for (const key in properties) {
    const value = properties[key] as Json;
    const digits = roundedIn(value, (sent as JsonObject | undefined)?.[key], marked.mark.length);
    if (digits !== undefined) {
      return `must not hold a number that would be rounded: send ${cutChars(digits, SHOWN_CHARS)}, at ${shown(key)}, as a string`;
    }
  }
  return undefined;
}

/** Returns the digits of the first number that would be rounded. */
function roundedIn(
  value: Json,
  marked: Json | undefined,
  markLength: number,
  array?: ArrayNumbers,
): string | undefined {
  if (typeof value === 'number') {
    return typeof marked === 'string' ? roundedDigits(marked.slice(markLength), array) : sortNumber(value, array);
  }
  if (typeof value !== 'object' || value === null || typeof marked !== 'object' || marked === null) return undefined;
  if (!Array.isArray(value)) {
    for (const key in value) {
      const broken = roundedIn((value as JsonObject)[key] as Json, (marked as JsonObject)[key], markLength);
      if (broken !== undefined) return broken;
    }
    return undefined;
  }
  const numbers = array ?? { float: false, long: undefined };
  for (const [at, item] of value.entries()) {
    const broken = roundedIn(item, (marked as readonly Json[])[at], markLength, numbers);
    if (broken !== undefined) return broken;
  }
  return numbers.float ? numbers.long : undefined;
}

function roundedDigits(digits: string, array: ArrayNumbers | undefined): string | undefined {
  const isInteger = fits64Bits(digits);
  if (!fitsFloat64(digits)) {
    if (!isInteger) return digits;
    if (array !== undefined) array.long = digits;
  } else if (!isInteger && array !== undefined) array.float = true;
  return undefined;
}

function sortNumber(number: number, array: ArrayNumbers | undefined): undefined {
  if (array === undefined) return;
  if (!Number.isInteger(number) || number < -(2 ** 63) || number >= 2 ** 64) array.float = true;
}
