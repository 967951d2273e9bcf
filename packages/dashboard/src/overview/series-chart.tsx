import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Answer } from '../api/call-admin.ts';
import { usePreferences } from '../app/preferences.ts';
import type { TimeDetail } from '../i18n/formats.ts';
import { knownZone } from '../i18n/known-zone.ts';
import { type Texts, useTexts } from '../i18n/text-context.tsx';
import { formatMetric, type MetricName, numberOf } from '../reports/report-metrics-view.ts';
import type { ChartNote } from './annotations-view.ts';
import { presentBucket } from './unfinished.ts';

const HEIGHT_PX = 260;
const HEIGHT_NARROW_PX = 200;
const NARROW_PX = 560;

interface Props {
  readonly data: Answer<'stats'>;
  readonly metric: MetricName;
  readonly zone: string;
  readonly notes: readonly ChartNote[];
}

/** A line chart with the notes of the period as vertical lines. The period of the comparison is a dashed line. */
export function SeriesChart({ data, metric, zone, notes }: Props) {
  const texts = useTexts();
  const { theme } = usePreferences();
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<{ index: number; left: number } | undefined>();
  const [width, setWidth] = useState(0);
  const isDark = useDarkScheme();

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const noteKey = notes.map(({ bucket }) => bucket).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours come from the styles, which depend on the theme
  useEffect(() => {
    const element = box.current;
    if (element === null || width === 0) return;
    const options = chartOptions({ data, metric, zone, texts, width, element });
    const setCursor = ({ cursor }: uPlot): void => {
      setAt(
        cursor.idx == null || cursor.left == null || cursor.left < 0
          ? undefined
          : { index: cursor.idx, left: cursor.left },
      );
    };
    const drawNotes = noteLines(notes, resolvedColor(element, '--warn'));
    const hooks = { setCursor: [setCursor], drawAxes: [drawNotes] };
    const chart = new uPlot({ ...options, hooks }, chartValues(data, metric), element);
    return () => chart.destroy();
  }, [data, metric, zone, texts, width, theme, isDark, noteKey]);

  return (
    <div className="chart" aria-hidden="true">
      <div ref={box} className="chart-box" />
      {at && (
        <ChartTip data={data} metric={metric} zone={zone} notes={notes} index={at.index} left={at.left} width={width} />
      )}
    </div>
  );
}

