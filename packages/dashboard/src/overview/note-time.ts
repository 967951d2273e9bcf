import { knownZone } from '../i18n/known-zone.ts';

/** The date and the time of a moment in a zone, for the fields of a form. At midnight, the time is empty: the annotation is about the whole day. */
export function localTime(moment: string | number, zone: string): { readonly date: string; readonly time: string } {
  // The Swedish format is that of ISO 8601.
  const options = { timeZone: knownZone(zone), dateStyle: 'short', timeStyle: 'short' } as const;
  const [date = '', time = ''] = new Intl.DateTimeFormat('sv', options).format(new Date(moment)).split(' ');
  return { date, time: time === '00:00' ? '' : time };
}

/** The day in a zone that a new annotation is about: today, or the last day of a period that is over. `end` is the first moment after the period. */
export function newNoteDay(end: string, zone: string, now = Date.now()): string {
  return localTime(Math.min(now, Date.parse(end) - 1), zone).date;
}
