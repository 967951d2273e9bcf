import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPaidTags } from '@weir/domain/acquisition/paid-tag';
import type { SourceEntry } from '@weir/domain/acquisition/source';
import { domainOf, publicSuffixOf } from '../../src/acquisition/host-domain.ts';
import { loadSourceLists } from '../../src/acquisition/source-lists.ts';

/** The data files, whose entries these tests check. */
const { own, webmailLabels, paidTags } = loadSourceLists();
const entries = Object.entries(own).flatMap(([kind, list]) => list.map((entry) => ({ kind, entry })));
const FIELDS = ['name', 'generic', 'domains', 'hosts', 'paths', 'apps', 'tags'];
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:[a-z][a-z0-9-]*[a-z0-9]|\*)$/;
const APP = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+$/;

function wrongIn(entry: SourceEntry): readonly string[] {
  const { name, generic, domains = [], hosts = [], paths = [], apps = [], tags = [] } = entry;
  const wrong: string[] = Object.keys(entry).filter((field) => !FIELDS.includes(field));
  if (name.trim() !== name || name === '') wrong.push('name');
  if (generic !== undefined && generic !== true) wrong.push('generic');
  const all = [domains, hosts, paths, apps, tags];
  if (all.every((list) => list.length === 0)) wrong.push('nothing leads to it');
  for (const list of all) if (new Set(list).size !== list.length) wrong.push(`twice in ${list}`);
  wrong.push(...[...domains, ...hosts].filter((host) => !HOST.test(host) || host.startsWith('www.')));
  wrong.push(...domains.filter((domain) => !domain.endsWith('.*') && domainOf(domain) === publicSuffixOf(domain)));
  wrong.push(...[...domains, ...hosts].filter((host) => !host.endsWith('.*') && publicSuffixOf(host) === undefined));
  wrong.push(...paths.filter((path) => !HOST.test(path.replace(/\/.*/s, '')) || !/\/[a-z]/.test(path)));
  wrong.push(...apps.filter((app) => !APP.test(app)));
  wrong.push(...tags.filter((tag) => tag.trim().toLowerCase() !== tag || tag === '' || tag === name.toLowerCase()));
  return wrong;
}

test.each(entries.map(({ kind, entry }) => [`${kind}: ${entry.name}`, entry] as const))('%s', (_, entry) => {
  expect(wrongIn(entry)).toEqual([]);
});

test.each([
  ['names', ({ name }: SourceEntry) => [name.toLowerCase()]],
  ['hosts', ({ domains = [], hosts = [] }: SourceEntry) => [...domains, ...hosts]],
  ['paths', ({ paths = [] }: SourceEntry) => paths],
  ['apps', ({ apps = [] }: SourceEntry) => apps],
  ['tags', ({ name, generic, tags = [] }: SourceEntry) => [...(generic ? [] : [name.toLowerCase()]), ...tags]],
])('no two entries claim the same %s', (_, of) => {
  const claimed = entries.flatMap(({ entry }) => of(entry));
  expect(claimed.filter((value, i) => claimed.indexOf(value) !== i)).toEqual([]);
});

test('all files of the folder are read, sorted by name', () => {
  const folder = join(__dirname, '../../lists/sources');
  const files = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as SourceEntry[],
  );
  expect(files.flat().length).toBe(entries.length);
  for (const list of files) {
    const names = list.map(({ name }) => name);
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b, 'en')));
  }
});

test.each(webmailLabels)('webmail label %s', (label) => {
  expect(label).toMatch(/^[a-z]+$/);
});

test('the lists have search, social, AI, mail, shopping and video sites, and Android apps', () => {
  const counts = Object.fromEntries(Object.entries(own).map(([kind, list]) => [kind, list.length >= 50]));
  expect(counts).toEqual({
    search: true,
    social: true,
    video: true,
    shopping: true,
    email: true,
    ai: true,
    other: true,
  });
  expect(entries.flatMap(({ entry }) => entry.apps ?? []).length).toBeGreaterThan(100);
});

describe('tags of paid traffic', () => {
  const known = new Set(entries.map(({ entry }) => entry.name));
  const ofPaidTag = createPaidTags(paidTags, (name) => name);

  test.each(paidTags.sources)('$source', ({ source, names = [], tags = [], medium }) => {
    for (const text of [...names, ...tags]) expect(text).toBe(text.trim().toLowerCase());
    expect([...names, ...tags].length).toBeGreaterThan(0);
    expect(['cpc', 'display']).toContain(medium ?? 'cpc');
    // A source that is not in Weir's own lists is an advertising network. Links also name it alone, not only together with a word such as `ads`.
    // `names` are found only together with such a word, so the entry needs at least one of `tags`, which are found alone.
    if (!known.has(source)) expect(tags.length).toBeGreaterThan(0);
    for (const tag of tags) expect(ofPaidTag(tag)?.source).toBe(source);
  });

  test('sources share no names and no hosts, and the name of a source is not a paid tag', () => {
    const wrong = entries.flatMap(({ entry }) => {
      const { name, domains = [], hosts = [], tags = [] } = entry;
      const organic = [name, ...domains, ...hosts].filter((text) => ofPaidTag(text) !== undefined);
      const other = tags.filter((tag) => (ofPaidTag(tag)?.source ?? name) !== name);
      return [...organic, ...other];
    });
    expect(wrong).toEqual([]);
  });
});
