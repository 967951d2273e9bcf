/** Whether this browser knows the time zone. The server can know newer time zones. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The time zone, or UTC if this browser does not know it. `ZoneNote` (zone-note.tsx) then shows a note. */
export const knownZone = (zone: string): string => (isZone(zone) ? zone : 'UTC');
