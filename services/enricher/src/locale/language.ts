import { BoundedCache } from '@weir/domain/bounded-cache';

const TAG = /^[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,3}$/i;
const HEADERS_MAX = 5_000;

/**
 * Returns the language that the page's script sent (`navigator.language`), or an empty text if it is invalid. A valid language has priority over the
 * header `Accept-Language`.
 */
export function languageTag(sent: unknown): string {
  return typeof sent === 'string' && TAG.test(sent) ? usualCase(sent) : '';
}

/** Most tags are already in this letter case: `de`, `en-US`. */
const USUAL = /^[a-z]{2,3}(?:-[A-Z]{2})?$/;

/** Returns a tag in the letter case of BCP 47 (section 2.1.1), so that reports do not list `en-us` and `en-US` as two languages. */
function usualCase(tag: string): string {
  if (USUAL.test(tag)) return tag;
  const [language = '', ...rest] = tag.toLowerCase().split('-');
  return [language, ...rest.map(subtagCase)].join('-');
}

function subtagCase(subtag: string, at: number, subtags: readonly string[]): string {
  // All subtags of an extension (`u-co-phonebk`) and of private use (`x-word`) are in lower case.
  if (subtags.slice(0, at).some(({ length }) => length === 1)) return subtag;
  if (subtag.length === 2) return subtag.toUpperCase();
  return /^[a-z]{4}$/.test(subtag) ? subtag.charAt(0).toUpperCase() + subtag.slice(1) : subtag;
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
  return usualCase(best);
}
