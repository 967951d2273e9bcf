import { Readable, Writable } from 'node:stream';
import type { CliIo } from '@weir/cli/cli-io';
import { runCli } from '@weir/cli/run-cli';

export interface CliRun {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
  /** The output of `--json`, parsed. Undefined without `--json`, without output, and after wrong usage (exit code 2). */
  // biome-ignore lint/suspicious/noExplicitAny: the tests read fields of the output
  readonly json: any;
}

/** Runs a command line in this process, as `main` does. */
export async function cli(args: readonly string[], io: Partial<CliIo> & Pick<CliIo, 'env'>): Promise<CliRun> {
  const out = collector();
  const err = collector();
  const exitCode = await runCli(args, {
    stdin: Readable.from([]),
    stdout: out.stream,
    stderr: Object.assign(err.stream, { isTTY: io.stdin?.isTTY === true }),
    clock: Date.now,
    interruption: () => new AbortController().signal,
    ...io,
  });
  return {
    exitCode,
    out: out.text(),
    err: err.text(),
    get json() {
      return args.includes('--json') && exitCode !== 2 ? parse(out.text()) : undefined;
    },
  };
}

/** The standard input of a person at a terminal who types `text` and then Ctrl-D. Standard error is then a terminal too. */
export function terminal(text: string): CliIo['stdin'] {
  return Object.assign(Readable.from([text]), { isTTY: true });
}

function collector(): { readonly stream: Writable; text(): string } {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join('') };
}

function parse(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}
