import { newNoteDay } from '../src/overview/note-time.ts';

const BERLIN = 'Europe/Berlin';
/** In Berlin, this is the first half hour of November 30. */
const NOW = Date.parse('2026-11-29T23:30:00Z');

test('a new note is about today in the time zone of the site, or about the last day of a period that is over', () => {
  expect(newNoteDay('2027-01-01T00:00:00+01:00', BERLIN, NOW)).toBe('2026-11-30');
  expect(newNoteDay('2027-01-01T00:00:00Z', 'UTC', NOW)).toBe('2026-11-29');
  expect(newNoteDay('2026-02-01T00:00:00+01:00', BERLIN, NOW)).toBe('2026-01-31');
  expect(newNoteDay('2026-11-29T23:12:00Z', BERLIN, NOW)).toBe('2026-11-30');
});
