/** Letters that have no mark to take off. */
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

/** Lower case, without marks, brackets, apostrophes (`Kharkivs'ka`) and other punctuation. */
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

/** A plain name without the words that one list gives and another leaves out. */
export function withoutKind(plain: string): string {
  return plain.replace(KINDS, ' ').replace(/\s+/g, ' ').trim();
}

/** A region and the city in it may differ by this alone: Minsk the city and Minsk the region. */
export type RegionKind = 'city' | 'area';

/** What a plain name says that it is; undefined: it doesn't say. */
export function kindOf(plain: string): RegionKind | undefined {
  if (CITY.test(plain)) return 'city';
  return AREA.test(plain) ? 'area' : undefined;
}
