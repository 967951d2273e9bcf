// The helpers of the scripts are arrow functions, because these need fewer bytes than function declarations.

/**
 * Returns the result of `run`, or undefined if it throws. In sandboxes and with some settings, browsers throw on access to
 * storage and cookies.
 */
export const attempt = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch {
    // Returns undefined.
  }
};

/**
 * The keys in the browser's storage: the visitor and its session, the hits that wait, and the opt-out. The scripts repeat these texts, because
 * constants would need more bytes after gzip.
 */
type StoredName = 'weir' | 'weir.q' | 'weir.off';

/** Values that the browser's storage refused, because it is full or because access is denied. They are lost when the page ends. */
const refused: Record<string, string | number> = {};

/** Reads a value from the browser's storage for this origin. */
export const kept = (name: StoredName): string | undefined =>
  (refused[name] as string) || attempt(() => localStorage[name] as string);

/** Writes a value to the browser's storage, or to `refused` if the storage refuses it. An empty text or 0 removes the value. */
export const keep = (name: StoredName, text: string | number): void => {
  attempt(() => {
    if (text) localStorage[name] = text;
    else delete localStorage[name];
    text = '';
  });
  refused[name] = text;
};
