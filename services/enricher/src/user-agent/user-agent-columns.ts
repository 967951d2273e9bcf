import { BoundedCache } from '@weir/domain/bounded-cache';
import { jsonText } from '../encoding/json-text.ts';
import { asHandheld, handheldOf, macintoshClaim } from './apple-handheld.ts';
import { type BotVerdict, judgeBot } from './judge-bot.ts';
import { parseUserAgent, USER_AGENT_PARSED_CHARS_MAX } from './parse-user-agent.ts';
import { type ClientHints, EMPTY_USER_AGENT, type UserAgent } from './user-agent.ts';

export interface UserAgentColumns {
  readonly parsed: UserAgent;
  /** The encoded columns `browser` to `os_version`. */
  readonly browserJson: string;
  readonly deviceTypeJson: string;
  /** The encoded columns `device_brand` and `device_model`. */
  readonly modelJson: string;
  readonly osJson: string;
  /** The encoded columns `browser` to `platform`, for an event that sent no device type and no platform of its own. */
  readonly json: string;
}

export interface Screen {
  /** Size in CSS pixels; 0 if not sent. */
  readonly screenWidth: number;
  readonly screenHeight: number;
}

export interface UserAgents {
  columns(userAgent: string, hints: ClientHints | undefined, screen: Screen): UserAgentColumns;
  bot(userAgent: string, hints: ClientHints | undefined): BotVerdict;
}

/** The maximum number of cached user agents. 10,000 requests of a real site had 558 different ones. Parsing one takes 10 to 30 µs. */
const ENTRIES_MAX = 20_000;
/** The maximum length of a key of the cache, which is the user agent with the Client Hints. Results with longer keys are not cached. */
const HINTED_KEY_CHARS_MAX = 1536;

export function createUserAgents(): UserAgents {
  const byText = new BoundedCache<Entry>(ENTRIES_MAX);
  const byTextAndHints = new BoundedCache<Entry>(ENTRIES_MAX);
  // The last result is kept, because two steps need the same user agent for each event, one after the other.
  let last = newEntry('', undefined);
  let lastText = '';

  function entryOf(text: string, hints: ClientHints | undefined): Entry {
    if (lastText === text && last.hints === hints) return last;
    const userAgent = text.slice(0, USER_AGENT_PARSED_CHARS_MAX);
    last = hints === undefined ? withoutHints(userAgent) : withHints(userAgent, hints);
    lastText = text;
    return last;
  }

  function withoutHints(userAgent: string): Entry {
    const known = byText.get(userAgent);
    if (known !== undefined) return known;
    const entry = newEntry(userAgent, undefined);
    byText.set(userAgent, entry);
    return entry;
  }

  function withHints(userAgent: string, hints: ClientHints): Entry {
    const key = hintedKey(userAgent, hints);
    const known = byTextAndHints.get(key);
    if (known !== undefined) {
      known.hints = hints;
      return known;
    }
    const entry = newEntry(userAgent, hints);
    if (key.length <= HINTED_KEY_CHARS_MAX) byTextAndHints.set(key, entry);
    return entry;
  }

  return {
    columns(userAgent, hints, { screenWidth, screenHeight }) {
      const entry = entryOf(userAgent, hints);
      entry.columns ??= columnsOf(entry);
      if (entry.columns.handhelds === undefined) return entry.columns;
      const handheld = handheldOf(screenWidth, screenHeight);
      return handheld === undefined ? entry.columns : entry.columns.handhelds[handheld];
    },
    bot: (userAgent, hints) => entryOf(userAgent, hints).bot,
  };
}

interface Entry {
  readonly userAgent: string;
  /**
   * The Client Hints of the last event that used this entry. All events that use the entry have Client Hints with the same content, but in different
   * objects: `entryOf` recognises the object of the last event with `===`.
   */
  hints: ClientHints | undefined;
  readonly bot: BotVerdict;
  /** Computed when they are first needed. The user agent of a bot is never parsed. */
  columns: ColumnsByScreen | undefined;
}

/**
 * `handhelds` has the columns for an iPad and for an iPhone. It is set if the screen size decides whether the user agent comes from a Mac
 * or from one of these devices.
 */
interface ColumnsByScreen extends UserAgentColumns {
  readonly handhelds?: Readonly<Record<'iPad' | 'iPhone', UserAgentColumns>>;
}

function newEntry(userAgent: string, hints: ClientHints | undefined): Entry {
  return { userAgent, hints, bot: judgeBot(userAgent, hints), columns: undefined };
}

/** Concatenates the texts instead of using JSON.stringify, because this runs for each event that has Client Hints. */
function hintedKey(userAgent: string, hints: ClientHints): string {
  let key = userAgent;
  for (const name in hints) key += `\0${name}\0${hints[name]}`;
  return key;
}

function columnsOf({ userAgent, hints }: Entry): ColumnsByScreen {
  if (userAgent === '') return NO_USER_AGENT_COLUMNS;
  const parsed = parseUserAgent(userAgent, hints);
  const columns = toUserAgentColumns(parsed);
  if (macintoshClaim(userAgent) !== 'maybe') return columns;
  const iPad = toUserAgentColumns(asHandheld(parsed, 'iPad'));
  const iPhone = toUserAgentColumns(asHandheld(parsed, 'iPhone'));
  return { ...columns, handhelds: { iPad, iPhone } };
}

export function toUserAgentColumns(parsed: UserAgent): UserAgentColumns {
  const texts = [parsed.browser, parsed.browserVersion, parsed.os, parsed.osVersion];
  const browserJson = texts.map(jsonText).join(',');
  const deviceTypeJson = jsonText(parsed.deviceType);
  const modelJson = `${jsonText(parsed.deviceBrand)},${jsonText(parsed.deviceModel)}`;
  const osJson = jsonText(parsed.os);
  const json = [browserJson, deviceTypeJson, modelJson, osJson].join(',');
  return { parsed, browserJson, deviceTypeJson, modelJson, osJson, json };
}

export const NO_USER_AGENT_COLUMNS = toUserAgentColumns(EMPTY_USER_AGENT);
