import type { ReactNode } from 'react';

interface Props {
  /** The name of the region for screen readers. */
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A region whose content may be wider or higher than its place. */
export function ScrollBox({ label, className = 'table-box', children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section className={className} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
