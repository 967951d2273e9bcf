import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { AdminError } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from './icon.tsx';

const SLOW_MS = 1_000;

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

export function Problem({ error, onRetry }: { readonly error: Error; readonly onRetry?: () => void }) {
  const { t } = useTexts();
  const text = useProblemText();
  return (
    <div className="problem" role="alert">
      <Icon name="warning" />
      <span>{text(error)}</span>
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

/** Lines that stand for content. After a second it says that the answer takes long, and offers to cancel the query. */
export function Loading({ lines = 6, queryKey }: { readonly lines?: number; readonly queryKey?: readonly unknown[] }) {
  const { t } = useTexts();
  const client = useQueryClient();
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" aria-busy="true">
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
        <div key={index} className="skeleton" />
      ))}
      {isSlow && (
        <p className="loading-note" role="status">
          {t('slow')}{' '}
          {queryKey && (
            <button type="button" className="link" onClick={() => client.cancelQueries({ queryKey })}>
              {t('cancel')}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

interface AnswerProps<Data> {
  readonly query: {
    readonly data: Data | undefined;
    readonly error: Error | null;
    readonly fetchStatus: string;
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
  if (query.data === undefined && query.fetchStatus === 'idle') {
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
      {children(query.data)}
    </>
  );
}
