import { useTexts } from '../i18n/text-context.tsx';
import { changeReport, type INTERVALS, intervalsOf, type ReportState } from '../reports/report-state.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';

interface Props {
  readonly state: ReportState;
  /** The interval of the shown series. Undefined if there is none. */
  readonly shown: (typeof INTERVALS)[number] | undefined;
}

/** Chooses the interval of the series among those that fit the period. */
export function IntervalMenu({ state, shown }: Props) {
  const { t } = useTexts();
  const name = t(shown === undefined ? 'interval.automatic' : `interval.${shown}`);
  return (
    <Menu label={name} name={t('interval.name', { interval: name })} className="small">
      {intervalsOf(state.query).map((one) => (
        <MenuItem key={one} isChecked={one === shown} onSelect={() => changeReport({ interval: one })}>
          {t(`interval.${one}`)}
        </MenuItem>
      ))}
      {state.interval && (
        <MenuItem onSelect={() => changeReport({ interval: undefined })}>{t('interval.automatic')}</MenuItem>
      )}
    </Menu>
  );
}
