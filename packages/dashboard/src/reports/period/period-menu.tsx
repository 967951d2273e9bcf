import { useState } from 'react';
import { useSite } from '../../app/site-context.tsx';
import { knownZone } from '../../i18n/known-zone.ts';
import { type TextKey, useTexts } from '../../i18n/text-context.tsx';
import { ZoneSelect } from '../../sites/zone-select.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import { changeReport, PERIODS, type Period, type ReportState } from '../report-state.ts';
import { useShortcuts } from '../use-shortcuts.ts';
import { PERIOD_KEYS } from './period-keys.ts';
import { type Dates, shiftedPeriod, touchedDays } from './period-shift.ts';

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const periodLabel = (period: Period): TextKey => `period.${period}`;

export function selectPeriod(period: Period): void {
  changeReport({ period: period === '30d' ? undefined : period, from: undefined, to: undefined, interval: undefined });
}

const todayIn = (zone: string): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: knownZone(zone) }).format(new Date());

/** Moves the period by its own length. `zone` decides which date is today. */
function movePeriod({ query }: ReportState, zone: string, direction: -1 | 1): void {
  const moved = shiftedPeriod(query, todayIn(zone), direction);
  if (moved === undefined) return;
  if (moved.period !== undefined) selectPeriod(moved.period);
  else changeReport({ from: moved.from, to: moved.to, period: undefined, interval: undefined });
}

export function PeriodMenu({ state }: { readonly state: ReportState }) {
  const { t, time } = useTexts();
  const { timezone } = useSite();
  const [isCustom, setCustom] = useState(false);
  const [isZone, setZone] = useState(false);
  const { period, from = '', to = '', timezone: zone = timezone } = state.query;
  useShortcuts([
    ['C', () => setCustom(true)],
    ['ArrowLeft', () => movePeriod(state, zone, -1)],
    ['ArrowRight', () => movePeriod(state, zone, 1)],
  ]);
  // The dates have no time. Noon in UTC, shown in UTC, is always on the date itself.
  const day = (date: string): string => time(`${date}T12:00:00Z`, 'UTC', 'week');
  const days = (): string => (from === to ? day(from) : `${day(from)} – ${day(to)}`);
  return (
    <>
      <Menu icon="calendar" className="period" label={period ? t(periodLabel(period)) : days()}>
        {PERIODS.map((one) => (
          <MenuItem key={one} isChecked={period === one} hint={PERIOD_KEYS[one]} onSelect={() => selectPeriod(one)}>
            {t(periodLabel(one))}
          </MenuItem>
        ))}
        <MenuSeparator />
        <MenuItem isChecked={period === undefined} hint="C" onSelect={() => setCustom(true)}>
          {t('period.custom')}
        </MenuItem>
        <MenuItem
          role="menuitemcheckbox"
          isChecked={state.query.bots === 'include'}
          onSelect={() => changeReport({ bots: state.query.bots === 'include' ? undefined : 'include' })}
        >
          {t('bots.include')}
        </MenuItem>
        <MenuItem onSelect={() => setZone(true)}>{t('period.zone', { zone })}</MenuItem>
      </Menu>
      {isZone && <ZoneDialog zone={zone} siteZone={timezone} onClose={() => setZone(false)} />}
      {isCustom && <RangeDialog shown={touchedDays(state.query, todayIn(zone))} onClose={() => setCustom(false)} />}
    </>
  );
}

interface ZoneProps {
  readonly zone: string;
  readonly siteZone: string;
  readonly onClose: () => void;
}

/** Chooses the time zone of the days and buckets of the reports. The site keeps its own. */
function ZoneDialog({ zone, siteZone, onClose }: ZoneProps) {
  const { t } = useTexts();
  const [chosen, setChosen] = useState(zone);
  return (
    <Dialog title={t('site.timezone')} onClose={onClose}>
      <Form
        onSubmit={() => {
          changeReport({ timezone: chosen === siteZone ? undefined : chosen });
          onClose();
        }}
      >
        <ZoneSelect value={chosen} first={[siteZone, OWN_ZONE]} onChange={setChosen} />
        <p className="note">{t('period.zoneHint', { zone: siteZone })}</p>
        <div className="actions">
          <button type="submit" className="button primary">
            {t('show')}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

interface RangeProps {
  /** The days of the shown period. */
  readonly shown: Dates;
  readonly onClose: () => void;
}

function RangeDialog({ shown, onClose }: RangeProps) {
  const { t } = useTexts();
  const [range, setRange] = useState(shown);
  const isWrong = range.from > range.to;
  return (
    <Dialog title={t('period.custom')} onClose={onClose}>
      <Form
        onSubmit={() => {
          if (isWrong) return;
          changeReport({ ...range, period: undefined, interval: undefined });
          onClose();
        }}
      >
        <div className="columns">
          {(['from', 'to'] as const).map((name) => (
            <label key={name}>
              {t(`period.${name}`)}
              <input
                type="date"
                required
                min="1970-01-01"
                max="2099-12-31"
                value={range[name]}
                onChange={(event) => setRange({ ...range, [name]: event.target.value })}
              />
            </label>
          ))}
        </div>
        {isWrong && range.to !== '' && (
          <p className="problem" role="alert">
            {t('period.wrong')}
          </p>
        )}
        <div className="actions">
          <button type="submit" className="button primary">
            {t('show')}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
