import { isZone } from '../i18n/known-zone.ts';
import { useTexts } from '../i18n/text-context.tsx';

/** Says that times are shown in UTC, if this browser does not know the time zone of the site. */
export function ZoneNote({ zone }: { readonly zone: string }) {
  const { t } = useTexts();
  if (isZone(zone)) return null;
  return (
    <p className="note" role="status">
      {t('zone.unknown', { zone })}
    </p>
  );
}
