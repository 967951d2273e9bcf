import type { Answer } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable } from '../ui/data-table.tsx';

/** Where copies of the erased data remain after an erasure, for example in backups, and until when. */
export function RemainsTable({ remains }: Pick<Answer<'createErasure'>, 'remains'>) {
  const { t, time } = useTexts();
  return (
    <DataTable
      label={t('forget.where')}
      testId="remains"
      rows={remains}
      keyOf={({ kind }) => kind}
      columns={[
        { title: t('forget.where'), kind: 'name', cell: ({ kind }) => t(`remains.${kind}`) },
        {
          title: t('forget.until'),
          cell: ({ kind, until }) => (until === null ? t(`remains.${kind}.until`) : time(until, undefined, 'full')),
        },
      ]}
    />
  );
}
