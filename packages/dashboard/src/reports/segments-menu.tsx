import { useState } from 'react';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useSession } from '../app/session.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
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
  const list = segments.data ?? [];
  const texts = state.filters.map(formatFilter);
  const current = list.find((one) => one.filters.join('\n') === texts.join('\n'));
  if (list.length === 0 && (state.filters.length === 0 || !isAdmin)) return null;
  return (
    <>
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
        {isAdmin && list.length > 0 && state.filters.length > 0 && <MenuSeparator />}
        {isAdmin && state.filters.length > 0 && current === undefined && (
          <MenuItem onSelect={() => setSaving(true)}>{t('segments.save')}</MenuItem>
        )}
        {isAdmin && current && (
          <MenuItem onSelect={() => remove.mutate({ path: { ...path, segment_id: current.segment_id } })}>
            {t('removeName', { name: current.name })}
          </MenuItem>
        )}
      </Menu>
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
    </>
  );
}
