import { createWeirClient, type WeirClient } from '@weir/testkit/weir-client';
import { startWeir, TEST_ADMIN_TOKEN, type WeirProcess } from '@weir/testkit/weir-process';
import { type Front, startFront } from './front.ts';
import { type Engines, type Services, servicesProblem, startServices } from './services.ts';

type RoleName = 'gateway' | 'enricher' | 'writer' | 'control' | 'archiver';

/** A distributed Weir: several processes on real services, each with one role. An archiver runs only if a test starts one. */
export interface Deployment<Used extends Engines = Services> {
  readonly services: Used;
  readonly gateways: readonly WeirProcess[];
  readonly enrichers: readonly WeirProcess[];
  readonly writers: readonly WeirProcess[];
  readonly control: WeirProcess;
  /** One URL for each gateway. Each URL also serves the admin API of control. */
  readonly urls: readonly string[];
  /** The first of `urls`. */
  readonly url: string;
  /** Sends events to the gateways in turn, and requests to the admin API to control. */
  readonly client: WeirClient;
  /** Starts one more process. The caller must stop it. */
  start(role: RoleName, env?: Readonly<Record<string, string>>): Promise<WeirProcess>;
  close(): Promise<void>;
}

const PER_ROLE = 2;

/** Starts all processes of a distributed Weir on these services. `close` also stops the services, and so does a failed start. */
export async function startDeployment<Used extends Engines>(
  services: Used,
  env: Readonly<Record<string, string>> = {},
): Promise<Deployment<Used>> {
  const all: WeirProcess[] = [];
  const start = (role: RoleName, more: Readonly<Record<string, string>> = {}): Promise<WeirProcess> =>
    startWeir({ roles: [role], env: { ...services.env, ...env, ...more } });
  const startAll = async (roles: readonly RoleName[]): Promise<WeirProcess[]> => {
    const started = await Promise.allSettled(roles.map((role) => start(role)));
    const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    all.push(...running);
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    return running;
  };
  const fronts: Front[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(fronts.map((front) => front.close()));
    const failures = (await Promise.allSettled(all.map((weir) => weir.stop()))).flatMap((one) =>
      one.status === 'rejected' ? [one.reason as Error] : [],
    );
    await services.close();
    if (failures.length > 0) throw failures[0];
  };
  try {
    // All processes start at the same time, when the topics and tables do not exist yet.
    const roles = (['gateway', 'enricher', 'writer'] as const).flatMap((role) => Array<RoleName>(PER_ROLE).fill(role));
    const [control, ...others] = (await startAll(['control', ...roles])) as [WeirProcess, ...WeirProcess[]];
    const gateways = others.slice(0, PER_ROLE);
    for (const gateway of gateways) fronts.push(await startFront(control.url, gateway.url));
    const urls = fronts.map(({ url }) => url);
    return {
      services,
      gateways,
      enrichers: others.slice(PER_ROLE, 2 * PER_ROLE),
      writers: others.slice(2 * PER_ROLE),
      control,
      urls,
      url: urls[0] ?? '',
      client: createWeirClient(urls, TEST_ADMIN_TOKEN),
      start,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * A `describe` with a deployment. If the services cannot be installed, it is skipped and the title contains the reason. With
 * CI=true, the services are installed, and a failure to install them fails the tests.
 */
export function describeDistributed(
  name: string,
  env: Readonly<Record<string, string>>,
  body: (weir: () => Deployment) => void,
): void {
  const problem = servicesProblem();
  if (problem !== undefined) {
    describe.skip(`${name}: ${problem}`, () => body(() => ({}) as Deployment));
    return;
  }
  describe(name, () => {
    let deployment: Deployment | undefined;
    beforeAll(async () => {
      deployment = await startDeployment(await startServices(), env);
    }, 600_000);
    afterAll(() => deployment?.close(), 120_000);
    body(() => {
      if (deployment === undefined) throw new Error('the deployment did not start');
      return deployment;
    });
  });
}
