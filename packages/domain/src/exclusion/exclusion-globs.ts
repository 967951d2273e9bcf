import { BoundedCache } from '../bounded-cache.ts';
import type { ExclusionRule } from '../registry/site.ts';

/**
 * Compiles many globs, in which `*` stands for any characters, to a function that returns the rule that matches a text, or
 * undefined. The function finds values without `*` and prefixes (`/admin/*`) by lookup, the longest prefix first. It tests only
 * the other globs one by one.
 */
export function compileGlobs(
  rules: readonly ExclusionRule[],
  spell: (text: string) => string,
): (text: string) => ExclusionRule | undefined {
  const exact = new Map<string, ExclusionRule>();
  const beginnings = new Map<number, Map<string, ExclusionRule>>();
  const others: { readonly rule: ExclusionRule; readonly matches: (text: string) => boolean }[] = [];
  for (const rule of rules) {
    const glob = spell(rule.value);
    const star = glob.indexOf('*');
    if (star < 0) keepFirst(exact, glob, rule);
    else if (star === glob.length - 1) {
      const ofLength = beginnings.get(star) ?? new Map<string, ExclusionRule>();
      keepFirst(ofLength, glob.slice(0, star), rule);
      beginnings.set(star, ofLength);
    } else others.push({ rule, matches: compileGlob(glob) });
  }
  const longestFirst = [...beginnings].sort(([a], [b]) => b - a);

  return (text) => {
    const found = exact.get(text);
    if (found !== undefined) return found;
    for (const [length, ofLength] of longestFirst) {
      const rule = length > text.length ? undefined : ofLength.get(text.slice(0, length));
      if (rule !== undefined) return rule;
    }
    return others.find(({ matches }) => matches(text))?.rule;
  };
}

/**
 * Compiles a glob: `*` matches any characters, also `/`, and every other character matches itself. The returned function searches the
 * parts between the stars one by one. A RegExp for `*a*a*a*` would take minutes on a text that an attacker sends.
 */
export function compileGlob(glob: string): (text: string) => boolean {
  const [first = '', ...rest] = glob.split('*');
  if (rest.length === 0) return (text) => text === first;
  const last = rest.pop() ?? '';
  const middle = rest.filter((part) => part !== '');
  return (text) => {
    if (!text.startsWith(first)) return false;
    let at = first.length;
    for (const part of middle) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}

/** Adds an entry unless the map already has the key: if two rules are equal, the first one counts. */
export function keepFirst<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (!map.has(key)) map.set(key, value);
}

const MEMO_ENTRIES_MAX = 1_000;
const MEMO_CHARS_MAX = 512;
const NONE = Symbol();

/** Caches results, because paths and user agents repeat. The number of entries and their length are limited. */
export function memoised<Value extends object>(
  ask: (text: string) => Value | undefined,
): (text: string) => Value | undefined {
  const known = new BoundedCache<Value | typeof NONE>(MEMO_ENTRIES_MAX);
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before === NONE ? undefined : before;
    const answer = ask(text);
    if (text.length <= MEMO_CHARS_MAX) known.set(text, answer ?? NONE);
    return answer;
  };
}
