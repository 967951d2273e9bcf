import { eventually } from '@weir/testkit/eventually';
import { sendHttp } from '@weir/testkit/http-client';
import type { Programs, RunningProgram } from '../build-programs.ts';

export const ADMIN_TOKEN = 'bench-admin-token-0123456789';
/** The bare server ignores the API key. Its requests contain one, as those to the gateway do. */
const ANY_KEY = 'wk_0123456789012345678901234567890123456789012';

export interface Server extends Pick<RunningProgram, 'cpuMicros' | 'stop'> {
  readonly url: string;
  readonly port: number;
  readonly key: string;
}

/** Starts only the gateway role, with an empty data folder and high rate limits. */
export function startGateway(programs: Programs): Promise<Server> {
  return startMain(programs, ['gateway']);
}

/** Starts every role in one process, as `npm start` does. */
export function startWholeWeir(programs: Programs): Promise<Server> {
  return startMain(programs, []);
}

/** Starts every role in one process with the data of a folder, as `npm start` does. The result has no key: Weir prints it only at its first start. */
export async function startWeirIn(programs: Programs, dataDir: string): Promise<Omit<Server, 'key'>> {
  const program = startIn(programs, [], dataDir);
  return asServer(program, await portWhenReady(program), '');
}

async function startMain(programs: Programs, roles: readonly string[]): Promise<Server> {
  const program = startIn(programs, roles, programs.newFolder());
  const [, key = ''] = await program.printed(/Bearer (\S+?)'/);
  return asServer(program, await portWhenReady(program), key);
}

function startIn(programs: Programs, roles: readonly string[], dataDir: string): RunningProgram {
  return programs.start('main', roles, {
    WEIR_DATA_DIR: dataDir,
    WEIR_ADMIN_TOKEN: ADMIN_TOKEN,
    PORT: '0',
    RATE_LIMIT_COLLECT: '1000000000',
    RATE_LIMIT_EVENTS: '1000000000',
  });
}

/** The port of a Weir on 127.0.0.1. Resolves when Weir is ready. */
export async function portWhenReady(program: RunningProgram): Promise<number> {
  const [, url = '', port] = await program.printed(/listens: (http:\/\/127\.0\.0\.1:(\d+))/);
  await eventually('Weir to be ready', async () => (await sendHttp(url, { path: '/readyz' })).status === 200);
  return Number(port);
}

/** `fewestSteps`: the server does only the work that the guarantees of the gateway need (bare-server.ts). */
export async function startBareServer(programs: Programs, { fewestSteps = false } = {}): Promise<Server> {
  const program = programs.start('bare-server', fewestSteps ? [programs.newFolder()] : [], {});
  const [, port] = await program.printed(/listening (\d+)/);
  return asServer(program, Number(port), ANY_KEY);
}

function asServer({ cpuMicros, stop }: RunningProgram, port: number, key: string): Server {
  return { url: `http://127.0.0.1:${port}`, port, key, cpuMicros, stop };
}
