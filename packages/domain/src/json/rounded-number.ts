import { createScanner } from 'jsonc-parser';
import { JSON_TOKEN } from './json-token.ts';

/** Matches numbers of 16 or more characters. Shorter ones are exact: a Float64 keeps every decimal of at most 15 significant digits. */
const MAY_BE_ROUNDED = /\d[\d.]{15}/;
const VALUE_KEYS: readonly string[] = ['value', 'event_value', 'eventValue'];

/**
 * Returns the text of an event's value if it was sent as a JSON number that a Float64 could round: amounts of money must stay exact.
 * Empty if the number has fewer than 16 characters, and is therefore exact. `body` returns the text of the body.
 */
export function roundedNumberText(value: number, body: () => string): string {
  const text = body();
  return MAY_BE_ROUNDED.test(text) ? scan(text, value) : '';
}

/**
 * Returns the text of the number that JSON.parse turned into `value`. If the body contains the name of the field several times, the
 * last one counts, as for JSON.parse.
 */
function scan(text: string, value: number): string {
  const scanner = createScanner(text, true);
  let depth = 0;
  let key: string | undefined;
  let found = '';
  let last = '';
  for (let token: number = scanner.scan(); token !== JSON_TOKEN.end; token = scanner.scan()) {
    if (token === JSON_TOKEN.openBrace || token === JSON_TOKEN.openBracket) depth += 1;
    else if (token === JSON_TOKEN.closeBrace || token === JSON_TOKEN.closeBracket) depth -= 1;
    if (depth !== 1) continue;
    if (token === JSON_TOKEN.string) last = scanner.getTokenValue();
    else if (token === JSON_TOKEN.colon) key = last;
    else if (token === JSON_TOKEN.number && key !== undefined && VALUE_KEYS.includes(key)) {
      const number = scanner.getTokenValue();
      if (Number(number) === value && MAY_BE_ROUNDED.test(number)) found = number;
    }
  }
  return found;
}
