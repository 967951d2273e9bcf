/**
 * Compiles a glob: `*` matches any characters, also `/`, and every other character matches itself. The returned function searches the
 * parts between the stars one by one. A RegExp for `*a*a*a*` would take minutes on a path that an attacker sends.
 */
export function compilePathGlob(glob: string): (path: string) => boolean {
  const [first = '', ...rest] = glob.split('*');
  if (rest.length === 0) return (path) => path === first;
  const last = rest.pop() ?? '';
  const middle = rest.filter((part) => part !== '');
  return (path) => {
    if (!path.startsWith(first)) return false;
    let at = first.length;
    for (const part of middle) {
      const found = path.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return path.length - last.length >= at && path.endsWith(last);
  };
}
