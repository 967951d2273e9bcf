/** A word as a POSIX shell reads it, in quotes if it needs them. For commands in messages. */
export function shellWord(text: string): string {
  return /^[\w./:,=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
