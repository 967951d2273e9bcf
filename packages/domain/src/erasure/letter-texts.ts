import { parseJson } from '../json/json.ts';

const TEXT = /"(?:[^"\\]|\\.)*"/g;

/** The strings in the payload of a dead letter. The payload is not parsed, because its JSON can be incomplete. */
export function letterTexts(payload: string): readonly string[] {
  return (payload.match(TEXT) ?? []).flatMap((quoted) => (parseJson(quoted) as string | undefined) ?? []);
}
