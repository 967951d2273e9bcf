import { useState } from 'react';
import { late } from '../app/late.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from '../ui/icon.tsx';
import type { ExplainedId } from './explain-dialog.tsx';

const ExplainDialog = late(async () => (await import('./explain-dialog.tsx')).ExplainDialog);

interface Props {
  readonly id: ExplainedId;
  /** The query parameters of the report. */
  readonly query: object;
}

export function ExplainButton({ id, query }: Props) {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={t('explain')}
        title={t('explain')}
        onClick={() => setOpen(true)}
      >
        <Icon name="explain" size={16} />
      </button>
      {isOpen && <ExplainDialog id={id} query={query} onClose={() => setOpen(false)} />}
    </>
  );
}
