import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The tree reads itself: what no other tool looks at. */
const LINES_MAX = 300;
const MEDIAN_LINES_MAX = 90;
/** The contract as it was given; docs/spec is it, word by word. */
const GIVEN_SPEC = '../shared/spec';
const SPEC = 'docs/spec';

const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && existsSync(file));
const read = (file: string): string => readFileSync(file, 'utf8');
const linesOf = (file: string): number => read(file).split('\n').length - 1;
const typescript = tracked.filter((file) => file.endsWith('.ts'));
const sources = typescript.filter((file) => /^(packages|services)\/[^/]+\/src\//.test(file));
const tests = typescript.filter((file) => /\.(test|contract)\.ts$/.test(file));
const documents = tracked.filter((file) => file.endsWith('.md'));

describe('length caps', () => {
  test(`no file has more than ${LINES_MAX} lines`, () => {
    expect(typescript.filter((file) => linesOf(file) > LINES_MAX).map((file) => `${file}: ${linesOf(file)}`)).toEqual(
      [],
    );
  });

  test(`the median source file has at most ${MEDIAN_LINES_MAX} lines`, () => {
    const lengths = sources.map(linesOf).toSorted((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(MEDIAN_LINES_MAX);
  });
});

describe('words that promise work', () => {
  test('each TODO, FIXME and XXX names an issue: TODO(#12)', () => {
    const promise = /\b(TODO|FIXME|XXX)\b(?!\(#\d+\))/;
    const code = tracked.filter(
      (file) => /\.(ts|mjs|cjs|sql|sh|yml|json)$/.test(file) && !/package-lock|tidy\.test/.test(file),
    );
    const found = code.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) => (promise.test(line) ? [`${file}:${index + 1}`] : [])),
    );
    expect(found).toEqual([]);
  });
});

describe('closed unions', () => {
  test.each([
    ['packages/domain/src/outcome.ts', 'DropReason'],
    ['packages/domain/src/outcome.ts', 'DeadReason'],
    ['packages/domain/src/outcome.ts', 'Outcome'],
    ['packages/domain/src/errors.ts', 'DependencyErrorCode'],
  ])('every member of %s %s is in a test', (file, name) => {
    const union = read(file).match(new RegExp(`type ${name} =([^;]+);`))?.[1] ?? '';
    const members = [...union.matchAll(/'([a-z_]+)'/g)].map((match) => match[1] ?? '');
    expect(members.length).toBeGreaterThan(2);
    const all = tests.map(read).join('\n');
    // The types of exclusion rules are tested from a table, by `excluded_${type}`.
    const mentioned = (member: string) =>
      all.includes(member) ||
      (member.startsWith('excluded_') && all.includes(`['${member.slice('excluded_'.length)}', `));
    expect(members.filter((member) => !mentioned(member))).toEqual([]);
  });
});

describe('documents', () => {
  test('every setting is in docs/operations.md', () => {
    const config = sources
      .filter((file) => /^packages\/runtime\/src\/config[^/]*\.ts$/.test(file))
      .map(read)
      .join('\n');
    const names = [...config.matchAll(/\b\w+\(\s*'([A-Z][A-Z0-9_]{3,})'/g)].map((match) => match[1] ?? '');
    expect(names).toEqual(expect.arrayContaining(['WEIR_DATA_DIR', 'RATE_LIMIT_EVENTS', 'TRUSTED_PROXIES']));
    const operations = read('docs/operations.md');
    expect([...new Set(names)].filter((name) => !operations.includes(`\`${name}\``))).toEqual([]);
  });

  test('no setting is read anywhere else', () => {
    const allowed = /^(packages\/testkit\/|services\/(cli|host)\/src\/)/;
    const found = sources.filter((file) => !allowed.test(file) && read(file).includes('process.env'));
    expect(found).toEqual([]);
  });

  test('no relative link is dead', () => {
    const dead = documents.flatMap((file) =>
      [
        ...read(file)
          .replace(/```[\s\S]*?```/g, '')
          .matchAll(/\]\(([^)\s]+)\)/g),
      ]
        .map((match) => (match[1] ?? '').split('#')[0] ?? '')
        .filter((link) => link !== '' && !/^[a-z]+:/.test(link) && !existsSync(join(dirname(file), link)))
        .map((link) => `${file}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  test('every page that code names is here', () => {
    const pages = new Set(documents.map((file) => basename(file)));
    const named = tracked
      .filter((file) => /\.(ts|mjs|cjs|sql|ya?ml)$/.test(file))
      // A page in an address elsewhere is taken by the first half.
      .flatMap((file) => [...read(file).matchAll(/https?:\S+|([\w-]+\.md)\b/g)].map(([, page]) => ({ file, page })))
      .filter((one): one is { file: string; page: string } => one.page !== undefined);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ page }) => !pages.has(page)).map(({ file, page }) => `${file}: ${page}`)).toEqual([]);
  });

  (existsSync(GIVEN_SPEC) ? test : test.skip)(
    'docs/spec is the contract as it was given (skipped without ../shared)',
    () => {
      for (const page of ['api.md', 'decisions.md', 'tables.md']) {
        expect(read(`${SPEC}/${page}`)).toBe(read(`${GIVEN_SPEC}/${page}`));
      }
    },
  );

  test('README has at most 120 lines, a decision record at most 60', () => {
    const long = documents.filter(
      (file) =>
        (file === 'README.md' && linesOf(file) > 120) || (/^docs\/decisions\//.test(file) && linesOf(file) > 60),
    );
    expect(long).toEqual([]);
  });
});

describe('schema limits equal the numbers of the spec', () => {
  interface Schema {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly $defs?: Readonly<Record<string, Schema>>;
    readonly $ref?: string;
    readonly maxLength?: number;
    readonly pattern?: string;
    readonly [extension: `x-${string}`]: unknown;
  }
  const schema = (name: string): Schema => JSON.parse(read(`schemas/${name}.schema.json`)) as Schema;
  const resolve = (root: Schema, found: Schema | undefined): Schema | undefined =>
    found?.$ref?.startsWith('#/$defs/') ? root.$defs?.[found.$ref.slice('#/$defs/'.length)] : found;
  const pages = `${read(`${SPEC}/api.md`)}\n${read(`${SPEC}/decisions.md`)}`;
  /** The number that the page says after some words. */
  const said = (words: RegExp): number => Number(pages.match(words)?.[1]?.replace(',', ''));

  const event = schema('server-event');
  const identity = schema('identity');
  const collect = schema('collect-hit');
  const fields = identity.properties ?? identity.$defs?.fields?.properties ?? {};
  const max = (root: Schema, at: Readonly<Record<string, Schema>> | undefined, name: string) =>
    resolve(root, at?.[name])?.maxLength;
  const cut = (name: string) => resolve(collect, collect.properties?.[name])?.['x-cut-chars'];

  test.each([
    ['server event name', max(event, event.properties, 'name'), /Event name \(name, event_name\) \| up to (\d+)/],
    ['server event visitor_id', max(event, event.properties, 'visitor_id'), /visitor_id, session_id \| up to (\d+)/],
    ['server event session_id', max(event, event.properties, 'session_id'), /visitor_id, session_id \| up to (\d+)/],
    [
      'server event user_id',
      max(event, event.properties, 'user_id'),
      /Server event user_id, external_id \| up to (\d+)/,
    ],
    [
      'server event external_id',
      max(event, event.properties, 'external_id'),
      /Server event user_id, external_id \| up to (\d+)/,
    ],
    [
      'server event value',
      max(event, event.properties, 'value'),
      /string of at most (\d+) chars\. A string that is a decimal/,
    ],
    ['server event url', max(event, event.properties, 'url'), /url, referrer, pathname: at most ([\d,]+)/],
    ['server event hostname', max(event, event.properties, 'hostname'), /hostname: at most (\d+)/],
    [
      'context.user_agent',
      max(event, event.properties?.context?.properties, 'user_agent'),
      /user_agent: at most ([\d,]+)/,
    ],
    [
      'context.device_type',
      max(event, event.properties?.context?.properties, 'device_type'),
      /stored as sent \(at most (\d+) chars\)/,
    ],
    [
      'context.platform',
      max(event, event.properties?.context?.properties, 'platform'),
      /stored as sent \(at most (\d+) chars\)/,
    ],
    ['identify visitor_id', max(identity, fields, 'visitor_id'), /visitor_id, session_id \| up to (\d+)/],
    ['identify user_id', max(identity, fields, 'user_id'), /Identify user_id, email, name \| up to (\d+)/],
    ['identify email', max(identity, fields, 'email'), /Identify user_id, email, name \| up to (\d+)/],
    ['identify name', max(identity, fields, 'name'), /Identify user_id, email, name \| up to (\d+)/],
    ['identify image', max(identity, fields, 'image'), /Identify image \| up to (\d+)/],
    ['identify traits', identity['x-traits-max'], /Identify custom traits \| (\d+);/],
    ['trait value', identity.$defs?.trait?.maxLength, /string of at most ([\d,]+) chars, a finite number, a boolean/],
    ['collect visitor_id', max(collect, collect.properties, 'visitor_id'), /visitor_id, session_id \| up to (\d+)/],
    ['collect session_id', max(collect, collect.properties, 'session_id'), /visitor_id, session_id \| up to (\d+)/],
    [
      'collect event_name',
      max(collect, collect.properties, 'event_name'),
      /Event name \(name, event_name\) \| up to (\d+)/,
    ],
    ['collect url is cut', cut('url'), /url, referrer, pathname to ([\d,]+)/],
    ['collect utm_source is cut', cut('utm_source'), /chars; the rest to (\d+)/],
    ['properties, keys', event.properties?.properties?.['x-keys-max'], /at most (\d+) keys in all/],
    ['properties, levels', event.properties?.properties?.['x-depth-max'], /at most (\d+) levels deep/],
    [
      'event_properties, keys',
      collect.properties?.event_properties?.['x-keys-max'],
      /nested object or array is 400\. At most (\d+) keys/,
    ],
  ])('%s', (_, limit, words) => {
    expect(limit).toBe(said(words));
  });

  test('32 KiB of properties, and the patterns', () => {
    const bytes = said(/JSON object; at most (\d+) KiB/) * 1024;
    expect(event.properties?.properties?.['x-json-bytes-max']).toBe(bytes);
    expect(collect.properties?.event_properties?.['x-json-bytes-max']).toBe(bytes);
    for (const [pattern, schemaPattern] of [
      ['^[A-Za-z0-9_.:-]{1,128}$', event.properties?.idempotency_key?.pattern],
      ['^[A-Za-z0-9_.:-]{1,255}$', fields.payment_customer_id?.pattern],
      ['^[a-z0-9_-]{1,64}$', identity.$defs?.trait_key?.pattern],
    ]) {
      expect(pages).toContain(pattern);
      expect(schemaPattern).toBe(pattern);
    }
  });
});
