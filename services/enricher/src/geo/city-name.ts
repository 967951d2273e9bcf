/**
 * What stands in the brackets of names that are known by them: Frankfurt (Oder). All that DB-IP's data has of such, and the
 * best known of those it shortens.
 */
const PARTS_OF_NAMES: ReadonlySet<string> = new Set(
  'Aller Allgau Baden Chiemgau Elbe Hessen Oder Rheintal Ruhr Saale Schwarzwald Sieg Taunus Unterweser Wumme'.split(
    ' ',
  ),
);
const COUNTRIES_OF_SUCH_NAMES: ReadonlySet<string> = new Set(['AT', 'CH', 'DE']);

/** The city alone where DB-IP adds a part of it in brackets, as it does for a fifth of all addresses: "Berlin (Bezirk Mitte)". */
export function cityName(country: string, name: string): string {
  if (!name.endsWith(')')) return name;
  const start = openingOfLast(name);
  if (start < 2 || name[start - 1] !== ' ') return name;
  const inside = name.slice(start + 1, -1);
  if (COUNTRIES_OF_SUCH_NAMES.has(country) && PARTS_OF_NAMES.has(inside)) return name;
  return name.slice(0, start - 1).trimEnd();
}

/** "Zurich (Zurich (Kreis 11) / Oerlikon)": the first one. */
function openingOfLast(name: string): number {
  let depth = 0;
  for (let i = name.length - 1; i >= 0; i -= 1) {
    if (name[i] === ')') depth += 1;
    if (name[i] === '(') depth -= 1;
    if (depth === 0) return i;
  }
  return -1;
}
