import type { ReactNode } from 'react';

/** The name of a fact, its value, and the heading of its row if it is not just the name. */
export type Fact = readonly [name: string, value: ReactNode, heading?: ReactNode];

interface Props {
  readonly facts: readonly Fact[];
  /** `number`: the values are aligned right. `long`: long values are cut. */
  readonly kind: 'number' | 'long';
}

/** A table of names and values. */
export function FactsTable({ facts, kind }: Props) {
  return (
    <table className="table facts">
      <tbody>
        {facts.map(([name, value, heading = name]) => (
          <tr key={name}>
            <th scope="row">{heading}</th>
            <td className={kind}>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
