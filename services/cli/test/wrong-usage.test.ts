import { Writable } from 'node:stream';
import { cli } from './cli-harness.ts';

/** Nothing listens there, so a call would end with exit code 3. */
const env = { WEIR_URL: 'http://127.0.0.1:1', WEIR_ADMIN_TOKEN: 'x'.repeat(16) };

test.each([
  [['fly'], "error: unknown command 'fly'"],
  [['site', 'fly'], "error: unknown command 'fly'"],
  [['site', 'add'], "error: missing required argument 'domain'"],
  [['sql', 'SELECT', '1'], "error: too many arguments for 'sql'. Expected 1 argument but got 2."],
  [['stats', 'shop', '--perod', '7d'], "error: unknown option '--perod'\n(Did you mean --period?)"],
  [['key', 'list', '--site'], "error: option '-s, --site <site_id>' argument missing"],
])('weir %j names the mistake and the option --help', async (args, said) => {
  expect(await cli(args, { env })).toMatchObject({
    exitCode: 2,
    out: '',
    err: `${said}\nThe option --help shows the arguments, the options and examples.\n`,
  });
});

test.each([[['help', 'fly']], [['site', 'help', 'fly']]])(
  'weir %j names the mistake and lists the commands',
  async (args) => {
    const listed = await cli([...args.slice(0, -2), '--help'], { env });
    expect(await cli(args, { env })).toMatchObject({
      exitCode: 2,
      out: '',
      err: `error: unknown command 'fly'\n\n${listed.out}`,
    });
  },
);

test.each([
  [['site', 'show', '']],
  [['key', 'list', '--site', '']],
  [['goal', 'remove', 'goal_x', '--site', '']],
  [['forget', '--site', '', '--all', '--yes']],
  [['stats', '']],
  [['import', __filename, '--site', '']],
  [['goal', 'remove', '', '--site', 'shop']],
  [['forget', '--receipt', '']],
  [['dead-letters', 'show', '']],
  [['topics', 'tail', '']],
])('weir %j says that an ID is empty, and calls nothing', async (args) => {
  expect(await cli(args, { env })).toMatchObject({
    exitCode: 2,
    err: 'weir: an ID in the command is empty: check the variable that it comes from\n',
  });
});

test('a new site needs a domain', async () => {
  expect(await cli(['site', 'add', ''], { env })).toMatchObject({
    exitCode: 2,
    err: 'weir: the domain is empty: check the variable that it comes from\n',
  });
});

test('an export needs a name for its file, and is not shown on a terminal if it is binary', async () => {
  const exportTo = (...args: readonly string[]) => ['export', 'events', '--site', 'shop', ...args];
  const stdout = Object.assign(new Writable(), { isTTY: true });
  expect(await cli(exportTo('--format', 'parquet'), { env, stdout })).toMatchObject({
    exitCode: 2,
    err: 'weir: a terminal cannot show parquet: name a file with --to <file>, or choose another --format\n',
  });
  expect(await cli(exportTo('--to', ''), { env })).toMatchObject({
    exitCode: 2,
    err: 'weir: --to must be a file or s3://bucket/name, not ""\n',
  });
});

test('a token that cannot be sent, for example the one of an example, is a wrong setting', async () => {
  expect(await cli(['site', 'list'], { env: { ...env, WEIR_ADMIN_TOKEN: 'wat_…' } })).toMatchObject({
    exitCode: 2,
    err: 'weir: the text in WEIR_ADMIN_TOKEN is no admin token, because a token has only visible ASCII characters: set WEIR_ADMIN_TOKEN to the token of this Weir\n',
  });
});

test('an address with a password is a wrong setting, and the message does not contain the password', async () => {
  const WEIR_URL = 'https://ada:s3cret@weir.example';
  expect(await cli(['site', 'list'], { env: { ...env, WEIR_URL } })).toMatchObject({
    exitCode: 2,
    err: 'weir: WEIR_URL must not contain a user name or a password: https://…@weir.example\n',
  });
});
