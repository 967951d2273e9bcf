import { useTexts } from '../i18n/text-context.tsx';

interface Props {
  readonly value: string;
  /** Zones that are listed before the others. */
  readonly first?: readonly string[];
  readonly onChange: (zone: string) => void;
}

/** Chooses an IANA time zone, with its label. */
export function ZoneSelect({ value, first = [], onChange }: Props) {
  const { t } = useTexts();
  return (
    <label>
      {t('site.timezone')}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {[...new Set([...first, value, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => (
          <option key={zone}>{zone}</option>
        ))}
      </select>
    </label>
  );
}
