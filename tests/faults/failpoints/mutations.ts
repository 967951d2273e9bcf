import mutations from './mutations.json' with { type: 'json' };

/**
 * A defect that the fault tests must find. It disables one mechanism of Weir, for example one of docs/exactly-once.md. Only a bundle for the
 * tests contains the defect; the source files stay unchanged.
 */
interface Mutation {
  readonly name: string;
  /** What the changed Weir does wrong, as one phrase for the table in docs/faults.md. */
  readonly about: string;
  /** The names of faults. At least one of them must fail on the changed Weir. */
  readonly foundBy: readonly string[];
  /** `find` occurs exactly once in `file`. */
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
}

export const MUTATIONS: readonly Mutation[] = mutations;
