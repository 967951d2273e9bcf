import { useMemo } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { useLocation } from '../app/location.ts';
import { usePageTitle } from '../app/page-title.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ReportBar } from '../reports/report-bar.tsx';
import { useReportState } from '../reports/report-state.ts';
import { Empty } from '../ui/states.tsx';
import { funnelText, parseFunnel, STEPS_MIN, stepText } from './funnel-address.ts';
import { FunnelForm } from './funnel-form.tsx';
import { FunnelResult } from './funnel-result.tsx';
import { SavedFunnels } from './saved-funnels.tsx';

/** How many visitors went through some steps in their order. The address contains the steps, so a link to the page shows this funnel. */
export function FunnelPage({ isAdmin }: { readonly isAdmin: boolean }) {
  const { t } = useTexts();
  const site = useSite();
  const state = useReportState();
  const { query } = useLocation();
  const text = funnelText(query);
  const asked = useMemo(() => parseFunnel(text), [text]);
  const saved = useAdmin('listFunnels', { path: { site_id: site.site_id } });
  usePageTitle(t('nav.funnels'), site.name);
  const steps = asked.steps.map(stepText).join('\n');
  const same = saved.data?.find((one) => one.steps.join('\n') === steps && one.within === asked.within);
  return (
    <>
      <h1 className="visually-hidden">{t('nav.funnels')}</h1>
      <ReportBar state={state} withCompare={false} />
      <SavedFunnels query={saved} shown={same?.funnel_id} isAdmin={isAdmin} />
      <FunnelForm asked={asked} state={state} />
      {asked.steps.length >= STEPS_MIN ? (
        <FunnelResult
          key={text}
          asked={asked}
          name={same?.name}
          canSave={isAdmin && saved.data !== undefined && !same}
        />
      ) : (
        <Empty title={t('funnel.none')} />
      )}
    </>
  );
}
