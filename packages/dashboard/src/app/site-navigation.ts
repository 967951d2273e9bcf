import type { TextKey } from '../i18n/text-context.tsx';
import type { IconName } from '../ui/icon.tsx';

interface NavigationItem {
  readonly page: string;
  readonly icon: IconName;
  readonly label: TextKey;
  /** Whether the token of a viewer may read the page. */
  readonly forViewers: boolean;
}

export const SITE_NAVIGATION: readonly NavigationItem[] = [
  { page: 'overview', icon: 'chart', label: 'nav.overview', forViewers: true },
  { page: 'realtime', icon: 'live', label: 'nav.realtime', forViewers: true },
  { page: 'goals', icon: 'goal', label: 'nav.goals', forViewers: true },
  { page: 'funnels', icon: 'funnel', label: 'nav.funnels', forViewers: true },
  { page: 'retention', icon: 'retention', label: 'nav.retention', forViewers: true },
  { page: 'journeys', icon: 'journey', label: 'nav.journeys', forViewers: true },
  { page: 'people', icon: 'people', label: 'nav.people', forViewers: false },
  { page: 'settings', icon: 'settings', label: 'nav.settings', forViewers: false },
];
