import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceEntry } from '@weir/domain/source';
import { domainOf, publicSuffixOf } from '../src/host-domain.ts';
import { loadSourceLists } from '../src/source-lists.ts';

/** Issue 5, Source: "as data files with a test for each entry's shape". */
const { own, webmailLabels } = loadSourceLists();
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

test('every file of the folder is read, in the order of names', () => {
  const folder = join(__dirname, '../lists/sources');
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

test('"search with image, news and regional hosts; social; AI assistants; mail …; shopping; video; Android apps"', () => {
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
