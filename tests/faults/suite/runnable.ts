import { servicesProblem } from '../../distributed/services.ts';
import { addressesOnDisk, type Embedded } from './embedded-subject.ts';
import type { Fault, FaultResult, Subject } from './fault.ts';
import { type RunOptions, runFault } from './run-fault.ts';

/** A fault that is ready to run. */
export interface Runnable {
  readonly name: string;
  readonly about: string;
  /** Why the fault cannot happen on this machine; `undefined` if it can. */
  problem(): string | undefined;
  run(options: RunOptions): Promise<FaultResult>;
}

function runnable<Broken extends Subject>(fault: Fault<Broken>): Runnable {
  const { name, about } = fault;
  return { name, about, problem: () => fault.problem?.(), run: (options) => runFault(fault, options) };
}

/** The result of checking for the services. It is kept, because the check starts a process. */
let checked: { readonly problem: string | undefined } | undefined;

/**
 * Makes a fault of a distributed Weir runnable. It needs a real Kafka, Redis and ClickHouse. If one of them is not installed, the fault cannot
 * happen. With CI=true, a missing service is installed instead.
 */
export function distributed<Broken extends Subject>(fault: Fault<Broken>): Runnable {
  const problem = (): string | undefined => {
    checked ??= { problem: servicesProblem() };
    return checked.problem ?? fault.problem?.();
  };
  return runnable({ ...fault, problem });
}

/** A fault of a Weir on one machine. After the last round, no file of its data folder may contain a client IP. */
export function embedded<Broken extends Embedded>(fault: Fault<Broken>): Runnable {
  const findings = async (broken: Broken): Promise<readonly string[]> => [
    ...addressesOnDisk(broken),
    ...((await fault.findings?.(broken)) ?? []),
  ];
  return runnable({ ...fault, findings });
}
