/** SQL of the custom properties in slots (docs/decisions/0056). */

/**
 * Whether `getSubcolumn` can only read the property of this name. Other names are part of ClickHouse's syntax for subcolumns, for example `a.:Int64`
 * or `a[]`.
 */
export function isPlainName(name: string): boolean {
  return !/^[\^@]|[`[\]]|\.:|^\.|\.\.|\.$/.test(name);
}

/** The condition on the columns of `visit_days` for a build that can answer reports on the properties `asked`, which must have plain names. */
export function coversProperties(asked: string): string {
  const isNear = "path = name OR startsWith(path, concat(name, '.')) OR startsWith(name, concat(path, '.'))";
  // If no row has the property, it has no value. Subcolumns of a property have names such as `tags.size0`, so names with the same beginning may have
  // values.
  return `arrayAll(name -> has(property_names, name) OR
      (lists_properties AND NOT arrayExists(path -> ${isNear}, arrayConcat(property_names, properties_left_out))), ${asked})`;
}

/**
 * An array with the number (from 1) and the value of each of these properties that a row of `records` has. The values are those that reports use
 * (`valueOf` in parameters.ts). Numbers instead of names, because ClickHouse makes the array of all names for each row before it filters the array:
 * with long names, a block of rows would need more than the memory of a build.
 */
export function pairsOf(names: readonly string[]): string {
  if (names.length === 0) return "CAST([], 'Array(Tuple(UInt8, String))')";
  const pairs = names.map((name, nth) => `(toUInt8(${nth + 1}), toString(getSubcolumn(properties, ${sqlText(name)})))`);
  return `arrayFilter(pair -> pair.2 != '', [${pairs.join(', ')}])`;
}

/** The names for an array of the numbers in `pairsOf`. */
export function namesOf(numbers: string, names: readonly string[]): string {
  if (names.length === 0) return "CAST([], 'Array(String)')";
  return `arrayMap(nth -> transform(nth, [${names.map((_, nth) => nth + 1).join(', ')}], ${sqlTexts(names)}, ''), ${numbers})`;
}

export function sqlText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

export const sqlTexts = (texts: readonly string[]): string => `[${texts.map(sqlText).join(', ')}]`;
