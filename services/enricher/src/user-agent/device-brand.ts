/** The usual spelling of names that ua-parser-js copies from the user agent or spells in another way than the table below. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  'Acer,Advan,Alcatel,ASUS,BenQ,BlackBerry,Dell,HMD,HP,HTC,IMO,Infinix,Lenovo,Meizu,Micromax,Motorola,Nokia,OPPO,Panasonic,Polytron,Sony,TECNO,vivo,ZTE'
    .split(',')
    .map((name) => [name.toLowerCase(), name]),
);

/** Names that ua-parser-js copies from the user agent, and the names that replace them. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['Facebook', 'Meta'],
  ['LGE', 'LG'],
]);

/** Brands by the pattern of their model numbers. ua-parser-js misses these if the user agent has no `Build/`. */
const BRANDS: readonly (readonly [brand: string, pattern: RegExp])[] = [
  ['Google', /^(?:Pixel|Nexus (?:5X|6P)|Chromecast)\b/],
  ['Samsung', /^(?:SM|GT|SCH|SGH|SHV|SPH|SC)-[A-Z]?\d|^SC-\d\d[A-Z]/],
  ['Motorola', /^(?:moto|motorola|XT\d{4})\b/i],
  ['Xiaomi', /^(?:Mi|MI|Redmi|POCO|M2\d{3}[A-Z]|2[0-5]\d{5,}[A-Z]|MiTV|A\d{3}XM$)/],
  ['Realme', /^RMX\d{4}/],
  ['OPPO', /^(?:CPH\d{4}|A\d{3}OP$)/],
  ['vivo', /^(?:vivo|V2\d{3}|I2\d{3})/],
  ['OnePlus', /^(?:ONEPLUS|OnePlus|(?:LE|KB|IN|NE|AC|DE|DN|EB|GN|HD|IV|MT)2\d{3})/],
  ['Sony', /^(?:SO-\d\d[A-Z]|A\d{3}SO$|XQ-[A-Z]{2}\d|SOG\d|SOV\d|BRAVIA)/],
  ['Huawei', /^(?:HUAWEI|[A-Z]{3}-(?:L|LX|AL|TL|NX)\d)/],
  ['Sharp', /^(?:SH-\d\d[A-Z]|SHG\d|SHV\d|AQUOS)|\d\dSH$/],
  ['Nokia', /^Nokia/],
  ['Infinix', /^Infinix/],
  ['TECNO', /^TECNO/],
  ['itel', /^itel/],
  ['OUKITEL', /^OUKITEL/i],
  ['Kyocera', /^A\d{3}KC$/],
  ['ZTE', /^A\d{3}ZT$/],
  ['Fairphone', /^(?:FP\d|Fairphone)/],
  ['Nothing', /^(?:A0(?:63|65|142)|Nothing)/],
  ['Lenovo', /^(?:Lenovo|TB-?[A-Z]?\d|A\d{3}LV$)/],
  ['LG', /^LM-[A-Z]\d/],
  ['Meta', /^Quest\b/],
];

/** Returns the usual spelling of a brand of ua-parser-js. */
export function brandName(brand: string): string {
  const name = brand.trim();
  return RENAMED.get(name) ?? SPELLINGS.get(name.toLowerCase()) ?? name;
}

/** Returns the brand of a model, or an empty text if no pattern matches. */
export function deviceBrand(model: string): string {
  return BRANDS.find(([, pattern]) => pattern.test(model))?.[0] ?? '';
}
