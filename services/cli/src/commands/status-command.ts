import type { Command } from 'commander';
import { type CommandContext, withExamples } from '../command-context.ts';
import { print, table } from '../output.ts';

interface ConsumerView {
  readonly topic: string;
  readonly consumer: string;
  readonly lag: number;
  readonly rate_per_second: number;
  readonly dead_letters: number | null;
  readonly last_error: string | null;
  readonly alarm: string | null;
}

export function addStatusCommand(program: Command, { io, client }: CommandContext): void {
  withExamples(
    program.command('status').description('print the state of the pipeline: lag, rate, last error, dead letters'),
    'weir status',
    "weir status --json | jq '[.[].lag] | add'",
  ).action(async ({ json }: { json?: boolean }) => {
    print(io, json, await client().call<ConsumerView[]>('GET', '/pipeline'), (consumers) =>
      table(
        ['topic', 'consumer', 'lag', 'records/s', 'dead letters', 'last error'],
        consumers.map((row) => [
          row.topic,
          row.consumer,
          row.lag,
          row.rate_per_second,
          row.dead_letters ?? '?',
          row.alarm ?? row.last_error ?? 'none',
        ]),
      ),
    );
  });
}
