import type { HttpAnswer } from '@weir/testkit/http-client';

export const ACCEPTED = { status: 'success', data: { accepted: true } };
export const DUPLICATE = { status: 'success', data: { accepted: false, duplicate: true } };
export const UUID_V5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function expectJson(answer: HttpAnswer, status: number, body: unknown): void {
  expect({ status: answer.status, body: answer.json ?? answer.text }).toEqual({ status, body });
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
}

/** Expects an error in the JSON format of /api/v1/events and of the admin API (docs/api.md, Answers). */
export function expectEnvelope(answer: HttpAnswer, status: number, message: RegExp = /./): void {
  expectJson(answer, status, { status: 'error', error: { code: status, message: expect.stringMatching(message) } });
}

/** Expects the error body of /api/identify (docs/api.md, Answers). */
export function expectIdentifyError(answer: HttpAnswer, status: number, message: RegExp = /./): void {
  expectJson(answer, status, { error: expect.stringMatching(message) });
}

/** Expects a status and no body (docs/api.md, Answers). */
export function expectNoBody(answer: HttpAnswer, status: number): void {
  expect({ status: answer.status, body: answer.text }).toEqual({ status, body: '' });
  expect(answer.headers['content-length'] ?? '0').toBe('0');
}

/** `count` code points outside the Basic Multilingual Plane. Each has two UTF-16 units and four bytes in UTF-8. */
export function astral(count: number): string {
  return '\u{1F30A}'.repeat(count);
}

export function profileIdOf(answer: HttpAnswer): string {
  return (answer.json as { data: { profileId: string } }).data.profileId;
}
