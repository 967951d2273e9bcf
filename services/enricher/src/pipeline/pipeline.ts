import { createSources, type SourceLists } from '@weir/domain/acquisition/source';
import { createErasures } from '@weir/domain/erasure/erases';
import { letterTexts } from '@weir/domain/erasure/letter-texts';
import { messageOf } from '@weir/domain/errors';
import type { Identity } from '@weir/domain/people/identity';
import type { DeadReason } from '@weir/domain/records/outcome';
import { sealedDay } from '@weir/domain/records/redriven';
import type { Registry } from '@weir/ports/registry';
import { publicSuffixOf } from '../acquisition/host-domain.ts';
import { createPageUrls } from '../acquisition/page-url.ts';
import { createReferrers } from '../acquisition/referrer.ts';
import { loadSourceLists } from '../acquisition/source-lists.ts';
import { deadLetterRow } from '../encoding/dead-letter-row.ts';
import { encodeDumpedRow } from '../encoding/dumped-row-encoding.ts';
import { createGeoColumns } from '../encoding/geo-columns.ts';
import { jsonText } from '../encoding/json-text.ts';
import { createRowBytes } from '../encoding/row-bytes.ts';
import { createRowColumns } from '../encoding/row-columns.ts';
import { type BareRow, bareRow, createRowEncoder, erasedRow } from '../encoding/row-encoding.ts';
import type { GeoLookup } from '../geo/geo-lookup.ts';
import { createIsErased } from '../identity/is-erased.ts';
import { toProfileDetail, toUnlinkDetail } from '../identity/profile-detail.ts';
import { createLanguages } from '../locale/language.ts';
import { createTimezones } from '../locale/timezone.ts';
import { createDropDuplicate } from '../steps/drop-duplicate.ts';
import { createDropErased } from '../steps/drop-erased.ts';
import { createDropExcluded } from '../steps/drop-excluded.ts';
import { dropUnverified } from '../steps/drop-unverified.ts';
import { createLinkVisitor } from '../steps/link-visitor.ts';
import { createOpenAddressStep } from '../steps/open-address.ts';
import { createPutBot } from '../steps/put-bot.ts';
import { createPutGeo } from '../steps/put-geo.ts';
import { putSession } from '../steps/put-session.ts';
import { createPutSite } from '../steps/put-site.ts';
import { createPutSource } from '../steps/put-source.ts';
import { createPutUserAgent } from '../steps/put-user-agent.ts';
import { createPutVisitor } from '../steps/put-visitor.ts';
import { restoreDumped } from '../steps/restore-dumped.ts';
import { createUserAgents } from '../user-agent/user-agent-columns.ts';
import { decodeRecord } from './decode-record.ts';
import type { DecodedRecord, EnrichedEvent } from './enriched-event.ts';
import type { Enrichment } from './enrichment.ts';
import { enrichmentVersion } from './enrichment-version.ts';
import type { ApplyContext, Ending, Step } from './step.ts';

export interface EnrichmentDeps {
  readonly registry: Registry;
  readonly geo: GeoLookup;
  readonly logId: string;
  /** By default, the lists of this version of Weir. */
  readonly lists?: SourceLists;
}

