import type { Answer } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import {
  COUNTS,
  formatMetric,
  LESS_IS_BETTER,
  METRICS,
  type MetricName,
  type MetricValue,
  metricLabel,
  numberOf,
} from '../reports/report-metrics-view.ts';
import { changeReport } from '../reports/report-state.ts';
import { shareAhead } from './unfinished.ts';

interface TilesProps {
  readonly data: Answer<'stats'>;
  readonly metric: MetricName;
  /** True while the numbers are the answer to the previous parameters. */
  readonly isOld: boolean;
}

/** The totals of the period. The chart below the tiles shows the selected number. */
export function MetricTiles({ data, metric, isOld }: TilesProps) {
  const texts = useTexts();
  const before = data.comparison?.totals;
  return (
    <div className={isOld ? 'tiles old' : 'tiles'}>
      {METRICS.map((name) => (
        <button
          key={name}
          type="button"
          className="tile"
          aria-pressed={name === metric}
          onClick={() => changeReport({ metric: name === 'visitors' ? undefined : name })}
        >
          <span className="tile-label">{texts.t(metricLabel(name))}</span>
          <span className="tile-value" data-metric={name} title={formatMetric(texts, name, data.totals[name])}>
            {formatMetric(texts, name, data.totals[name], true)}
          </span>
          {before && <Change name={name} now={data.totals[name]} before={before[name]} ahead={shareAhead(data)} />}
        </button>
      ))}
    </div>
  );
}

interface ChangeProps {
  readonly name: MetricName;
  readonly now: MetricValue;
  readonly before: MetricValue;
  /** The share of the period that is still to come. */
  readonly ahead: number;
}

/**
 * The change from the earlier number to this one, as a share of the earlier number. A lower number is not marked as bad while the rest of the
 * period can make up for it.
 */
export function Change({ name, now, before, ahead }: ChangeProps) {
  const texts = useTexts();
  const [to, from] = [numberOf(now), numberOf(before)];
  if (to === null || from === null || from === 0) return <span className="change">–</span>;
  const share = (to - from) / from;
  const isBetter = LESS_IS_BETTER.has(name) ? share < 0 : share > 0;
  const isSame = Math.abs(share) < 0.005;
  const isEarly = share < 0 && -share <= ahead && COUNTS.has(name);
  const tone = isSame || isEarly ? 'same' : isBetter ? 'good' : 'bad';
  return (
    <span className={`change ${tone}`} title={texts.t('change.before', { value: formatMetric(texts, name, before) })}>
      <span aria-hidden="true">{isSame ? '' : share > 0 ? '↑ ' : '↓ '}</span>
      {texts.change(share)}
    </span>
  );
}
