import type { TextKey } from '../i18n/text-context.tsx';

export const SITE_SECTIONS: readonly { readonly id: string; readonly label: TextKey }[] = [
  { id: 'site-fields', label: 'fields.title' },
  { id: 'api-keys', label: 'keys.title' },
  { id: 'identity', label: 'identity.title' },
  { id: 'viewers', label: 'viewers.title' },
  { id: 'exclusions', label: 'rules.title' },
  { id: 'remove-site', label: 'danger.title' },
];
