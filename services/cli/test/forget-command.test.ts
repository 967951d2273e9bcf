import { join } from 'node:path';
import { Readable } from 'node:stream';
import { entryOf, erasureHash } from '@weir/domain/erasure/tombstone';
import { cli, terminal } from './cli-harness.ts';
import { useControl } from './use-control.ts';

const { weir, env, file } = useControl();

test.each([
  ['lf', 'ada\nbob\n'],
  ['crlf', 'ada\r\n\r\nbob'],
  ['white-space', 'ada\n \t\nbob\n  '],
  ['byte-order-mark', '\uFEFFada\r\nbob\r\n'],
])('a file of IDs (%s): every ID of the file is erased', async (site, text) => {
  await cli(['site', 'add', 'example.com', '--id', site], { env });
  const path = file(`${site}.txt`, text);
  const run = await cli(['forget', '--site', site, '--user-file', path, '--visitor-file', path, '--json'], { env });
  expect([run.exitCode, run.json]).toMatchObject([0, { phase: 'done', users: 2, visitors: 2 }]);
  const [{ salt, entries } = { salt: '', entries: [] }] = weir.registry.tombstones(site);
  for (const id of ['ada', 'bob']) {
    expect(entries).toContain(entryOf('u', erasureHash(salt, site, 'u', id)));
    expect(entries).toContain(entryOf('v', erasureHash(salt, site, 'v', id)));
  }
});

test('a file that cannot be read, that is not UTF-8, or that has an ID with white space around it is refused, and nothing is erased', async () => {
  await cli(['site', 'add', 'example.com', '--id', 'refused'], { env });
  const forget = (path: string) => cli(['forget', '--site', 'refused', '--user-file', path], { env });
  const missing = join(weir.folder, 'missing.txt');
  expect(await forget(missing)).toMatchObject({ exitCode: 2, err: `weir: cannot read ${missing}: ENOENT\n` });
  const utf16 = file('utf16.txt', Buffer.from('\uFEFFada\r\n', 'utf16le'));
  expect(await forget(utf16)).toMatchObject({
    exitCode: 2,
    err: `weir: ${utf16} is not UTF-8 text: save it as UTF-8\n`,
  });
  // The user is probably `bob`. Erasing `bob ` would succeed and erase nothing.
  const padded = file('padded.txt', 'ada\nbob \n');
  expect(await forget(padded)).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining(
      `weir: line 2 of ${padded} begins or ends with white space: remove the white space, or`,
    ),
  });
  expect(weir.registry.tombstones('refused')).toEqual([]);
});

test.each([
  ['asked-to-remove', ['site', 'remove', 'asked-to-remove']],
  ['asked-to-forget', ['forget', '--all', '--site', 'asked-to-forget']],
  ['asked-to-keep', ['site', 'set', 'asked-to-keep', '--keep-events', '30d']],
])('in a terminal, a command that removes data of %s asks for the ID of the site first', async (site, args) => {
  await cli(['site', 'add', 'example.com', '--id', site], { env });
  const before = await cli(['site', 'show', site], { env });
  for (const answer of ['yes\n', '']) {
    const run = await cli(args, { env, stdin: terminal(answer) });
    expect(run).toMatchObject({ exitCode: 1, out: '' });
    expect(run.err).toContain(`This cannot be undone.\nType ${site} to continue: weir: nothing was changed`);
  }
  expect(await cli(['site', 'show', site], { env })).toMatchObject({ exitCode: 0, out: before.out });
  expect(weir.registry.tombstones(site)).toEqual([]);
  const confirmed = await cli(args, { env, stdin: terminal(`${site}\n`) });
  expect(confirmed).toMatchObject({ exitCode: 0, err: expect.stringContaining('This cannot be undone.') });
});

test.each([
  ['with --yes', ['--yes'], terminal('')],
  ['in a script', [], Readable.from([])],
])('%s, weir site remove does not ask', async (_, options, stdin) => {
  const { json } = await cli(['site', 'add', 'example.com', '--json'], { env });
  const run = await cli(['site', 'remove', json.site_id, ...options], { env, stdin });
  expect(run).toMatchObject({ exitCode: 0, err: '' });
});
