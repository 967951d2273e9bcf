const TEXT = /"(?:[^"\\]|\\.)*"/g;

/** The strings of the payload of a dead letter: JSON that may be cut off, so it is not parsed. */
export function letterTexts(payload: string): readonly string[] {
  return (payload.match(TEXT) ?? []).flatMap((quoted) => {
    try {
      return [JSON.parse(quoted) as string];
    } catch (error) {
      if (error instanceof SyntaxError) return [];
      throw error;
    }
  });
}
