import type { Checked } from './compile-body.ts';

/**
 * Reads the query parameters of a URL, in their order. Refuses an unknown parameter, and a parameter that is sent twice but is not in `repeatable`:
 * if this function ignored such a parameter, a report could show wrong numbers. The parser of Express is not used, because it silently ignores all
 * parameters after the first thousand.
 */
export function readParameters<Name extends string>(
  url: string,
  known: readonly Name[],
  repeatable: readonly Name[] = [],
): Checked<readonly (readonly [name: Name, value: string])[]> {
  const at = url.indexOf('?');
  const found: [Name, string][] = [];
  for (const [name, value] of new URLSearchParams(at < 0 ? '' : url.slice(at + 1))) {
    const own = known.find((candidate) => candidate === name);
    if (own === undefined) {
      return { problem: `${name.slice(0, 64)} is not a known parameter; known are ${known.join(', ')}` };
    }
    if (!repeatable.includes(own) && found.some(([earlier]) => earlier === own)) {
      return { problem: `${own} must not be given twice` };
    }
    found.push([own, value]);
  }
  return { value: found };
}

export function readCount(
  name: string,
  text: string | undefined,
  { min = 1, max, otherwise }: { readonly min?: number; readonly max: number; readonly otherwise: number },
): Checked<number> {
  if (text === undefined) return { value: otherwise };
  const count = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  return count >= min && count <= max
    ? { value: count }
    : { problem: `${name} must be a whole number from ${min} to ${max}` };
}
