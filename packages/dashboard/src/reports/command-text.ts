/** The `weir` command that prints a report of a site. A parameter that is not in `query` gets the default of the command. */
export function weirCommand(
  report: 'stats' | 'breakdown',
  siteId: string,
  query: Readonly<Record<string, unknown>>,
): string {
  const words = ['weir', report, shellWord(siteId)];
  for (const [name, value] of Object.entries(query)) {
    if (name === 'bots') words.push('--bots');
    else {
      for (const one of Array.isArray(value) ? value : [value]) {
        words.push(name === 'dimension' ? '--by' : `--${name}`, shellWord(String(one)));
      }
    }
  }
  return words.join(' ');
}

/** A word as a POSIX shell reads it, in quotes if it needs them. */
function shellWord(text: string): string {
  return /^[\w./:,=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
