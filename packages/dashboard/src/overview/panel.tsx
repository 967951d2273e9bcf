import * as Ariakit from '@ariakit/react';
import { useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { late } from '../app/late.tsx';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { useWorldMap } from '../map/use-world-map.ts';
import { ReportMenu } from '../reports/report-menu.tsx';
import { numberOf } from '../reports/report-metrics-view.ts';
import { breakdownQuery, PANEL_ROWS } from '../reports/report-request-view.ts';
import type { ReportState } from '../reports/report-state.ts';
import { Icon } from '../ui/icon.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';
import { BarList } from './bar-list.tsx';
import type { PanelTab, PanelView } from './panel-list.ts';
import { PropertyForm } from './property-form.tsx';

const DetailsDialog = late(async () => (await import('./details-dialog.tsx')).DetailsDialog);

/** A card with one list per tab. */
export function Panel({ panel, state }: { readonly panel: PanelView; readonly state: ReportState }) {
  const { t } = useTexts();
  const [selected, setSelected] = useState<string>(panel.tabs[0]?.id ?? '');
  const [property, setProperty] = useState('');
  const [isOpen, setOpen] = useState(false);
  const tab = panel.tabs.find((one) => one.id === selected) ?? (panel.tabs[0] as PanelTab);
  const dimension = dimensionOf(tab, property);
  return (
    <section className="card panel" aria-labelledby={`panel-${panel.id}`} data-panel={panel.id}>
      <Ariakit.TabProvider
        selectedId={`${panel.id}-${selected}`}
        setSelectedId={(id) => id && setSelected(id.slice(panel.id.length + 1))}
      >
        <header className="panel-head">
          <h2 id={`panel-${panel.id}`}>{t(panel.title)}</h2>
          {dimension !== undefined && (
            <ReportMenu key={dimension} report={{ id: 'breakdown', state, tab, dimension }} />
          )}
        </header>
        {panel.tabs.length > 1 && (
          <Ariakit.TabList className="tabs" aria-label={t(panel.title)}>
            {panel.tabs.map((one) => (
              <Ariakit.Tab key={one.id} id={`${panel.id}-${one.id}`} className="tab">
                {t(one.label)}
              </Ariakit.Tab>
            ))}
          </Ariakit.TabList>
        )}
        <Ariakit.TabPanel
          tabId={`${panel.id}-${selected}`}
          className="panel-body"
          focusable={false}
          {...(panel.tabs.length === 1 && { role: 'presentation' })}
        >
          {tab.id === 'property' && <PropertyForm state={state} chosen={property} onChoose={setProperty} />}
          {dimension !== undefined && <DimensionRows key={dimension} tab={tab} dimension={dimension} state={state} />}
        </Ariakit.TabPanel>
      </Ariakit.TabProvider>
      {dimension !== undefined && (
        <footer className="panel-foot">
          <button type="button" className="link" onClick={() => setOpen(true)}>
            {t('details')} <Icon name="search" size={14} />
          </button>
        </footer>
      )}
      {isOpen && dimension !== undefined && (
        <DetailsDialog tab={tab} dimension={dimension} state={state} onClose={() => setOpen(false)} />
      )}
    </section>
  );
}

/** The dimension of a tab. For the tab `property`, it is undefined until the reader has named a property. */
function dimensionOf(tab: PanelTab, property: string): string | undefined {
  if (tab.id === 'property') return property === '' ? undefined : `property:${property}`;
  return tab.id === 'map' ? 'country' : tab.id;
}

interface RowsProps {
  readonly tab: PanelTab;
  readonly dimension: string;
  readonly state: ReportState;
}

function DimensionRows({ tab, dimension, state }: RowsProps) {
  const { t } = useTexts();
  const { site_id } = useSite();
  const query = { ...breakdownQuery(state, tab, dimension), metrics: tab.metric };
  const answer = useAdmin('breakdown', { path: { site_id }, query, refresh: true, keep: true });
  const isMap = tab.id === 'map';
  const map = useWorldMap(isMap);
  const oldness = answer.isPlaceholderData ? 'old' : undefined;
  return (
    <QueryAnswer query={answer} queryKey={['breakdown', { site_id }, query]} lines={PANEL_ROWS}>
      {({ rows }) =>
        rows.length === 0 || (rows[0]?.[tab.metric] ?? 0) === 0 ? (
          <div className={oldness ? `empty ${oldness}` : 'empty'}>
            <p className="empty-title">{t('panel.empty')}</p>
            <p className="note">{t(tab.id === 'event' ? 'panel.emptyEvents' : 'panel.emptyHint')}</p>
          </div>
        ) : (
          <div className={oldness}>
            {isMap && map.error && <Problem error={map.error} onRetry={() => void map.refetch()} />}
            {isMap && map.data ? (
              <map.data.WorldMap rows={rows} state={state} shapes={map.data.shapes} />
            ) : (
              // Until the map is loaded, a list of the first countries is in its place.
              <div className={isMap && !map.error ? 'map-place' : undefined}>
                <BarList
                  rows={rows.slice(0, PANEL_ROWS).filter((row) => (numberOf(row[tab.metric]) ?? 0) > 0)}
                  dimension={dimension}
                  metric={tab.metric}
                  state={state}
                />
              </div>
            )}
          </div>
        )
      }
    </QueryAnswer>
  );
}
