/** A trait, or the value of a property, as text. */
export function traitText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
