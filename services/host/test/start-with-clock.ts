import { loadConfig } from '@weir/runtime/config/config';
import { createLogger } from '@weir/runtime/logger';
import { createWeirClient, type WeirClient } from '@weir/testkit/weir-client';
import type { Role } from '../src/roles.ts';
import { startWeir, type Weir } from '../src/startup/start-weir.ts';

const TOKEN = 'test-admin-token-0123456789';
export const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36';

/** Starts a Weir whose roles all run in this process, with the clock of a test. */
export async function startWithClock(
  clock: () => number,
  env: Readonly<Record<string, string>>,
  roles: readonly Role[] = ['gateway', 'enricher', 'writer', 'control'],
): Promise<{ readonly weir: Weir; readonly client: WeirClient }> {
  let printed = '';
  const weir = startWeir({
    // The pipeline must use the clock of the test, so it cannot run in another thread.
    config: loadConfig({ PORT: '0', WEIR_ADMIN_TOKEN: TOKEN, WEIR_PIPELINE_THREAD: 'off', ...env }),
    roles,
    logger: createLogger('silent'),
    clock,
    print: (text) => {
      printed += text;
    },
  });
  await weir.started;
  return { weir, client: createWeirClient([/http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? ''], TOKEN) };
}
