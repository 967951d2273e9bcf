const NAME = /^(?!\.)[A-Za-z0-9._=-]+(\/(?!\.)[A-Za-z0-9._=-]+)*$/;
const NAME_CHARS_MAX = 900;

/** Throws `TypeError` if a path with this name could be outside of the store's folder, or if S3 and file systems treat the name differently. */
export function assertObjectName(name: string): void {
  if (NAME.test(name) && name.length <= NAME_CHARS_MAX) return;
  throw new TypeError(`not a name of an object: ${JSON.stringify(name.slice(0, 200))}`);
}
