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

/** The check of the services starts a process, so its result is kept. */
let checked: { readonly problem: string | undefined } | undefined;

/**
 * A fault of a distributed Weir, which uses a real Kafka, Redis and ClickHouse. It cannot happen on a machine on which one of these
 * services is not installed, unless CI=true: then missing services are installed first.
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
