import type { ClickId } from '@weir/domain/click-id';
import { NO_TAGS, type Tags } from './hit.ts';
import { jsonText } from './json-text.ts';
import type { Attribution } from './traffic.ts';

export interface VisitTexts {
  readonly referrerJson: string;
  readonly referrerDomain: string;
  readonly tags: Tags;
  readonly clickId: ClickId | undefined;
  readonly attribution: Omit<Attribution, 'channel'> & { readonly channel: string };
}

const NO_TAGS_JSON = '"","","","","","","",""';

/** Columns `referrer` to `traffic_source`. */
export function visitJson({ referrerJson, referrerDomain, tags, clickId, attribution }: VisitTexts): string {
  const tagTexts = tags === NO_TAGS ? NO_TAGS_JSON : tagsJson(tags);
  const { channel, trafficSource } = attribution;
  return `${referrerJson},${jsonText(referrerDomain)},${tagTexts},"${clickId?.type ?? ''}","${channel}",${jsonText(trafficSource)}`;
}

/** Columns `utm_source` to `via`. */
function tagsJson(tags: Tags): string {
  const { utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ref, source, via } = tags;
  return [utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ref, source, via].map(jsonText).join(',');
}
