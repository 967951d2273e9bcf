import type { Condition } from '../audit/rows-above.ts';
import type { AdminDeps } from '../control-deps.ts';
import { conflict, invalid, isReply, notFound, ok, type Reply, unavailable } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import type { Checked } from '../http/compile-body.ts';
import { readCount, readParameters } from '../http/query-parameters.ts';
import { waitUntilVisible } from '../imports/wait-until-stored.ts';
import { hideSecrets } from './hide-secrets.ts';
import {
  LETTER_FILTERS,
  LETTER_ID_PATTERN,
  type LetterFilter,
  type LetterPlace,
  letterCondition,
  letterId,
  placesCondition,
  readLetterId,
} from './letter-filter.ts';
import { letterRecord } from './letter-record.ts';
import { type LetterResult, REPLAYS, redriveLetters, WAITING } from './redrive-letters.ts';
import { countLetters, letterView, readLetters, readPayload, type StoredLetter } from './stored-letters.ts';

export const LETTERS_PARAMETERS = [...LETTER_FILTERS, 'after', 'limit'] as const;
export const LETTERS_MAX = 500;
const LETTERS_DEFAULT = 100;

const text = { type: 'string', minLength: 1, maxLength: 256 } as const;
const letterIdText = { type: 'string', pattern: LETTER_ID_PATTERN } as const;

export const REDRIVE = {
  type: 'object',
  properties: {
    letters: { type: 'array', minItems: 1, maxItems: LETTERS_MAX, items: letterIdText },
    ...{ site: text, stage: text, reason: text, error: text, since: text, until: text },
    after: letterIdText,
    limit: { type: 'integer', minimum: 1, maximum: LETTERS_MAX },
    dry_run: { type: 'boolean' },
  },
  additionalProperties: false,
} as const;

interface RedriveBody extends LetterFilter {
  readonly letters?: readonly string[];
  readonly after?: string;
  readonly limit?: number;
  readonly dry_run?: boolean;
}

/** Lists the dead letters that were not redriven (docs/glossary.md), or whose redriven record became a dead letter again. */
export async function listDeadLetters({ tables, clock }: AdminDeps, { http, context }: AdminRequest): Promise<Reply> {
  const read = readParameters(http.originalUrl, LETTERS_PARAMETERS);
  if ('problem' in read) return invalid(read.problem);
  const { after, limit: limitText, ...filter } = Object.fromEntries(read.value) as Partial<Record<string, string>>;
  const limit = readCount('limit', limitText, { max: LETTERS_MAX, otherwise: LETTERS_DEFAULT });
  if ('problem' in limit) return invalid(limit.problem);
  const page = pageOf(filter as LetterFilter, after, clock());
  if ('problem' in page) return invalid(page.problem);
  const { condition, place } = page.value;
  const { total, letters } = await tables.read(async (stored) => {
    const total = await countLetters(stored, condition);
    return { total, letters: await readLetters(stored, condition, { after: place, limit: limit.value }) };
  }, context);
  return ok({ total, letters: letters.map(letterView), cursor: cursorOf(letters, limit.value) });
}

/** Shows one dead letter with its payload, and whether it can be redriven. */
export async function showDeadLetter(deps: AdminDeps, { params, context }: AdminRequest): Promise<Reply> {
  const place = readLetterId(params.letter_id ?? '');
  if (place === undefined) return notFound('dead letter');
  const condition = placesCondition([place]);
  const found = await deps.tables.read(async (stored) => {
    const [letter] = await readLetters(stored, condition, { after: undefined, limit: 1 });
    return letter && { letter, payload: await readPayload(stored, condition) };
  }, context);
  if (found === undefined) return notFound('dead letter');
  const record = found.letter.redrivenAt === undefined ? await letterRecord(deps, found.letter) : 'it was redriven';
  return ok({
    ...letterView(found.letter),
    payload: hideSecrets(found.payload),
    redrive_problem: typeof record === 'string' ? record : null,
  });
}

/**
 * Redrives the dead letters with the given IDs, or up to `limit` that match the filter. Only one call runs at a time. Without `dry_run`, a call first
 * waits until all records of the log are stored. It then sees what earlier calls redrove, so a repeated call does not redrive the same letter twice.
 */
export async function redriveDeadLetters(deps: AdminDeps, { body }: AdminRequest<RedriveBody>): Promise<Reply> {
  if ('problem' in body) return invalid(body.problem);
  const { letters: ids, after, limit = LETTERS_DEFAULT, dry_run: isDryRun = false, ...filter } = body.value;
  if (ids !== undefined && (after !== undefined || Object.keys(filter).length > 0)) {
    return invalid('letters must not be sent together with a filter or after');
  }
  const page = pageOf(filter, after, deps.clock());
  if ('problem' in page) return invalid(page.problem);
  const { condition, place } = page.value;
  return deps.runRedrive(async () => {
    if (!isDryRun && deps.registry.replay() !== undefined) return conflict(REPLAYS);
    if (!isDryRun && !(await waitUntilVisible(deps))) return unavailable(WAITING, 2);
    const selected = await deps.tables.read(async (stored) => {
      if (ids !== undefined) {
        const places = ids.flatMap((id) => readLetterId(id) ?? []);
        const byId = await readLetters(stored, placesCondition(places), { after: undefined, limit: LETTERS_MAX });
        return { total: byId.filter(isOpen).length, letters: byId };
      }
      const total = await countLetters(stored, condition);
      return { total, letters: await readLetters(stored, condition, { after: place, limit }) };
    });
    const redriven = await redriveLetters(deps, selected.letters.filter(isOpen), isDryRun);
    if (isReply(redriven)) return redriven;
    return ok({
      dry_run: isDryRun,
      total: selected.total,
      results: [...redriven, ...others(ids ?? [], selected.letters)],
      cursor: ids === undefined ? cursorOf(selected.letters, limit) : null,
    });
  });
}

const isOpen = ({ redrivenAt }: StoredLetter): boolean => redrivenAt === undefined;

/** The results for the requested IDs that this call does not redrive: there is no such dead letter, or it was redriven before. */
function others(ids: readonly string[], letters: readonly StoredLetter[]): readonly LetterResult[] {
  const known = new Map(letters.map((letter) => [letterId(letter), letter]));
  return [...new Set(ids)].flatMap((id): readonly LetterResult[] => {
    const letter = known.get(id);
    if (letter === undefined) return [{ letter_id: id, result: 'not_found', problem: 'there is no such dead letter' }];
    return isOpen(letter) ? [] : [{ letter_id: id, result: 'redriven_before', problem: null }];
  });
}

function pageOf(
  filter: LetterFilter,
  after: string | undefined,
  nowMs: number,
): Checked<{ readonly condition: Condition; readonly place: LetterPlace | undefined }> {
  const condition = letterCondition(filter, nowMs);
  if ('problem' in condition) return condition;
  const place = after === undefined ? undefined : readLetterId(after);
  if (after !== undefined && place === undefined) return { problem: 'after must be the cursor of an earlier answer' };
  return { value: { condition: condition.value, place } };
}

/** The cursor of the next page: the ID of the last letter. Null if there is no next page. */
function cursorOf(letters: readonly StoredLetter[], limit: number): string | null {
  const last = letters.at(-1);
  return last === undefined || letters.length < limit ? null : letterId(last);
}