/** Creates the enrichment, which turns raw records into outcomes. `steps` lists everything that happens to an event, in order. */
export function createEnrichment(deps: EnrichmentDeps): Enrichment<DecodedRecord> {
  const { registry, geo, logId, lists = loadSourceLists() } = deps;
  const sources = createSources(lists, publicSuffixOf);
  const agents = createUserAgents();
  const rowBytes = createRowBytes();
  const dropDuplicate = createDropDuplicate(logId);
  const isErased = createIsErased(registry);

  const steps: readonly Step[] = [
    createOpenAddressStep(),
    dropDuplicate,
    createPutSite(registry),
    dropUnverified,
    createPutBot(agents),
    createPutUserAgent(agents),
    createPutGeo(createGeoColumns(geo)),
    createPutSource({ sources, pageUrl: createPageUrls(), referrer: createReferrers(sources) }),
    createPutVisitor(),
    createDropErased(isErased),
    restoreDumped,
    createDropExcluded(registry),
    createLinkVisitor(isErased),
    putSession,
  ];

  const rowEncoder = createRowEncoder(
    createRowColumns({
      logId,
      enrichmentJson: versionText(enrichmentVersion(lists), geo),
      timezoneJson: createTimezones(),
      languageJson: createLanguages(),
    }),
  );

  // The steps are sorted by phase into arrays, because the loops below run for every record.
  const registryChecks = steps.flatMap(({ needsNewerRegistry }) => needsNewerRegistry ?? []);
  const saltChecks = steps.flatMap(({ needsSalt }) => needsSalt ?? []);
  const prepareSteps = steps.flatMap(({ name, prepare }) => (prepare === undefined ? [] : { name, prepare }));
  const applySteps = steps.flatMap(({ name, apply }) => (apply === undefined ? [] : { name, apply }));

  /** The name of the step that runs now, for the error of a dead letter. */
  let running = '';

  const erasures = createErasures((siteId) => registry.tombstones(siteId));

  /** Builds the dead letter of a record, or the row `erased` if the record contains an ID of an erased person. */
  function letterOf(record: DecodedRecord, reason: DeadReason, error: string): BareRow {
    const row = deadLetterRow(record, reason, error);
    if (!registry.hasTombstones()) return row;
    const texts = letterTexts(Buffer.from(record.raw).toString());
    return texts.some((text) => erasures(text)?.letter(texts, record.receivedAt)) ? erasedRow(row) : row;
  }

  function toRow(event: EnrichedEvent, batch: ApplyContext): string {
    if (event.failure !== '') return rowEncoder.bare(letterOf(event, 'step_failed', event.failure));
    for (const step of applySteps) {
      running = step.name;
      const ending = step.apply(event, batch);
      if (ending?.outcome === 'dumped') return encodeDumpedRow(ending.row, event, logId);
      if (ending !== undefined) return rowEncoder.bare(endedRow(event, ending));
    }
    running = 'row-encoding';
    return event.type === 'unlink' || event.identity !== undefined
      ? rowEncoder.bare(identifyRow(event, event.identity))
      : rowEncoder.event(event);
  }

  function rowOf(record: DecodedRecord, batch: ApplyContext): string {
    if (!record.readable) return rowEncoder.bare(letterOf(record, 'unreadable', record.error));
    try {
      return toRow(record, batch);
    } catch (error) {
      // A bug in Weir must not stop the partition. The dead letter shows the error and keeps the record.
      return rowEncoder.bare(letterOf(record, 'step_failed', `${running}: ${messageOf(error)}`));
    }
  }

  return {
    decode(record, partition) {
      const { offset, value } = record;
      const unreadable = (error: string): DecodedRecord => {
        return { readable: false, partition, offset, raw: value, receivedAt: record.appendedAt, error };
      };
      try {
        const decoded = decodeRecord({ partition, offset, value });
        return typeof decoded === 'string' ? unreadable(decoded) : decoded;
      } catch (error) {
        // A bug in the decoder must not stop the partition: the record becomes a dead letter.
        return unreadable(messageOf(error));
      }
    },
    needsNewerRegistry(record) {
      if (record.readable) for (const needsNewer of registryChecks) if (needsNewer(record)) return true;
      return false;
    },
    saltDays(record) {
      if (!record.readable) return NONE;
      for (const needsSalt of saltChecks) if (needsSalt(record)) return [sealedDay(record)];
      return NONE;
    },
    prepare(record, salts) {
      if (!record.readable) return NONE;
      const keys: string[] = [];
      for (const step of prepareSteps) {
        try {
          const key = step.prepare(record, salts);
          if (key !== undefined) keys.push(key);
        } catch (error) {
          record.failure = `${step.name}: ${messageOf(error)}`;
          return NONE;
        }
      }
      return keys;
    },
    firstSeenKey: (record) => (record.readable ? dropDuplicate.firstSeenKey(record) : undefined),
    redriveKey: (record) => (record.readable ? dropDuplicate.redriveKey(record) : undefined),
    enrich(record, batch) {
      return { row: rowBytes(rowOf(record, batch)), receivedAt: record.receivedAt };
    },
  };
}

const NONE: readonly string[] = [];

function endedRow(event: EnrichedEvent, ending: Exclude<Ending, { outcome: 'dumped' }>): BareRow {
  switch (ending.outcome) {
    case 'erased':
      return erasedRow(event);
    case 'duplicate':
      return bareRow(event, 'duplicate');
    case 'dropped':
      return bareRow(event, 'dropped', ending);
  }
}

/** Builds the row of an identify. Without an identity, it is the row of an unlink. */
function identifyRow(event: EnrichedEvent, identity: Identity | undefined): BareRow {
  if (identity !== undefined) return bareRow(event, 'identify', { detail: toProfileDetail(event, identity) });
  return bareRow(event, 'identify', { reason: 'unlink', detail: toUnlinkDetail(event.siteId, event.userId) });
}

/**
 * Returns a function for the encoded column `enrichment`: the versions of the code, of the lists and of the geo data. The column is
 * encoded again when the geo data changes.
 */
function versionText(codeVersion: string, geo: GeoLookup): () => string {
  let geoVersion: string | undefined;
  let json = '';
  return () => {
    if (geo.version !== geoVersion) {
      geoVersion = geo.version;
      json = jsonText(`${codeVersion} geo-${geoVersion}`);
    }
    return json;
  };
}
