import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';

const InstallSteps = lazy(async () => ({ default: (await import('../sites/install-steps.tsx')).InstallSteps }));

/** Shown while a site has never received anything: how to install the snippet, and a check that waits for the first hit. The reports are hidden meanwhile. */
export function FirstHit({ onChange }: { readonly onChange: (isNew: boolean) => void }) {
  const { t } = useTexts();
  const { site_id } = useSite();
  const ever = useAdmin('stats', {
    path: { site_id },
    query: { period: 'all', bots: 'include' },
    refresh: { min: 3_000, max: 10_000 },
  });
  const client = useQueryClient();
  const totals = ever.data?.totals;
  const hasHits = totals !== undefined && totals.pageviews + totals.events > 0;
  useEffect(() => {
    if (hasHits) void client.invalidateQueries();
  }, [hasHits, client]);
  const isNew = totals !== undefined && !hasHits;
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
      <Suspense>
        <InstallSteps siteId={site_id} />
      </Suspense>
    </section>
  );
}
