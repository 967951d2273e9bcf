/** Letters that Unicode normalization does not split into a base letter and an accent, and their replacements. */
const LETTERS: Readonly<Record<string, string>> = {
  ı: 'i',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ø: 'o',
  ə: 'a',
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  ħ: 'h',
  þ: 'th',
};

/** Returns a name in lower case, without accents, texts in brackets, apostrophes (`Kharkivs'ka`) and other punctuation. */
export function plainName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ıłđðøəæœßħþ]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/\(.*?\)|\[.*?\]/g, ' ')
    .replace(/['’‘ʼʻʹ`´]/g, '')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

const CITY_KINDS =
  'city|ciudad|grad|gorod|horad|misto|miestas|shahri|gwangyeoksi|federal district|distrito federal|f d|d f|shi|si';
const AREA_KINDS =
  'province|provincia|provincie|region|regiao|state|estado|district|distrito|governorate|county|oblast|oblasti|oblisi|oblysy|voblasts|krai|kray|okrug|republic|respublika|municipality|prefecture|division|department|departamento|territory|emirate|voivodeship|canton|parish|atoll|kraj|rayon|raion|raionul|novads|viloyati|apskritis|pradesh|lan|zupanija|opstina|comarca|megye|voblasc|voivodship|sheng|zizhiqu';
const FILLERS = 'metropolitan|autonomous|special|administrative|urban|of|the|and|de|la|du';

const KINDS = new RegExp(`\\b(?:${CITY_KINDS}|${AREA_KINDS}|${FILLERS})\\b`, 'g');
const CITY = new RegExp(`\\b(?:${CITY_KINDS})\\b`);
const AREA = new RegExp(`\\b(?:${AREA_KINDS})\\b`);

/** Returns a plain name without words such as "province" or "city", which some lists have and other lists omit. */
export function withoutKind(plain: string): string {
  return plain.replace(KINDS, ' ').replace(/\s+/g, ' ').trim();
}

/** A region and a city can have the same name and differ only in kind: the city Minsk and the region Minsk. */
export type RegionKind = 'city' | 'area';

/** Returns the kind of region that a word of a plain name means: "oblast" means an area. Undefined if the name has no such word. */
export function kindOf(plain: string): RegionKind | undefined {
  if (CITY.test(plain)) return 'city';
  return AREA.test(plain) ? 'area' : undefined;
}
