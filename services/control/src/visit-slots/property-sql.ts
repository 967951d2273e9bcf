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

/** An array of the names and values of these properties of a row of `records`. The values are those that reports use (`valueOf` in parameters.ts). */
export function pairsOf(names: readonly string[]): string {
  if (names.length === 0) return "CAST([], 'Array(Tuple(String, String))')";
  const pairs = names.map(sqlText).map((name) => `(${name}, toString(getSubcolumn(properties, ${name})))`);
  return `arrayFilter(pair -> pair.2 != '', [${pairs.join(', ')}])`;
}

export function sqlText(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

export const sqlTexts = (texts: readonly string[]): string => `[${texts.map(sqlText).join(', ')}]`;
