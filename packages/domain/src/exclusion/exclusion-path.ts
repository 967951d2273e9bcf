/**
 * A glob in which `*` stands for any characters, `/` included, and everything else for itself. Matched part by part and not
 * through a RegExp: a hostile path against `*a*a*a*` would cost a RegExp minutes.
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
