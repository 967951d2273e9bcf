import { useState } from 'react';
import { useSite } from '../app/site-context.tsx';
import { type TextKey, useTexts } from '../i18n/text-context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { changeReport, PERIODS, type Period, type ReportState } from './report-state.ts';

/** The keys of the periods: the same letters as in Plausible. */
export const PERIOD_KEYS: Readonly<Partial<Record<Period, string>>> = {
  today: 'D',
  yesterday: 'E',
  '24h': 'H',
  '7d': 'W',
  '30d': 'T',
  month: 'M',
  year: 'Y',
  '12mo': 'L',
  all: 'A',
};

const periodLabel = (period: Period): TextKey => `period.${period}`;

export function selectPeriod(period: Period): void {
  changeReport({ period: period === '30d' ? undefined : period, from: undefined, to: undefined, interval: undefined });
}

export function PeriodMenu({ state }: { readonly state: ReportState }) {
  const { t, time } = useTexts();
  const { timezone } = useSite();
  const [isCustom, setCustom] = useState(false);
  const { period, from = '', to = '' } = state.query;
  // A date without a time: noon in UTC is on this date in every zone that is shown.
  const day = (date: string): string => time(`${date}T12:00:00Z`, 'UTC', 'week');
  return (
    <>
      <Menu icon="calendar" className="period" label={period ? t(periodLabel(period)) : `${day(from)} – ${day(to)}`}>
        {PERIODS.map((one) => (
          <MenuItem key={one} isChecked={period === one} hint={PERIOD_KEYS[one]} onSelect={() => selectPeriod(one)}>
            {t(periodLabel(one))}
          </MenuItem>
        ))}
        <MenuSeparator />
        <MenuItem isChecked={period === undefined} onSelect={() => setCustom(true)}>
          {t('period.custom')}
        </MenuItem>
        <MenuItem
          isChecked={state.query.bots === 'include'}
          onSelect={() => changeReport({ bots: state.query.bots === 'include' ? undefined : 'include' })}
        >
          {t('bots.include')}
        </MenuItem>
        <p className="menu-note">{t('period.zone', { zone: timezone })}</p>
      </Menu>
      {isCustom && <RangeDialog from={from} to={to} onClose={() => setCustom(false)} />}
    </>
  );
}

interface RangeProps {
  readonly from: string;
  readonly to: string;
  readonly onClose: () => void;
}

function RangeDialog({ from, to, onClose }: RangeProps) {
  const { t } = useTexts();
  const [range, setRange] = useState({ from, to });
  const isWrong = range.from > range.to;
  return (
    <Dialog title={t('period.custom')} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
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
      </form>
    </Dialog>
  );
}
