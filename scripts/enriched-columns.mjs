// Makes the texts of docs/topics.md and schemas/topics/events.enriched.schema.json about the column lists
// (packages/domain/src/records/records-columns.ts).
import { typeOfColumn } from '../packages/domain/src/records/column-types.ts';
import { RECORDS_COLUMNS_BY_VERSION } from '../packages/domain/src/records/records-columns.ts';

export const TOPICS_PAGE = 'docs/topics.md';
export const ENRICHED_SCHEMA = 'schemas/topics/events.enriched.schema.json';

const VERSIONS = Object.entries(RECORDS_COLUMNS_BY_VERSION).map(([version, columns]) => ({ version, columns }));
const NEWEST = VERSIONS.at(-1);
const OLDER = VERSIONS.slice(0, -1);

const JSON_TYPES = {
  text: { type: 'string' },
  whole: { type: 'integer', minimum: 0 },
  integer: { type: 'integer' },
  'number or null': { type: ['number', 'null'] },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
};

/** Returns the page with the present column lists. Throws if the page no longer has a text that this function must replace. */
export function topicsPage(page) {
  const rows = NEWEST.columns.map((column, index) => `| ${index + 1} | \`${column}\` | ${typeOfColumn(column)} |\n`);
  const counts = OLDER.map(({ version, columns }) => `Version ${version} has the columns 1 to ${columns.length}.`);
  const places = [
    [/(?<=\| position \| column \| type \|\n\|---\|---\|---\|\n)(?:\| .*\n)+/, rows.join('')],
    [
      /\| version \| \d+; older records have version .* \|/,
      `| version | ${NEWEST.version}; older records have version ${OLDER.map(({ version }) => version).join(' or ')} |`,
    ],
    [
      /The table lists the columns of version \d+\.(?: Version \d+ has the columns 1 to \d+\.)+/,
      `The table lists the columns of version ${NEWEST.version}. ${counts.join(' ')}`,
    ],
    [/(?<='v'\)\] )IN \([^)]*\)/, `IN (${VERSIONS.map(({ version }) => `'${version}'`).join(', ')})`],
    [/(?<=JSONLength\(line\) )IN \([^)]*\)/, `IN (${VERSIONS.map(({ columns }) => columns.length).join(', ')})`],
  ];
  return places.reduce((text, [pattern, replacement]) => {
    if (!pattern.test(text)) throw new Error(`${TOPICS_PAGE} has no text that matches ${pattern}`);
    return text.replace(pattern, replacement);
  }, page);
}

/** The schema with the present column lists. A column that is already in the schema keeps its description. */
export function enrichedSchema(schema) {
  const known = new Map(schema.prefixItems.map((item) => [item.title, item]));
  const described = VERSIONS.map(({ version, columns }, index) => {
    const count = index === OLDER.length ? `all ${columns.length}` : `the first ${columns.length}`;
    return index === 0
      ? `If the header v is ${version}, the array has ${count} columns`
      : `if it is ${version}, ${count}`;
  });
  return {
    ...schema,
    description: `The value of a record: one JSON array, then a line feed (docs/topics.md). The titles are the names of the columns. ${described.join('; ')}.`,
    oneOf: [
      ...OLDER.map(({ columns }) => ({ minItems: columns.length, maxItems: columns.length })),
      { minItems: NEWEST.columns.length },
    ],
    prefixItems: NEWEST.columns.map(
      (column) => known.get(column) ?? { title: column, ...JSON_TYPES[typeOfColumn(column)] },
    ),
  };
}
