import type { Answer } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';

/** The copies that an erasure leaves, and until when. */
export function RemainsTable({ remains }: Pick<Answer<'createErasure'>, 'remains'>) {
  const { t, time } = useTexts();
  return (
    <table className="table" data-testid="remains">
      <thead>
        <tr>
          <th scope="col">{t('forget.where')}</th>
          <th scope="col">{t('forget.until')}</th>
        </tr>
      </thead>
      <tbody>
        {remains.map(({ kind, until }) => (
          <tr key={kind}>
            <th scope="row">{t(`remains.${kind}`)}</th>
            <td>{until === null ? t(`remains.${kind}.until`) : time(until, undefined, 'full')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
