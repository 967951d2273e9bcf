import { LATER_UTM_TAG_NAMES } from '@weir/domain/acquisition/campaign-tags';
import { STAMP_COLUMNS, VISIT_ATTRIBUTES } from '@weir/domain/records/records-columns';
import type { EnrichedEvent } from '@weir/enricher/pipeline/enriched-event';
import type { ApplyContext } from '@weir/enricher/pipeline/step';
import { NO_STAMP_JSON } from '@weir/enricher/session/visit-stamp';
import { putSession } from '@weir/enricher/steps/put-session';
import type { RowFields } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';

/** Returns the rows with the session IDs and the stamps (docs/glossary.md) that the enricher gives them if they arrive in this order. */
export function stampRows(rows: readonly RowFields[]): readonly RowFields[] {
  const state = new Map<string, string>();
  const context = { state } as unknown as ApplyContext;
  return rows.map((row) => {
    const event = eventOf(row);
    putSession.prepare?.(event, new Map());
    putSession.apply?.(event, context);
    const values = JSON.parse(`[${event.stampJson.replaceAll('\t', ',')}]`) as readonly unknown[];
    return {
      ...{ ...row, session_id: event.sessionId, detail: event.sessionMoved ? '{"session_moved":true}' : '' },
      ...Object.fromEntries(STAMP_COLUMNS.map((column, nth) => [column, values[nth]])),
    };
  });
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The fields of an event that the step `put-session` reads. */
function eventOf(row: RowFields): EnrichedEvent {
  const [, ...attributes] = VISIT_ATTRIBUTES.map(([, column]) => JSON.stringify(row[column as keyof RowFields] ?? ''));
  const later = attributes.splice(attributes.length - LATER_UTM_TAG_NAMES.length);
  return {
    ...{ siteId: row.site_id, kind: row.source === 'server' ? 'event' : 'collect', timestamp: row.timestamp },
    ...{ visitorId: textOf(row.visitor_id), sessionId: textOf(row.session_id), type: row.type, identity: undefined },
    ...{ eventName: textOf(row.event_name), pathname: textOf(row.pathname), bot: { name: textOf(row.bot) } },
    visitSourceJson: [attributes.join(','), ...later].join('\t'),
    ...{ sessionsKey: '', sessionMoved: false, stampJson: NO_STAMP_JSON },
  } as unknown as EnrichedEvent;
}
