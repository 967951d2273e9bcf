import type { TextKey } from '../i18n/text-context.tsx';
import type { DimensionName } from '../reports/dimension-view.ts';
import type { MetricName } from '../reports/report-metrics-view.ts';

export interface PanelTab {
  /** A dimension, or `map` (a map of the countries), or `property` (a custom property that the reader chooses). */
  readonly id: DimensionName | 'map' | 'property';
  readonly label: TextKey;
  /** The number by which the rows are ordered and drawn. */
  readonly metric: MetricName;
  /** If true, the list always includes bots. Other lists include them only if the reader has chosen this for the reports. */
  readonly withBots?: true;
}

export interface PanelView {
  readonly id: string;
  readonly title: TextKey;
  readonly tabs: readonly PanelTab[];
}

type TabOf<Key> = Key extends `tab.${infer Name}` ? Name : never;

const tab = (id: DimensionName & TabOf<TextKey>, metric: MetricName = 'visitors'): PanelTab => ({
  id,
  label: `tab.${id}`,
  metric,
});

export const PANELS: readonly PanelView[] = [
  { id: 'pages', title: 'panel.pages', tabs: [tab('page'), tab('entry'), tab('exit'), tab('hostname')] },
  {
    id: 'sources',
    title: 'panel.sources',
    tabs: [
      tab('source'),
      tab('channel'),
      tab('referrer'),
      tab('utm_campaign'),
      tab('utm_source'),
      tab('utm_medium'),
      tab('utm_term'),
      tab('utm_content'),
    ],
  },
  {
    id: 'places',
    title: 'panel.places',
    tabs: [
      { id: 'map', label: 'tab.map', metric: 'visitors' },
      tab('country'),
      tab('region'),
      tab('city'),
      tab('language'),
    ],
  },
  {
    id: 'devices',
    title: 'panel.devices',
    tabs: [tab('browser'), tab('browser_version'), tab('os'), tab('os_version'), tab('device')],
  },
  {
    id: 'events',
    title: 'panel.events',
    tabs: [tab('event', 'events'), { id: 'property', label: 'tab.property', metric: 'events' }, tab('origin')],
  },
  {
    id: 'bots',
    title: 'panel.bots',
    tabs: [
      { id: 'bot', label: 'tab.bot', metric: 'pageviews', withBots: true },
      { id: 'bot_reason', label: 'tab.bot_reason', metric: 'pageviews', withBots: true },
    ],
  },
];
