/** The usual spelling of names that ua-parser-js copies from the user agent or spells in another way than the table below. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  'Acer,Advan,Alcatel,ASUS,BenQ,BlackBerry,Blackview,Cubot,Dell,Doogee,Gigaset,Hisense,HMD,Honor,HP,HTC,Huawei,IMO,Infinix,itel,Lenovo,Loewe,Meizu,Micromax,Motorola,Nokia,Nubia,NVIDIA,OnePlus,OPPO,Panasonic,Philips,Polytron,Realme,Samsung,Sharp,Sony,TCL,TECNO,Toshiba,Ulefone,UMIDIGI,vivo,VIZIO,Wiko,Xiaomi,ZTE'
    .split(',')
    .map((name) => [name.toLowerCase(), name]),
);

/** Names that ua-parser-js copies from the user agent, and the names that replace them. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['Facebook', 'Meta'],
  ['Kindle', 'Amazon'],
  ['Generic', ''],
  // The pattern of ua-parser-js for tablets of Zeki also matches those of Lenovo: `TB-X606F Build/`.
  ['Zeki', ''],
  ['LGE', 'LG'],
]);

/** Brands by the pattern of their model numbers. ua-parser-js misses these if the user agent has no `Build/`. */
const BRANDS: readonly (readonly [brand: string, pattern: RegExp])[] = [
  ['Google', /^(?:Pixel|Nexus (?:5X|6P|Player)|Chromecast|Google)\b/],
  ['Samsung', /^(?:SM|GT|SCH|SGH|SHV|SPH|SC)-[A-Z]?\d|^SC-\d\d[A-Z]|^SCG\d\d|^Galaxy\b/],
  ['Motorola', /^(?:moto|motorola)\b|^XT-?\d{4}|^PA[A-Z]{2}\d{4}IN$/i],
  ['Huawei', /^[A-Z]{3}\d?[KR]?-(?:A?[LN]|LX|T[LN]|NX|W)\d/],
  // Xiaomi's model numbers begin with the year and the month: 24069PC21G, M2012K11AC.
  ['Xiaomi', /^(?:Mi|MI|Redmi|POCO|M?2\d(?:0[1-9]|1[0-2])[0-9A-Z]{3,6}[A-Z]$|MiTV|XIG\d\d|A\d{3}XM$|MZB\w{4,5}IN$)/],
  ['Realme', /^RM[XP]\d{4}/],
  ['OPPO', /^(?:CPH\d{4}|OPD\d{4}|P[A-Z]{2}(?:[MT]\d0|1\d0)$|A\d{3}OP$|OPG\d\d)/],
  ['vivo', /^(?:vivo|iQOO|V[12]\d{3}|I[12]\d{3}|i?PA2\d{3})/],
  ['OnePlus', /^(?:ONEPLUS|OnePlus|(?:LE|KB|IN|NE|AC|BE|DE|DN|EB|GN|IV|MT)2\d{3}|(?:GM|HD)19\d\d)/],
  ['Sony', /^(?:SO-\d\d[A-Z]|A\d{3}SO$|XQ-[A-Z]{2}\d|SOG\d|SOV\d|BRAVIA)/],
  ['Sharp', /^(?:SH-(?:M\d|\d\d[A-Z])|SHG\d|SHV\d|AQUOS)|\d\dSH$/],
  ['Nokia', /^TA-1\d{3}$/],
  ['OUKITEL', /^OUKITEL/i],
  ['Kyocera', /^(?:A\d{3}KC|KY[A-Z]\d\d)$/],
  ['Fujitsu', /^F-\d\d[A-Z]$/],
  ['Amazon', /^(?:KF[A-Z]{4,6}|AFT[A-Z0-9]{1,8})$/],
  ['Philips', /^TPM\d{3}E$/],
  ['ZTE', /^(?:A\d{3}ZT|NX\d{3}[A-Z])$/],
  ['Fairphone', /^(?:FP\d|Fairphone)/],
  ['Nothing', /^(?:A(?:001|015|024|059|063|065|069|142)[PT]?$|Nothing)/],
  ['TCL', /^T\d{3}[A-Z]{1,3}\d?$/],
  ['Lenovo', /^(?:TB-?[A-Z]?\d|A\d{3}LV$)/],
  ['LG', /^(?:LM|LGM)-[A-Z]\d/],
  ['Meta', /^Quest\b/],
];

/** Returns the usual spelling of a brand of ua-parser-js. */
export function brandName(brand: string): string {
  const name = brand.trim();
  return RENAMED.get(name) ?? SPELLINGS.get(name.toLowerCase()) ?? name;
}

/** Returns the brand of a model: the brand with which it begins, or the brand whose pattern matches. Empty if there is none. */
export function deviceBrand(model: string): string {
  if (model === '') return '';
  return brandBefore(model) || (BRANDS.find(([, pattern]) => pattern.test(model))?.[0] ?? '');
}

/** Returns the brand with which a text begins: `ZTE A7030`, `ASUS_AI2302`. Empty if it begins with none. */
export function brandBefore(text: string): string {
  if (text === '') return '';
  return SPELLINGS.get(/^[a-z]+(?=[ _-]|$)/i.exec(text)?.[0].toLowerCase() ?? '') ?? '';
}

const TELEVISION_BRAND = /\b(?:hisense|loewe|panasonic|philips|samsung|sharp|sony|tcl|toshiba|vizio|xiaomi)/i;

/** Returns the brand that the user agent of a television names anywhere. Empty if it names none. */
export function televisionBrand(userAgent: string): string {
  return brandName(TELEVISION_BRAND.exec(userAgent)?.[0] ?? '');
}

/** Model numbers of OnePlus since 2022, which follow the scheme of OPPO. */
const ONEPLUS =
  /^(?:CPH(?:23(?:81|89|99)|24(?:0[19]|1[13579]|23|4[79]|51|59|6[579]|87|9[13])|25(?:1[35]|51|69|73|8[135])|26(?:0[59]|1[139]|21|4[579]|5[35]|6[13]|91)|27(?:0[79]|1[79]|23|4[579]|6[79]))$|P(?:GK|GP|GZ|HB|HK|HP|J[ADEFXZ]|K[GRX]|L[CFKQRUYZ])(?:M1|11)0$|OPD(?:230[45]|240[345]|2415|248[01])$)/;
/** Models of Honor from 2021 and 2022, whose Android version does not distinguish them from those of Huawei. */
const HONOR =
  /^(?:ADT|AGT|ANB|ANN|ANP|ANY|CMA|CRT|DIO|ELZ|FNE|GIA|HPB|JLH|KOZ|LGE|LSA|MGI|NTH|NTN|NZA|RKY|RNA|SDY|TFY|TNA|VNA|VNE)-/;

/** Returns the brand under which a model is sold, if its number follows the scheme of the given brand. */
export function soldAs(brand: string, model: string, androidVersion: string): string {
  if (brand === 'OPPO' && ONEPLUS.test(model)) return 'OnePlus';
  return brand === 'Huawei' && isHonor(model, androidVersion) ? 'Honor' : brand;
}

/**
 * Whether a model number of Huawei's scheme belongs to Honor, a separate company since 2020 that kept the scheme. Huawei's own devices do not
 * report a version above Android 12, and those with `N` and a digit report at most 10.
 */
function isHonor(model: string, androidVersion: string): boolean {
  const version = Number.parseInt(androidVersion, 10);
  if (/^[A-Z]{3}-NX[1-8]/.test(model) || HONOR.test(model)) return true;
  return version > (/^[A-Z]{3}-N\d/.test(model) ? 10 : 12) && /^[A-Z]{3}\d?-/.test(model);
}
