import { FIRST_STAMP_COLUMNS } from '@weir/domain/records/records-columns';
import { jsonText } from '../encoding/json-text.ts';
import { hasLaterTags, NO_LATER_TAGS } from '../encoding/later-tags.ts';
import { timeText } from '../encoding/milliseconds-text.ts';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { VisitorSession } from './visitor-sessions.ts';

/**
 * A stamp is the columns of a row that begin with `visit_`: they describe the visit of the row (docs/decisions/0033). To stamp the next row, the
 * enricher keeps the state of the newest visit of each visitor: one letter, and the encoded attributes of the visit. The letters:
 *
 *     b  one pageview: a bounce       p  began with a pageview, and has more
 *     e  no pageview yet              f  began with another event, and has a pageview
 *     $  nothing that is counted yet: only events such as `$engagement`
 *
 * The letter is a capital if the session began with an event that is not counted. The first counted hit is then later than the start.
 * If the state is an empty text, the stamps of the visit cannot be used. The next rows of the visit then have `visit_stamp` 2, and queries compute
 * the visit from all of its rows.
 */
type Letter = 'b' | 'p' | 'e' | 'f' | '$' | 'B' | 'P' | 'E' | 'F';

export interface Stamped {
  /** The encoded columns FIRST_STAMP_COLUMNS of the row, and the later tags of its visit (later-tags.ts). */
  readonly json: string;
  /** The state of the visit after the row. */
  readonly visit: string;
}

const ATTRIBUTE_COLUMNS = FIRST_STAMP_COLUMNS.slice(FIRST_STAMP_COLUMNS.indexOf('visit_entry'));
const NO_ATTRIBUTES = ATTRIBUTE_COLUMNS.map(() => '""').join(',') + NO_LATER_TAGS;
/** The stamp of a row without a session, of a bot, of an imported dump, and of every outcome that is not a row of `events`. */
export const NO_STAMP_JSON = `0,0,0,0,0,${NO_ATTRIBUTES}`;
/** The stamp of a row of a visit that queries must compute from all of its rows. */
const COMPUTED_JSON = `2,0,0,0,0,${NO_ATTRIBUTES}`;
const COMPUTED: Stamped = { json: COMPUTED_JSON, visit: '' };

/**
 * The maximum duration of a visit with usable stamps. So all stamps of a visit are on the day on which it began or on the next day. Queries compute
 * longer visits from their rows.
 */
const VISIT_MS_MAX = 24 * 3600_000;
/**
 * Queries compute a visit with longer attributes from its rows, because the state of the visitor stores the attributes and must stay small.
 */
const ATTRIBUTES_CHARS_MAX = 1024;

/** The stamp of a row whose visit is not the newest one of its visitor, or has no state: queries must compute this visit. */
export function computedStamp({ bot }: EnrichedEvent): string {
  return bot.name === '' ? COMPUTED_JSON : NO_STAMP_JSON;
}

/** The stamp of the first hit of a session. */
export function stampFirst(event: EnrichedEvent): Stamped {
  // The view `sessions` contains no hits of bots, so they get no stamp. But in the state, this hit begins a session, whose start can differ from that
  // in the view. So the stamps of this session cannot be used: the state of the visit is empty.
  if (event.bot.name !== '') return { json: NO_STAMP_JSON, visit: '' };
  if (!isCounted(event))
    return { json: stampJson(event.timestamp, 0, 0, 0, NO_ATTRIBUTES), visit: `$${NO_ATTRIBUTES}` };
  return stampFirstCounted(event, event.timestamp, 0, 'be');
}

/**
 * The stamp of a row of the newest session of its visitor. The row is not before the start of the session. `visit`: the state of the visit before
 * this row.
 */
