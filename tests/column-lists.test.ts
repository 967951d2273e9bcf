import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SHOWN_FIELDS } from '@weir/control/live/shown-to-viewers';
import { COLUMN_DIMENSION_NAMES } from '@weir/control/reports/dimensions';
import { KEPT_HEAD } from '@weir/control/retention/kept-sessions';
import { SLOT_COLUMNS } from '@weir/control/visit-slots/slot-sql';
import { CAMPAIGN_TAG_COLUMNS, CAMPAIGN_TAGS, UTM_TAGS } from '@weir/domain/acquisition/campaign-tags';
import { DUMP_COLUMNS, DUMP_ROW_LENGTHS, DUMP_VERSION } from '@weir/domain/dump/dump-format';
import {
  RECORDS_COLUMNS_BY_VERSION,
  RECORDS_COLUMNS_VERSION,
  STAMP_COLUMNS,
  VISIT_ATTRIBUTES,
} from '@weir/domain/records/records-columns';
import { DATA_FORMAT } from '@weir/runtime/data-folder';
import collectHit from '../schemas/collect-hit.schema.json' with { type: 'json' };
import { runModule } from './run-module.ts';

// CONTRIBUTING.md lists the steps for a new campaign tag and for a new column list. For most of these steps, a test here fails if the step is
// missing.

/** For each released column list: the number of its columns, and the beginning of the SHA-256 hash of their names. */
const RELEASED: Readonly<Record<number, readonly [columns: number, digest: string]>> = {
  1: [56, '90fb64dc782eb665'],
  2: [70, '1c6137920936b5a5'],
};
/** The newest version of the dump format (docs/glossary.md), the number of its columns, and their digest. */
const RELEASED_DUMP = [1, 52, 'f83ef48c9930031e'];
/** The expected DATA_FORMAT. This number identifies the formats of the files in a data folder. */
const RELEASED_DATA_FORMAT = 2;

const digestOf = (names: readonly string[]): string =>
  createHash('sha256').update(names.join()).digest('hex').slice(0, 16);
/** Returns `problem` unless `isRight`. The message of a failed test then says what to do. */
const orElse = (isRight: boolean, problem: string): string => (isRight ? '' : problem);

test('a column list never changes, and a new one is released on purpose', () => {
  for (const [version, columns] of Object.entries(RECORDS_COLUMNS_BY_VERSION)) {
    const found = [columns.length, digestOf(columns)];
    const released = RELEASED[Number(version)];
    const problem =
      released === undefined
        ? `version ${version} of the column list is new: add \`${version}: ${JSON.stringify(found)}\` to RELEASED, and describe the version in CHANGELOG.md`
        : `the column list ${version} has changed, but topics contain records of it. Restore it, and give new columns the version ${RECORDS_COLUMNS_VERSION + 1}`;
    expect(orElse(JSON.stringify(found) === JSON.stringify(released), problem)).toBe('');
  }
});

test('a column list has the columns of the version before it first', () => {
  const lists = Object.values(RECORDS_COLUMNS_BY_VERSION);
  for (const [nth, list] of lists.slice(1).entries()) {
    expect(list.slice(0, lists[nth]?.length)).toEqual(lists[nth]);
    expect(new Set(list).size).toBe(list.length);
  }
});

test('the versions of dumps and of the data folder follow the column list', () => {
  const dump = [DUMP_VERSION, DUMP_COLUMNS.length, digestOf(DUMP_COLUMNS)];
  const changed = `dumps now have the version, columns and digest ${JSON.stringify(dump)}: if this is a new version of the column list, set RELEASED_DUMP to it`;
  expect(orElse(JSON.stringify(dump) === JSON.stringify(RELEASED_DUMP), changed)).toBe('');
  expect(DUMP_ROW_LENGTHS).toEqual([...new Set(DUMP_ROW_LENGTHS)].toSorted((a, b) => a - b));
  const raised = `the data folder now has format ${DATA_FORMAT}: set RELEASED_DATA_FORMAT to it. If it was FORMATS that changed, add the format to the table in docs/operations.md`;
  expect(orElse(DATA_FORMAT === RELEASED_DATA_FORMAT, raised)).toBe('');
});

test('docs/topics.md and the schema of events.enriched are current: node --import tsx scripts/generate-columns.mjs', () => {
  const { page, schema } = runModule(`
    import { readFileSync } from 'node:fs';
    import { ENRICHED_SCHEMA, enrichedSchema, TOPICS_PAGE, topicsPage } from './scripts/enriched-columns.mjs';
    const page = topicsPage(readFileSync(TOPICS_PAGE, 'utf8'));
    const schema = enrichedSchema(JSON.parse(readFileSync(ENRICHED_SCHEMA, 'utf8')));
    console.log(JSON.stringify({ page, schema }));`) as { page: string; schema: unknown };
  expect(readFileSync('docs/topics.md', 'utf8')).toBe(page);
  expect(JSON.parse(readFileSync('schemas/topics/events.enriched.schema.json', 'utf8'))).toEqual(schema);
});

describe('each campaign tag is in', () => {
  const visitTags = UTM_TAGS.map((tag) => `visit_${tag}`);
  test.each<[string, readonly string[], readonly string[]]>([
    ['schemas/collect-hit.schema.json', CAMPAIGN_TAGS, Object.keys(collectHit.properties)],
    ['the columns of records', CAMPAIGN_TAG_COLUMNS, RECORDS_COLUMNS_BY_VERSION[RECORDS_COLUMNS_VERSION] ?? []],
    ['the columns of the stamp', visitTags, STAMP_COLUMNS],
    ['the columns of dumps', CAMPAIGN_TAG_COLUMNS, DUMP_COLUMNS],
    ['the attributes of visits that are compared with sessions', visitTags, VISIT_ATTRIBUTES.map(([stamp]) => stamp)],
    ['the values that retention keeps of a session', UTM_TAGS, KEPT_HEAD],
    ['the fields that viewers may read', UTM_TAGS, SHOWN_FIELDS],
    ['the columns of slots', UTM_TAGS, SLOT_COLUMNS],
    ['the dimensions', UTM_TAGS, COLUMN_DIMENSION_NAMES],
  ])('%s', (_, wanted, list) => {
    expect(wanted.filter((name) => !list.includes(name))).toEqual([]);
  });

  test('docs/tables.md, and its column of the stamp', () => {
    const page = readFileSync('docs/tables.md', 'utf8');
    const names = [...CAMPAIGN_TAG_COLUMNS, ...STAMP_COLUMNS];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

test('each column of the stamp that is an attribute of the visit is compared with sessions', () => {
  const attributes = STAMP_COLUMNS.slice(STAMP_COLUMNS.indexOf('visit_entry'));
  expect(VISIT_ATTRIBUTES.map(([stamp]) => stamp)).toEqual(attributes);
});
