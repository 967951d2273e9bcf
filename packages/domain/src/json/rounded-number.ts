import { createScanner } from 'jsonc-parser';
import { JSON_TOKEN } from './json-token.ts';

/** Every decimal of at most 15 significant digits comes back from a Float64 as it was. */
const MAY_BE_ROUNDED = /\d[\d.]{15}/;
const VALUE_KEYS: readonly string[] = ['value', 'event_value', 'eventValue'];

/**
 * The text of an event's value that was sent as a JSON number, where a Float64 may not tell it: money is not to lose a cent.
 * Empty where the number itself tells all. `body`: the text of the body, which is only asked for here.
 */
export function roundedNumberText(value: number, body: () => string): string {
  const text = body();
  return MAY_BE_ROUNDED.test(text) ? scan(text, value) : '';
}

/** The last of the body's own values that reads as `value`, as JSON.parse took it. */
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
