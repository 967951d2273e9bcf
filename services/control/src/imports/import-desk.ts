import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { SteadyTables } from '../steady-tables.ts';
import type { RestoredRows } from './append-result.ts';
import { createImportLeases, type ImportLeases } from './import-lease.ts';
import type { ImportTerm } from './import-term.ts';
import { createRestoredRows } from './restored-rows.ts';

export interface ImportDeskDeps {
  readonly eventLog: EventLog;
  readonly registry: Registry;
  readonly tables: SteadyTables;
  readonly clock: () => number;
  /** See `AdminDeps` in control-deps.ts. */
  readonly insertsEnd: () => Promise<void>;
  /** Resolves with undefined if another process accepts imports. */
  readonly importTerm: (signal: AbortSignal) => Promise<ImportTerm | undefined>;
  /** Aborts when this process begins to shut down. */
  readonly closing: AbortSignal;
}

/**
 * The objects that imports need during one term. A term is a time in which this process accepts imports (import-term.ts). At the end of the term,
 * this process forgets the leases and what it knows about restored rows, because another process can then append rows.
 */
export interface ImportDesk {
  readonly importLeases: ImportLeases;
  readonly restoredRows: RestoredRows;
  /**
   * The log and the registry. Before `append` and `putImport` (which changes the ledger of imports) write, they check that the term has not ended. If
   * the term has ended, they reject with `partition_lost` and write nothing.
   */
  readonly eventLog: EventLog;
  readonly registry: Registry;
  readonly run: ImportTerm['run'];
}

/** Returns a function that resolves with the `ImportDesk` of the present term, or with undefined if another process accepts imports. */
export function createImportDesks(deps: ImportDeskDeps): () => Promise<ImportDesk | undefined> {
  const desks = new WeakMap<ImportTerm, ImportDesk>();
  return async () => {
    const term = await deps.importTerm(deps.closing);
    if (term === undefined) return undefined;
    const desk = desks.get(term) ?? openDesk(deps, term);
    desks.set(term, desk);
    return desk;
  };
}

function openDesk({ tables, clock, insertsEnd, ...deps }: ImportDeskDeps, { fence, run }: ImportTerm): ImportDesk {
  const eventLog: EventLog = {
    ...deps.eventLog,
    async append(topic, records) {
      await fence();
      return deps.eventLog.append(topic, records);
    },
  };
  const registry: Registry = {
    ...deps.registry,
    async putImport(entry) {
      await fence();
      await deps.registry.putImport(entry);
    },
  };
  return {
    importLeases: createImportLeases(clock),
    restoredRows: createRestoredRows({ eventLog, registry, tables, clock, insertsEnd }),
    eventLog,
    registry,
    run,
  };
}