function useDarkScheme(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const change = (): void => setDark(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return isDark;
}

/**
 * The places, and the values of three lines. The first line shows the buckets that are over. The second leads to the present bucket. The third is the
 * comparison. Buckets that have not begun have no values.
 */
function chartValues({ buckets, comparison }: Answer<'stats'>, metric: MetricName): uPlot.AlignedData {
  const open = presentBucket(buckets);
  const places = buckets.map((_, index) => index);
  const values = buckets.map((bucket) => numberOf(bucket[metric]));
  const past = values.map((value, index) => (index < open ? value : null));
  const last = past.findLastIndex((value) => value !== null);
  const present = values.map((value, index) => (index === last || index === open ? value : null));
  const before = places.map((index) => numberOf(comparison?.buckets[index]?.[metric] ?? null));
  return [places, past, present, before] as uPlot.AlignedData;
}

interface OptionsInput extends Omit<Props, 'notes'> {
  readonly texts: Texts;
  readonly width: number;
  /** The styles of this element give the font and the colours. */
  readonly element: HTMLElement;
}

function chartOptions({ data, metric, zone, texts, width, element }: OptionsInput): uPlot.Options {
  const color = (name: string): string => resolvedColor(element, name);
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const { buckets, interval, comparison } = data;
  const detail: TimeDetail = interval === 'hour' ? 'clock' : interval === 'month' ? 'month' : 'week';
  const spansDays = buckets.length > 30;
  const axis = { stroke: color('--chart-text'), font, ticks: { show: false } };
  const isNarrow = width < NARROW_PX;
  const shortDay = new Intl.DateTimeFormat(texts.language, {
    day: 'numeric',
    month: 'short',
    timeZone: knownZone(zone),
  });
  const shortMonth = new Intl.DateTimeFormat(texts.language, {
    month: 'short',
    year: '2-digit',
    timeZone: knownZone(zone),
  });
  const label = (place: number): string => {
    const start = buckets[place]?.start;
    if (start === undefined) return '';
    if (interval === 'month') return shortMonth.format(new Date(start));
    if (interval === 'hour' && !spansDays) return texts.time(start, zone, detail);
    return shortDay.format(new Date(start));
  };
  const line: uPlot.Series = {
    stroke: color('--accent'),
    width: 2,
    fill: gradient(color('--accent-fade'), color('--accent-clear')),
    points: { show: buckets.length < 3 || presentBucket(buckets) < 1, size: 7, fill: color('--accent') },
    spanGaps: true,
  };
  return {
    width,
    height: isNarrow ? HEIGHT_NARROW_PX : HEIGHT_PX,
    // The label of the last bucket is centred below the right end of the line, so half of it needs room there.
    padding: [12, 28, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: false },
      y: { range: (_, __, max) => [0, Math.max(max * 1.12, metric === 'bounce_rate' ? 1 : 4)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 32,
        space: isNarrow ? 70 : 90,
        incrs: [1, 2, 3, 4, 6, 7, 12, 14, 24, 28, 30, 48, 60, 90, 168, 365],
        values: (_, splits) => splits.map((place) => (Number.isInteger(place) ? label(place) : '')),
      },
      {
        ...axis,
        grid: { stroke: color('--line'), width: 1 },
        size: isNarrow ? 44 : 56,
        space: 48,
        ...(metric !== 'bounce_rate' && metric !== 'views_per_visit' && { incrs: WHOLE_STEPS }),
        values: (_, splits) => splits.map((value) => formatMetric(texts, metric, value, true)),
      },
    ],
    series: [
      {},
      line,
      { ...line, dash: [3, 5] },
      {
        show: comparison !== undefined,
        stroke: color('--chart-before'),
        width: 1.5,
        dash: [4, 4],
        points: { show: false },
        spanGaps: true,
      },
    ],
  };
}

/** The colour of a custom property. A canvas cannot read `light-dark()`, so the browser computes it for the element. */
function resolvedColor(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

const WHOLE_STEPS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

const gradient = (from: string, to: string) => (chart: uPlot) => {
  const { top, height } = chart.bbox;
  const fill = chart.ctx.createLinearGradient(0, top, 0, top + height);
  fill.addColorStop(0, from);
  fill.addColorStop(1, to);
  return fill;
};

/** Draws a dashed line and a dot at the bucket of each note. */
const noteLines = (notes: readonly ChartNote[], color: string) => (chart: uPlot) => {
  const { ctx, bbox } = chart;
  const unit = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = unit;
  ctx.setLineDash([3 * unit, 3 * unit]);
  for (const { bucket } of notes) {
    const x = Math.round(chart.valToPos(bucket, 'x', true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x, bbox.top + 4 * unit, 4 * unit, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
};

interface TipProps extends Props {
  readonly index: number;
  readonly left: number;
  readonly width: number;
}

function ChartTip({ data, metric, zone, notes, index, left, width }: TipProps) {
  const texts = useTexts();
  const bucket = data.buckets[index];
  const before = data.comparison?.buckets[index];
  if (bucket === undefined) return null;
  const detail = data.interval as TimeDetail;
  // On the side of the cursor that has more room, so that the tip does not leave the card. A narrow card has room only at its other edge.
  const isLeft = left < width / 2;
  const [beside, edge] = isLeft ? [{ left: left + 70 }, { right: 0 }] : [{ right: width - left - 40 }, { left: 0 }];
  const side = width < NARROW_PX ? edge : beside;
  return (
    <div className="chart-tip" style={side}>
      <span className="tip-line">
        <i className="dot now" />
        <span>{texts.time(bucket.start, zone, detail)}</span>
        <b>{formatMetric(texts, metric, bucket[metric])}</b>
      </span>
      {before && (
        <span className="tip-line">
          <i className="dot before" />
          <span>{texts.time(before.start, zone, detail)}</span>
          <b>{formatMetric(texts, metric, before[metric])}</b>
        </span>
      )}
      {notes
        .filter((note) => note.bucket === index)
        .map(({ annotation }) => (
          <span key={annotation.annotation_id} className="tip-line tip-note">
            <i className="dot noted" />
            <span>{annotation.text}</span>
          </span>
        ))}
    </div>
  );
}
