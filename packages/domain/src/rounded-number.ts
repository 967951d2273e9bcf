import { createScanner } from 'jsonc-parser';

// jsonc-parser's SyntaxKind: a const enum, which isolated modules can't read.
const OPEN_BRACE = 1;
const CLOSE_BRACE = 2;
const OPEN_BRACKET = 3;
const CLOSE_BRACKET = 4;
const COLON = 6;
const STRING = 10;
const NUMBER = 11;
const END = 17;

/** Every decimal of at most 15 significant digits comes back from a Float64 as it was. */
const MAY_BE_ROUNDED = /\d[\d.]{15}/;
const VALUE_KEYS: readonly string[] = ['value', 'event_value'];

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
  for (let token: number = scanner.scan(); token !== END; token = scanner.scan()) {
    if (token === OPEN_BRACE || token === OPEN_BRACKET) depth += 1;
    else if (token === CLOSE_BRACE || token === CLOSE_BRACKET) depth -= 1;
    if (depth !== 1) continue;
    if (token === STRING) last = scanner.getTokenValue();
    else if (token === COLON) key = last;
    else if (token === NUMBER && key !== undefined && VALUE_KEYS.includes(key)) {
      const number = scanner.getTokenValue();
      if (Number(number) === value && MAY_BE_ROUNDED.test(number)) found = number;
    }
  }
  return found;
}
