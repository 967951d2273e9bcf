import { geoNaturalEarth1, geoPath } from 'd3-geo';
import { useState } from 'react';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import type { Answer } from '../api/call-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { formatMetric, numberOf } from '../reports/report-metrics-view.ts';
import { addFilter, type ReportState } from '../reports/report-state.ts';
import { COUNTRY_OF_NAME, COUNTRY_OF_NUMBER } from './country-numbers.ts';

const [WIDTH, HEIGHT] = [640, 330];
const ANTARCTICA = '010';
type World = Topology<{ countries: GeometryCollection<{ name: string }> }>;

interface Shape {
  /** The alpha-2 code of the country. Empty for a territory without a code. */
  readonly code: string;
  readonly path: string;
  readonly id: string;
}

interface Props {
  readonly rows: Answer<'breakdown'>['rows'];
  readonly state: ReportState;
  readonly shapes: readonly Shape[];
}

/** Visitors by country. A click filters by the country. With the keyboard, the list of countries does the same. */
export function WorldMap({ rows, state, shapes }: Props) {
  const texts = useTexts();
  const [shown, setShown] = useState<string>();
  const byCountry = new Map(rows.map((row) => [row.value, row]));
  const most = Math.max(1, ...rows.map((row) => numberOf(row.visitors) ?? 0));
  const active = shown === undefined ? undefined : byCountry.get(shown);
  const unknown = byCountry.get('')?.visitors ?? 0;
  return (
    <div className="map">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={texts.t('map.label')}>
        {shapes.map(({ code, path, id }) => {
          // A territory without a code has no visitors. Its empty code must not match the row of the visitors whose country is unknown.
          const visitors = code === '' ? 0 : (numberOf(byCountry.get(code)?.visitors ?? 0) ?? 0);
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: with the keyboard, the list of countries does the same
            <path
              key={id}
              d={path}
              className={visitors > 0 ? 'land seen' : 'land'}
              // The square root keeps countries with few visitors visible.
              style={visitors > 0 ? { fillOpacity: 0.15 + 0.85 * Math.sqrt(visitors / most) } : {}}
              onPointerEnter={() => setShown(code === '' ? undefined : code)}
              onPointerLeave={() => setShown(undefined)}
              onClick={() =>
                visitors > 0 && addFilter(state.filters, { dimension: 'country', operator: 'is', values: [code] })
              }
            />
          );
        })}
      </svg>
      {shown === undefined ? (
        <p className="map-tip muted">
          {(numberOf(unknown) ?? 0) > 0 && texts.t('map.unknown', { count: formatMetric(texts, 'visitors', unknown) })}
        </p>
      ) : (
        <p className="map-tip" aria-hidden="true">
          <b>{texts.country(shown)}</b> {formatMetric(texts, 'visitors', active?.visitors ?? 0)}
        </p>
      )}
    </div>
  );
}

export function shapesOf(world: World): readonly Shape[] {
  const { features } = feature(world, world.objects.countries);
  const land = features.filter((one) => one.id !== ANTARCTICA);
  const projection = geoNaturalEarth1().fitSize([WIDTH, HEIGHT], { type: 'FeatureCollection', features: land });
  const draw = geoPath(projection);
  return land.map((one, index) => ({
    code: COUNTRY_OF_NUMBER.get(String(one.id)) ?? COUNTRY_OF_NAME[one.properties.name] ?? '',
    path: draw(one) ?? '',
    id: `${one.id ?? ''} ${index}`,
  }));
}
