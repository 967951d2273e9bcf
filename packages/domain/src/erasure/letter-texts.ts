const TEXT = /"(?:[^"\\]|\\.)*"/g;

/** The strings in the payload of a dead letter. The payload is not parsed, because its JSON can be incomplete. */
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