export function stampNext(event: EnrichedEvent, session: VisitorSession, visit: string): Stamped {
  const { start, last } = session;
  const { timestamp: at, type } = event;
  if (event.bot.name !== '') return { json: NO_STAMP_JSON, visit: event.kind !== 'event' && at > last ? '' : visit };
  if (visit === '' || at - start > VISIT_MS_MAX || !hasLaterTags(visit)) return COMPUTED;
  const letter = visit.charAt(0) as Letter;
  const attributes = visit.slice(1);

  const isVisitor = event.kind !== 'event';
  const end = isVisitor && at > last ? at : last;
  if (!isCounted(event)) {
    const seconds = letter === '$' ? 0 : secondsOf(start, end) - secondsOf(start, last);
    return { json: stampJson(start, 0, 0, seconds, attributes), visit };
  }
  if (letter === '$') return isVisitor ? stampFirstCounted(event, start, secondsOf(start, end), 'BE') : COMPUTED;
  const isPageview = type === 'pageview';
  if (isVisitor && changesAttributes(event, session, letter, attributes)) return COMPUTED;
  const isBounce = letter === 'b' || letter === 'B';
  return {
    json: stampJson(start, 0, isBounce ? -1 : 0, secondsOf(start, end) - secondsOf(start, last), attributes),
    visit: `${isPageview || isBounce ? AFTER[letter] : letter}${attributes}`,
  };
}

/** The letter of a visit after a further pageview. For a bounce (b, B), also its letter after any other event that is counted. */
const AFTER = { b: 'p', p: 'p', e: 'f', f: 'f', $: '$', B: 'P', P: 'P', E: 'F', F: 'F' } as const;

function stampFirstCounted(event: EnrichedEvent, start: number, seconds: number, letters: 'be' | 'BE'): Stamped {
  const attributes = attributesOf(event);
  // The view `sessions` removes NUL characters from attributes. A stamp with such a character would differ from the view, so queries compute the
  // visit from its rows.
  if (attributes.length > ATTRIBUTES_CHARS_MAX || attributes.includes('\\u0000')) return COMPUTED;
  const isPageview = event.type === 'pageview';
  const visit = letters.charAt(isPageview ? 0 : 1) + attributes;
  return { json: stampJson(start, 1, isPageview ? 1 : 0, seconds, attributes), visit };
}

/**
 * Whether this hit can change the entry (the first page) or the other attributes of its visit. The attributes are those of the first counted hit by
 * time. The entry is that of the first pageview, if there is one. If several hits have the same millisecond, a hash decides which of them is the
 * first.
 */
function changesAttributes(
  event: EnrichedEvent,
  { start, last }: VisitorSession,
  letter: Letter,
  attributes: string,
): boolean {
  const { timestamp: at, type } = event;
  const beganWithOther = letter === 'B' || letter === 'P' || letter === 'E' || letter === 'F';
  const canBeFirst = beganWithOther ? at <= last : at === start;
  if (canBeFirst && attributesOf(event) !== attributes) return true;
  const hasPageviewFirst = letter === 'b' || letter === 'p' || letter === 'B' || letter === 'P';
  if (type !== 'pageview' || hasPageviewFirst) return false;
  const canBeFirstPageview = letter === 'e' || letter === 'E' || at <= last;
  return canBeFirstPageview && !attributes.startsWith(`${jsonText(event.pathname)},`);
}

/** The encoded columns from `visit_entry` on, which are the attributes of a visit, if the visit begins with this event. */
function attributesOf({ pathname, visitSourceJson }: EnrichedEvent): string {
  return `${jsonText(pathname)},${visitSourceJson}`;
}

function stampJson(start: number, isNew: 0 | 1, bounces: number, seconds: number, attributes: string): string {
  return `1,${timeText(start)},${isNew},${bounces},${seconds},${attributes}`;
}

/** Whether the event is counted in visits: names that begin with `$` are Weir's own. */
function isCounted({ eventName }: EnrichedEvent): boolean {
  return !eventName.startsWith('$');
}

function secondsOf(start: number, last: number): number {
  return Math.floor((last - start) / 1000);
}
