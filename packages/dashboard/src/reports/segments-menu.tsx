import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useSession } from '../app/session.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { NameDialog } from '../ui/name-dialog.tsx';
import { Problem } from '../ui/states.tsx';
import { formatFilter, parseFilter } from './filter-text.ts';
import { type ReportState, setFilters } from './report-state.ts';

/** Saved filters of the site. A viewer can use them, and an administrator can also save and remove them. */
export function SegmentsMenu({ state }: { readonly state: ReportState }) {
  const { t } = useTexts();
  const path = { site_id: useSite().site_id };
  const segments = useAdmin('listSegments', { path });
  const remove = useChange('removeSegment', ['listSegments']);
  const isAdmin = useSession().data?.role === 'admin';
  const [isSaving, setSaving] = useState(false);
  const [asked, setAsked] = useState<Answer<'listSegments'>[number]>();
  const list = segments.data ?? [];
  const texts = state.filters.map(formatFilter);
  const current = list.find((one) => one.filters.join('\n') === texts.join('\n'));
  const canSave = isAdmin && segments.data !== undefined && texts.length > 0 && current === undefined;
  return (
    <>
      {(list.length > 0 || canSave) && (
        <Menu label={t('segments.title')}>
          {list.map((one) => (
            <MenuItem
              key={one.segment_id}
              isChecked={one === current}
              onSelect={() => setFilters(one.filters.flatMap((text) => parseFilter(text) ?? []))}
            >
              {one.name}
            </MenuItem>
          ))}
          {isAdmin && list.length > 0 && texts.length > 0 && <MenuSeparator />}
          {canSave && <MenuItem onSelect={() => setSaving(true)}>{t('segments.save')}</MenuItem>}
          {isAdmin && current && (
            <MenuItem onSelect={() => setAsked(current)}>{t('removeName', { name: current.name })}</MenuItem>
          )}
        </Menu>
      )}
      {segments.error && (
        <Problem error={segments.error} onRetry={() => void segments.refetch()}>
          {t('segments.failed')}
        </Problem>
      )}
      {remove.error && <Problem error={remove.error} />}
      {isSaving && (
        <NameDialog
          title={t('segments.save')}
          label={t('segments.name')}
          operation="createSegment"
          invalidates={['listSegments']}
          input={(name) => ({ path, body: { name, filters: texts } })}
          onClose={() => setSaving(false)}
        />
      )}
      {asked && (
        <ConfirmDialog
          title={t('segments.removeTitle', { name: asked.name })}
          text={t('segments.removeText')}
          action={t('remove')}
          onConfirm={() => remove.mutate({ path: { ...path, segment_id: asked.segment_id } })}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
