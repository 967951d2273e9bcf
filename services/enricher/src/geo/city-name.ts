/**
 * Additions in brackets that belong to the name of a town, for example Frankfurt (Oder). The list has all such additions in
 * the bundled data of DB-IP, and a few well-known ones that other data can contain.
 */
const PARTS_OF_NAMES: ReadonlySet<string> = new Set(
  'Aller Allgau Baden Chiemgau Elbe Hessen Oder Rheintal Ruhr Saale Schwarzwald Sieg Taunus Unterweser Wumme'.split(
    ' ',
  ),
);
const COUNTRIES_OF_SUCH_NAMES: ReadonlySet<string> = new Set(['AT', 'CH', 'DE']);

/**
 * Removes the district that DB-IP adds in brackets to the name of the city, for a fifth of all addresses: "Berlin (Bezirk Mitte)"
 * becomes "Berlin".
 */
export function cityName(country: string, name: string): string {
  if (!name.endsWith(')')) return name;
  const start = openingOfLast(name);
  if (start < 2 || name[start - 1] !== ' ') return name;
  const inside = name.slice(start + 1, -1);
  if (COUNTRIES_OF_SUCH_NAMES.has(country) && PARTS_OF_NAMES.has(inside)) return name;
  return name.slice(0, start - 1).trimEnd();
}

/**
 * The index of the opening bracket that belongs to the last closing bracket, or -1. In "Zurich (Zurich (Kreis 11) / Oerlikon)" this
 * is the first bracket.
 */
function openingOfLast(name: string): number {
  let depth = 0;
  for (let i = name.length - 1; i >= 0; i -= 1) {
    if (name[i] === ')') depth += 1;
    if (name[i] === '(') depth -= 1;
    if (depth === 0) return i;
  }
  return -1;
}
