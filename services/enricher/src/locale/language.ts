import { BoundedCache } from '@weir/domain/bounded-cache';

const TAG = /^[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,3}$/i;
const HEADERS_MAX = 5_000;

/**
 * Returns the language that the page's script sent (`navigator.language`), or an empty text if it is invalid. A valid language has priority over the
 * header `Accept-Language`.
 */
export function languageTag(sent: unknown): string {
  return typeof sent === 'string' && TAG.test(sent) ? sent : '';
}

/**
 * Returns a function that encodes the preferred language of an `Accept-Language` header as JSON. The language is an empty text if the
 * header names no language.
 */
export function createLanguages(): (acceptLanguage: string) => string {
  const cache = new BoundedCache<string>(HEADERS_MAX);
  return (acceptLanguage) => {
    if (acceptLanguage === '') return '""';
    const known = cache.get(acceptLanguage);
    if (known !== undefined) return known;
    const made = `"${favourite(acceptLanguage)}"`;
    cache.set(acceptLanguage, made);
    return made;
  };
}

function favourite(acceptLanguage: string): string {
  let best = '';
  let bestQuality = 0;
  for (const part of acceptLanguage.split(',')) {
    const [tag = '', ...parameters] = part.split(';').map((text) => text.trim());
    const given = parameters.find((parameter) => /^q=/i.test(parameter));
    const quality = given === undefined ? 1 : Number(given.slice(2));
    if (TAG.test(tag) && quality > bestQuality) [best, bestQuality] = [tag, quality];
  }
  return best;
}
