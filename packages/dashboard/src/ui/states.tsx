import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { AdminError } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from './icon.tsx';

const SLOW_MS = 1_000;
const STUCK_MS = 30_000;

/** The text of an error: what is wrong and what to do. */
export function useProblemText(): (error: Error) => string {
  const { t } = useTexts();
  return (error) => {
    if (!(error instanceof AdminError)) return error.message;
    if (error.status === 0) return t('problem.offline');
    if (error.message === 'foreign') return t('problem.foreign', { status: String(error.status) });
    return error.message;
  };
}

interface ProblemProps {
  readonly error: Error;
  readonly onRetry?: () => void;
  /** A further sentence. */
  readonly children?: ReactNode;
}

export function Problem({ error, onRetry, children }: ProblemProps) {
  const { t } = useTexts();
  const text = useProblemText();
  return (
    <div className="problem" role="alert">
      <Icon name="warning" />
      <span>
        {text(error)} {children}
      </span>
      {onRetry && (
        <button type="button" className="button small" onClick={onRetry}>
          {t('retry')}
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

interface SlowProps {
  readonly queryKey?: readonly unknown[] | undefined;
  /** Cancels a call that is not a query. */
  readonly onCancel?: (() => void) | undefined;
}

/**
 * After a second, the note says that the answer takes long. After 30 seconds, it says what to do. With `queryKey` or `onCancel`, it offers to
 * cancel.
 */
function SlowNote({ queryKey, onCancel }: SlowProps) {
  const { t } = useTexts();
  const client = useQueryClient();
  const [note, setNote] = useState<'slow' | 'slow.stuck'>();
  useEffect(() => {
    const timers = [setTimeout(() => setNote('slow'), SLOW_MS), setTimeout(() => setNote('slow.stuck'), STUCK_MS)];
    return () => timers.forEach(clearTimeout);
  }, []);
  if (note === undefined) return null;
  return (
    <p className="loading-note" role="status">
      {t(note)}{' '}
      {(queryKey ?? onCancel) && (
        <button
          type="button"
          className="link"
          onClick={onCancel ?? (() => client.cancelQueries({ queryKey: queryKey ?? [] }))}
        >
          {t('cancel')}
        </button>
      )}
    </p>
  );
}

/** Lines that stand for content. */
export function Loading({ lines = 6, ...slow }: SlowProps & { readonly lines?: number }) {
  return (
    <div className="loading" aria-busy="true">
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
        <div key={index} className="skeleton" />
      ))}
      <SlowNote {...slow} />
    </div>
  );
}

interface AnswerProps<Data> {
  readonly query: {
    readonly data: Data | undefined;
    readonly error: Error | null;
    readonly fetchStatus: string;
    /** True while the data is the answer to the previous parameters. */
    readonly isPlaceholderData?: boolean;
    refetch(): unknown;
  };
  readonly queryKey?: readonly unknown[];
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
}

/** Shows the answer of a query, or why there is none. An answer stays visible if a later request fails. */
export function QueryAnswer<Data>({ query, queryKey, lines, children }: AnswerProps<Data>) {
  const { t } = useTexts();
  const retry = () => void query.refetch();
  if (query.data === undefined && query.error !== null) return <Problem error={query.error} onRetry={retry} />;
  if ((query.data === undefined || query.isPlaceholderData) && query.fetchStatus === 'idle') {
    return (
      <Empty title={t('cancelled')}>
        <button type="button" className="button small" onClick={retry}>
          {t('retry')}
        </button>
      </Empty>
    );
  }
  if (query.data === undefined) return <Loading {...(lines && { lines })} {...(queryKey && { queryKey })} />;
  return (
    <>
      {query.error !== null && <Problem error={query.error} onRetry={retry} />}
      {query.isPlaceholderData && <SlowNote queryKey={queryKey} />}
      {children(query.data)}
    </>
  );
}
