import { readFileSync } from 'node:fs';
import { loadConfig } from '../packages/runtime/src/config/config.ts';
import { openApiDocument } from '../services/host/src/openapi-document.ts';

/** These tests compare this page with the JSON schemas and with /openapi.json. */
const page = readFileSync('docs/api.md', 'utf8');

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly $ref?: string;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly [extension: `x-${string}`]: unknown;
}
const schema = (name: string): Schema => JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8')) as Schema;
const serverEvent = schema('server-event');
const identity = schema('identity');
const collectHit = schema('collect-hit');
const person = identity.$defs?.fields?.properties ?? {};

/** The text from a heading to the next heading of the same or a higher level. */
function section(heading: string): string {
  const [, level = '', text = ''] = heading.match(/^(#+) (.*)$/) ?? [];
  const lines = page.split('\n');
  const start = lines.indexOf(`${level} ${text}`);
  if (start < 0) throw new Error(`docs/api.md has no heading "${heading}"`);
  const length = lines.slice(start + 1).findIndex((line) => /^#+ /.test(line) && line.indexOf(' ') <= level.length);
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

const codes = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
const number = (value: number): string => value.toLocaleString('en-US');

function documentedFields(heading: string) {
  return section(heading)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, field, aliases, type, limit]) => ({ field: codes(field)[0], aliases: codes(aliases), type, limit }));
}

function limitOf(field: Schema): string {
  if (field.enum) return `one of ${field.enum.map((value) => `\`${value}\``).join(', ')}`;
  if (field.pattern && field.pattern !== '\\S') return `\`${field.pattern}\``;
  if (field['x-cut-chars']) return `cut to ${number(Number(field['x-cut-chars']))} chars`;
  if (field.maxLength) return `${number(field.maxLength)} chars`;
  if (!field['x-json-bytes-max']) return '';
  const levels = field['x-depth-max'] ? [`${field['x-depth-max']} levels`] : [];
  return [`${Number(field['x-json-bytes-max']) / 1024} KiB as JSON`, ...levels, `${field['x-keys-max']} keys`].join(
    ', ',
  );
}

function fieldsOf(root: Schema, properties: Readonly<Record<string, Schema>> = {}) {
  return Object.entries(properties).map(([field, raw]) => {
    const found = raw.$ref?.startsWith('#/$defs/') ? root.$defs?.[raw.$ref.slice('#/$defs/'.length)] : raw;
    const type = raw.$ref && !found?.type ? 'object' : [found?.type ?? 'object'].flat().join(', ');
    return { field, aliases: raw['x-aliases'] ?? [], type, limit: limitOf(found ?? raw) };
  });
}

describe('docs/api.md: fields, aliases, types and limits are those of the schemas', () => {
  test.each([
    ['### Fields of a server event', fieldsOf(serverEvent, serverEvent.properties)],
    ['### Fields of context', fieldsOf(serverEvent, serverEvent.properties?.context?.properties)],
    ['### Fields of an identity', fieldsOf(identity, person)],
    ['### Fields of a collect hit', fieldsOf(collectHit, collectHit.properties)],
    ['### Identify from a browser', fieldsOf(identity, identity.$defs?.browser_identity?.properties)],
  ])('%s', (heading, fields) => {
    expect(fields.length).toBeGreaterThan(0);
    expect(documentedFields(heading)).toEqual(fields);
  });

  test.each([
    ['### Fields of a server event', serverEvent.required],
    ['### Fields of an identity', identity.required],
    ['### Fields of a collect hit', collectHit.required],
  ])('%s: the required fields', (heading, required) => {
    const sentence = section(heading)
      .split('\n')
      .find((line) => /(are|is) required/.test(line));
    expect(codes(sentence)).toEqual(required);
  });

  test('traits', () => {
    const traits = section('### Traits');
    expect(traits).toContain(`\`${identity.$defs?.trait_key?.pattern}\``);
    expect(traits).toContain(`a string of at most ${number(identity.$defs?.trait?.maxLength ?? 0)} chars`);
    expect(traits).toContain(`at most ${identity['x-traits-max']} traits`);
  });
});

test('docs/api.md: the default rate limits are those of the configuration', () => {
  const { collect, events, identify } = loadConfig({}).rateLimits;
  const perMinute = section('### Rate limits')
    .split('\n')
    .flatMap((line) => line.match(/^\| `POST [^|]*\| ([\d,]+) \|/)?.[1] ?? []);
  expect(perMinute).toEqual([collect, events, identify].map(number));
});

describe('docs/api.md: everything in /openapi.json is described', () => {
  type Operation = {
    readonly parameters?: readonly { readonly name: string }[];
    readonly responses?: Readonly<Record<string, unknown>>;
  };
  const document = openApiDocument([]) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => /^(get|post|patch|put|delete)$/.test(method))
      .map(([method, operation]) => ({ call: `${method.toUpperCase()} ${path}`, operation })),
  );

  test.each(operations.map(({ call }) => call))('%s', (call) => {
    expect(page).toContain(`\`${call}\``);
  });

  test.each(operations.filter(({ call }) => !call.includes('/api/admin/') && call.startsWith('POST')))(
    '$call: every status',
    ({ call, operation }) => {
      const statuses = section(`## ${call}`)
        .split('\n')
        .flatMap((line) => line.match(/^\| ([\d, ]+) \|/)?.[1]?.split(', ') ?? []);
      expect(statuses.toSorted()).toEqual(Object.keys(operation.responses ?? {}).toSorted());
    },
  );

  test('every field and every query parameter', () => {
    const names = new Set<string>();
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties } = node as { readonly properties?: object };
      // A field can itself be named `properties`: its value is one schema, not a map of schemas.
      if (properties && Object.values(properties).every((value) => typeof value === 'object')) {
        for (const name of Object.keys(properties)) names.add(name);
      }
      for (const value of Object.values(node)) visit(value);
    };
    visit(document);
    for (const { operation } of operations) for (const { name } of operation.parameters ?? []) names.add(name);
    expect(names.size).toBeGreaterThan(100);
    const described = (name: string): boolean =>
      page.includes(`\`${name}\``) || page.includes(`"${name}"`) || page.includes(`\`${name}:`);
    expect([...names].filter((name) => !described(name))).toEqual([]);
  });
});
