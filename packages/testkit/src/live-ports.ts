import { dockerAnswers, startContainer } from './live-docker.ts';
import { type LiveName, type LiveService, localProblem, startLocal } from './live-local.ts';
import { useOpened } from './use-opened.ts';

export type LiveChoice =
  | { readonly kind: 'given' | 'docker' | 'local'; start(): Promise<LiveService> }
  | { readonly kind: 'none'; readonly reason: string };

const VARIABLES = { kafka: 'KAFKA_BROKERS', redis: 'REDIS_URL', s3: 'S3_ENDPOINT' } as const;

/**
 * Chooses a real service for tests: the address in the environment, otherwise Docker (not for S3), otherwise a local process. If none of them
 * is available, returns the reason.
 */
function chooseLive(name: LiveName): LiveChoice {
  const given = process.env[VARIABLES[name]];
  if (given) return { kind: 'given', start: async () => ({ address: given, close: async () => undefined }) };
  if (name !== 's3' && dockerAnswers()) return { kind: 'docker', start: () => startContainer(name) };
  const problem = localProblem(name);
  if (problem === undefined) return { kind: 'local', start: () => startLocal(name) };
  return { kind: 'none', reason: problem };
}

/**
 * A `describe` that runs on a real service. Without one it is skipped, and its name contains the reason; with CI=true it fails.
 * `address()` can be called from `beforeAll` on.
 */
export function describeLive(name: LiveName, body: (address: () => string) => void): void {
  const choice = chooseLive(name);
  if (choice.kind === 'none') {
    if (process.env.CI === 'true') test(`a real ${name} is needed`, () => Promise.reject(new Error(choice.reason)));
    else describe.skip(`on a real ${name}: ${choice.reason}`, () => body(() => ''));
    return;
  }
  describe(`on a real ${name} (${choice.kind})`, () => {
    const service = useOpened(() => choice.start(), { openMs: 180_000, closeMs: 60_000 });
    body(() => service.address);
  });
}
