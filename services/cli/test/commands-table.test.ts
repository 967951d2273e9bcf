import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { createContext } from '@weir/cli/command-context';
import { createProgram } from '@weir/cli/run-cli';
import type { Command } from 'commander';

const page = readFileSync(join(__dirname, '../../../docs/api.md'), 'utf8');

test('the table of commands in docs/api.md has every command, with its description in --help', () => {
  const io = {
    env: {},
    stdin: Readable.from([]),
    stdout: new Writable(),
    stderr: new Writable(),
    clock: Date.now,
    interruption: () => new AbortController().signal,
  };
  const rows = [...page.matchAll(/^\| (`weir [^|]*) \| ([^|]*) \| \[[^|]*\]\([^|]*\) \|$/gm)];
  expect(rows.map(([, command, does]) => `${command}: ${does}`)).toEqual(
    commandsOf(createProgram(createContext(io, () => undefined)), ''),
  );
});

/** The commands below a command, with their arguments and descriptions. A command with subcommands is only a group. */
function commandsOf(command: Command, parent: string): readonly string[] {
  const name = `${parent}${command.name()}`;
  if (command.commands.length > 0) return command.commands.flatMap((one) => commandsOf(one, `${name} `));
  const shown = command.registeredArguments.map((argument) => {
    const text = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${text}>` : `[${text}]`;
  });
  return [`\`${[name, ...shown].join(' ')}\`: ${command.description()}`];
}
