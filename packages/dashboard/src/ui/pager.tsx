import { useTexts } from '../i18n/text-context.tsx';

/** The highest page number that the admin API accepts. */
export const PAGES_MAX = 100;

interface Props {
  readonly page: number;
  readonly hasMore: boolean;
  readonly onPage: (page: number) => void;
  /** The texts of the buttons. */
  readonly previous?: string;
  readonly next?: string;
}

/** Buttons to the previous and the next page of a list. Nothing is shown if the list has one page. */
export function Pager({ page, hasMore, onPage, previous, next }: Props) {
  const { t } = useTexts();
  if (page === 1 && !hasMore) return null;
  const isLast = !hasMore || page >= PAGES_MAX;
  return (
    <div className="pager">
      {/* Not `disabled`: a button that becomes disabled loses the focus. */}
      <button
        type="button"
        className="button small"
        aria-disabled={page === 1}
        onClick={() => page > 1 && onPage(page - 1)}
      >
        {previous ?? t('pager.previous')}
      </button>
      <span>{t('pager.page', { page })}</span>
      <button type="button" className="button small" aria-disabled={isLast} onClick={() => !isLast && onPage(page + 1)}>
        {next ?? t('pager.next')}
      </button>
    </div>
  );
}
