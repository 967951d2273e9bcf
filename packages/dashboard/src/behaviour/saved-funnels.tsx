import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { type useAdmin, useChange } from '../api/use-admin.ts';
import { Link } from '../app/link.tsx';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable, RowButton } from '../ui/data-table.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';
import { funnelAddress, parseStep } from './funnel-address.ts';

type SavedFunnel = Answer<'listFunnels'>[number];

interface Props {
  readonly query: ReturnType<typeof useAdmin<'listFunnels'>>;
  /** The ID of the funnel that the page shows. Undefined if this funnel is not saved. */
  readonly shown: string | undefined;
  readonly isAdmin: boolean;
}

/** The saved funnels of the site. A viewer can open them, and an administrator can also remove them. */
export function SavedFunnels({ query, shown, isAdmin }: Props) {
  const { t, span } = useTexts();
  const path = { site_id: useSite().site_id };
  const remove = useChange('removeFunnel', ['listFunnels']);
  const [asked, setAsked] = useState<SavedFunnel>();
  // After a removal, the heading stays also without funnels, because it has the focus.
  if (query.data?.length === 0 && remove.isIdle) return null;
  const removal = (funnel: SavedFunnel) => (
    <RowButton
      isDanger
      text={t('remove')}
      label={t('removeName', { name: funnel.name })}
      onClick={() => setAsked(funnel)}
    />
  );
  const stepsOf = ({ steps }: SavedFunnel) =>
    steps
      .flatMap(parseStep)
      .map(({ type, value }) => `${t(`step.${type}`)} ${value}`)
      .join(' → ');
  return (
    <section className="card section" aria-labelledby="saved-funnels">
      <h2 id="saved-funnels">{t('funnel.saved')}</h2>
      {remove.error && <Problem error={remove.error} />}
      <QueryAnswer query={query} lines={2}>
        {(funnels) => (
          <DataTable
            label={t('funnel.saved')}
            testId="saved-funnels"
            rows={funnels}
            none={<p className="note">{t('noneAtAll')}</p>}
            keyOf={({ funnel_id }) => funnel_id}
            columns={[
              {
                title: t('site.name'),
                kind: 'name',
                fit: 'long',
                cell: ({ funnel_id, name, steps, within }) => (
                  <Link
                    className="link"
                    href={funnelAddress(steps, within)}
                    {...(funnel_id === shown && { 'aria-current': 'true' as const })}
                  >
                    {name}
                  </Link>
                ),
              },
              { title: t('funnel.list'), fit: 'long', cell: stepsOf },
              { title: t('funnel.atMost'), fit: 'whole', cell: ({ within }) => span(within) },
              ...(isAdmin ? [{ cell: removal }] : []),
            ]}
          />
        )}
      </QueryAnswer>
      {asked && (
        <ConfirmDialog
          removes
          title={t('funnel.removeTitle', { name: asked.name })}
          text={t('funnel.removeText')}
          action={t('remove')}
          onConfirm={() => remove.mutate({ path: { ...path, funnel_id: asked.funnel_id } })}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}
