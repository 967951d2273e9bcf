import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin } from '../api/use-admin.ts';
import { late } from '../app/late.tsx';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';

const InstallSteps = late(async () => (await import('../sites/install-steps.tsx')).InstallSteps);

export const hasRows = ({ totals }: Answer<'stats'>): boolean => totals.pageviews + totals.events > 0;

/**
 * While a site has received no hit yet, shows how to install the snippet, and waits for the first hit. `onChange`: the page hides its reports while
 * `isNew` is true.
 */
export function FirstHit({ onChange }: { readonly onChange: (isNew: boolean) => void }) {
  const { t } = useTexts();
  const { site_id } = useSite();
  const ever = useAdmin('stats', {
    path: { site_id },
    query: { period: 'all', bots: 'include' },
    refresh: { min: 3_000, max: 10_000 },
    // The report is repeated only until it has rows. Without rows, it is cheap.
    until: hasRows,
  });
  const client = useQueryClient();
  const hasHits = ever.data !== undefined && hasRows(ever.data);
  const isNew = ever.data !== undefined && !hasHits;
  const wasNew = useRef(false);
  useEffect(() => {
    if (hasHits && wasNew.current) void client.invalidateQueries();
    wasNew.current = isNew;
  }, [hasHits, isNew, client]);
  useEffect(() => {
    onChange(isNew);
    return () => onChange(false);
  }, [isNew, onChange]);
  if (!isNew) return null;
  return (
    <section className="card install" aria-label={t('install.title')}>
      <p className="waiting" role="status">
        <i className="pulse" aria-hidden="true" /> {t('install.waiting')}
      </p>
      <InstallSteps siteId={site_id} />
    </section>
  );
}
