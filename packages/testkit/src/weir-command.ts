import type { WeirClient } from './weir-client.ts';
import { type EndedRun, runProgram } from './weir-process.ts';

type Target = Pick<WeirClient, 'urls' | 'adminToken'>;

/** The environment variables with which `weir` uses the Weir of a client. */
export function commandEnv({ urls, adminToken }: Target): Readonly<Record<'WEIR_URL' | 'WEIR_ADMIN_TOKEN', string>> {
  return { WEIR_URL: urls[0] ?? '', WEIR_ADMIN_TOKEN: adminToken };
}

/** Runs `weir` with these arguments for the Weir of a client. */
export function runWeir(client: Target, args: readonly string[], input?: string | Buffer): Promise<EndedRun> {
  return runProgram('weir.js', args, commandEnv(client), input);
}

/** Does the same, and rejects if the exit code is not 0. Resolves with the standard output. */
export async function mustRunWeir(client: Target, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runWeir(client, args);
  if (code !== 0) throw new Error(`weir ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}
