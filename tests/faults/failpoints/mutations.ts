import mutations from './mutations.json' with { type: 'json' };

/**
 * A defect that the fault tests must find: it removes one mechanism from a bundle of Weir, for example one of docs/exactly-once.md. No file
 * of the project is changed.
 */
interface Mutation {
  readonly name: string;
  /** What the mutated Weir does wrong, as one phrase for the table. */
  readonly about: string;
  /** The faults of which at least one must fail. */
  readonly foundBy: readonly string[];
  /** `find` occurs exactly once in `file`. */
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
}

export const MUTATIONS: readonly Mutation[] = mutations;
