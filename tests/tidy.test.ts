import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

// This file checks rules for the files of this repository that no other tool checks.

const LINES_MAX = 300;
const FOLDER_FILES_MAX = 16;
/** File names that may occur more than once: entries of packages, and names that a tool prescribes. */
const NAMES_USED_AGAIN = new Set(['weir.ts', 'README.md']);

const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && existsSync(file));
const read = (file: string): string => readFileSync(file, 'utf8');
const linesOf = (file: string): number => read(file).split('\n').length - 1;
const typescript = tracked.filter((file) => /\.tsx?$/.test(file));
const sources = typescript.filter((file) => /^(packages|services)\/[^/]+\/src\//.test(file));
const tests = typescript.filter((file) => /\.(test|contract)\.ts$/.test(file));
const documents = tracked.filter((file) => file.endsWith('.md'));

describe('length caps', () => {
  test(`no file has more than ${LINES_MAX} lines`, () => {
    expect(typescript.filter((file) => linesOf(file) > LINES_MAX).map((file) => `${file}: ${linesOf(file)}`)).toEqual(
      [],
    );
  });
});

describe('folders and names', () => {
  test(`no folder of src has more than ${FOLDER_FILES_MAX} files`, () => {
    const counts = new Map<string, number>();
    for (const file of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > FOLDER_FILES_MAX)).toEqual([]);
  });

  test('each file name is used once, so that a search by name finds one file', () => {
    const named = tracked.filter((file) => /\.(tsx?|mjs|cjs|sql|md)$/.test(file));
    expect([...groupByName(named)].filter(([name, files]) => files.length > 1 && !NAMES_USED_AGAIN.has(name))).toEqual(
      [],
    );
  });
});

function groupByName(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const file of files) places.set(basename(file), [...(places.get(basename(file)) ?? []), file]);
  return places;
}

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

describe('references', () => {
  test('no text refers to a folder, an issue or a design that a reader of the repository does not have', () => {
    const outside = /\.\.\/shared\b|\bissues? [0-9]+\b|\bthe design\b|\(design:/i;
    const texts = tracked.filter(
      (file) => /\.(ts|mjs|cjs|sql|sh|md|ya?ml|html)$/.test(file) && file !== 'tests/tidy.test.ts',
    );
    const found = texts.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, index) => (outside.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });
});

describe('closed unions', () => {
  test.each([
    ['packages/domain/src/records/outcome.ts', 'DropReason', "'"],
    ['packages/domain/src/records/outcome.ts', 'DeadReason', "\\breasons?\\b.*'"],
    // Most outcomes are common words. Therefore the line must also contain the word "outcome".
    ['packages/domain/src/records/outcome.ts', 'Outcome', "\\boutcomes?\\b.*'"],
    ['packages/domain/src/errors.ts', 'DependencyErrorCode', ''],
  ])('a test names each member of %s %s', (file, name, before) => {
    const union = read(file).match(new RegExp(`type ${name} =([^;]+);`))?.[1] ?? '';
    const members = [...union.matchAll(/'([a-z_]+)'/g)].map((match) => match[1] ?? '');
    expect(members.length).toBeGreaterThan(2);
    const all = tests.map(read).join('\n');
    const mentioned = (member: string) => new RegExp(`${before}\\b${member}\\b`).test(all);
    expect(members.filter((member) => !mentioned(member))).toEqual([]);
  });
});

/**
 * Returns whether the linked file exists. For a link to a section of a Markdown file, it must also have the heading. Anchors are made from headings
 * as on GitHub: `## API keys` has the anchor `api-keys`.
 */
function linkExists(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? from : join(dirname(from), path);
  if (!existsSync(file) || anchor === undefined || !file.endsWith('.md')) return existsSync(file);
  const anchors = [...read(file).matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return anchors.includes(anchor);
}

describe('documents', () => {
  test('each setting is in docs/operations.md', () => {
    const config = sources
      .filter((file) => /^packages\/runtime\/src\/config\/[^/]*\.ts$/.test(file))
      .map(read)
      .join('\n');
    // The pattern finds calls such as `text('NAME')`, and `readPem(env, 'NAME')` for settings of the engines.
    const names = [...config.matchAll(/\b\w+\(\s*(?:env,\s*)?'([A-Z][A-Z0-9_]{3,})'/g)].map((match) => match[1] ?? '');
    const known = ['WEIR_DATA_DIR', 'RATE_LIMIT_EVENTS', 'TRUSTED_PROXIES', 'KAFKA_SASL_PASSWORD', 'KAFKA_TLS_CA_FILE'];
    const more = [
      'REDIS_TLS_CA_FILE',
      'CLICKHOUSE_URL',
      'CLICKHOUSE_READER_URL',
      'CLICKHOUSE_DATABASE',
      'CLICKHOUSE_CLUSTER',
    ];
    expect(names).toEqual(expect.arrayContaining([...known, ...more]));
    // This pattern also finds settings that are read in another way than the pattern above expects.
    const quoted = [...config.matchAll(/'((?:WEIR|KAFKA|REDIS|CLICKHOUSE)_[A-Z0-9_]+)'/g)].map(
      (match) => match[1] ?? '',
    );
    expect(quoted.filter((name) => !names.includes(name))).toEqual([]);
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
        .map((match) => match[1] ?? '')
        .filter((link) => !/^[a-z]+:/.test(link) && !linkExists(file, link))
        .map((link) => `${file}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  test('each page that code names exists', () => {
    const pages = new Set(documents.map((file) => basename(file)));
    const named = tracked
      .filter((file) => /\.(ts|mjs|cjs|sql|ya?ml)$/.test(file))
      // The first alternative of the pattern matches whole URLs. Pages of other web sites are therefore ignored.
      .flatMap((file) => [...read(file).matchAll(/https?:\S+|([\w-]+\.md)\b/g)].map(([, page]) => ({ file, page })))
      .filter((one): one is { file: string; page: string } => one.page !== undefined);
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ page }) => !pages.has(page)).map(({ file, page }) => `${file}: ${page}`)).toEqual([]);
  });

  test('each section of docs/api.md and docs/tables.md that code names exists', () => {
    const headings = (page: string): string[] => [...read(page).matchAll(/^#+ (.*)$/gm)].map((match) => match[1] ?? '');
    const named = tracked
      .filter((file) => /\.(ts|mjs|sql|json)$/.test(file) && file !== 'tests/tidy.test.ts')
      .flatMap((file) =>
        [...read(file).matchAll(/(docs\/(?:api|tables)\.md), `?(?!and )([^\n]+)/g)].map((match) => ({ file, match })),
      );
    expect(named.length).toBeGreaterThan(20);
    const columns = [...read('docs/tables.md').matchAll(/`(\w+)`/g)].map((match) => match[1] ?? '');
    const known = (page = '', text = ''): boolean =>
      [...headings(page), ...columns].some((heading) => heading !== '' && text.startsWith(heading));
    expect(
      named
        .filter(({ match }) => !known(match[1], match[2]))
        .map(({ file, match }) => `${file}: ${match[0].slice(0, 60)}`),
    ).toEqual([]);
  });

  test('README has at most 120 lines, a decision record at most 60', () => {
    const long = documents.filter(
      (file) =>
        (file === 'README.md' && linesOf(file) > 120) || (/^docs\/decisions\//.test(file) && linesOf(file) > 60),
    );
    expect(long).toEqual([]);
  });
});
