import { type ComponentProps, useDeferredValue, useId, useState } from 'react';
import type { ReportState } from '../reports/report-state.ts';
import { ValueOptions } from './value-options.tsx';

interface Props extends Omit<ComponentProps<'input'>, 'list' | 'onChange' | 'type' | 'value'> {
  /** What the input names: an event, or a glob of pages. */
  readonly kind: 'event' | 'page';
  readonly value: string;
  readonly state: ReportState;
  readonly onType: (value: string) => void;
}

/** An input for an event or a page. When it has the focus, it offers those of the period. */
export function ActionInput({ kind, value, state, onType, ...others }: Props) {
  const list = useId();
  const [isUsed, setUsed] = useState(false);
  const word = useDeferredValue(value.trim());
  return (
    <>
      <input
        {...others}
        list={list}
        autoComplete="off"
        placeholder={kind === 'event' ? 'signup' : '/checkout/*'}
        value={value}
        onFocus={() => setUsed(true)}
        onChange={(event) => onType(event.target.value)}
      />
      <ValueOptions key={kind} id={list} dimension={kind} state={state} word={word} enabled={isUsed} />
    </>
  );
}
