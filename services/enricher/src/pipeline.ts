import { createSources } from '@weir/domain/source';
import type { Registry } from '@weir/ports/registry';
import { createAgents } from './agent-names.ts';
import { deadLine } from './dead-line.ts';
import type { Enrichment } from './enrichment.ts';
import { enrichmentVersion } from './enrichment-version.ts';
import type { GeoLookup } from './geo/geo-lookup.ts';
import type { Draft, Hit, Step } from './hit.ts';
import { publicSuffixOf } from './host-domain.ts';
import { jsonText } from './json-text.ts';
import { createLanguages } from './language.ts';
import { createLineBytes } from './line-bytes.ts';
import { createPageUrls } from './page-url.ts';
import { createPlaces } from './place-text.ts';
import { readHit } from './read-hit.ts';
import { createReferrers } from './referrer.ts';
import { loadSourceLists } from './source-lists.ts';
import { createClaimKey } from './steps/claim-key.ts';
import { createDropExcluded } from './steps/drop-excluded.ts';
import { forgetAddress } from './steps/forget-address.ts';
import { linkKeyOf, linkVisitor } from './steps/link-visitor.ts';
import { createPutBot } from './steps/put-bot.ts';
import { createPutClient } from './steps/put-client.ts';
import { createPutGeo } from './steps/put-geo.ts';
import { putSession, sessionKeyOf } from './steps/put-session.ts';
import { createPutSite } from './steps/put-site.ts';
import { createPutSource } from './steps/put-source.ts';
import { nameVisitor, previousSessionsKeyOf, putVisitor, saltDaysOf } from './steps/put-visitor.ts';
import { createTimezones } from './timezone.ts';
import { bareLine, endedLine, type LineTexts, rowLine } from './to-line.ts';
import { toProfileDetail, toUnlinkDetail } from './to-profile-detail.ts';

export interface EnrichmentDeps {
  readonly registry: Registry;
  readonly geo: GeoLookup;
  /** Of the event log that is read. */
  readonly logId: string;
  readonly clock: () => number;
}

/** Raw records to outcomes. Its steps, in order, are what happens to a hit. */
export function createEnrichment({ registry, geo, logId, clock }: EnrichmentDeps): Enrichment<Draft> {
  const lists = loadSourceLists();
  const sources = createSources(lists, publicSuffixOf);
  const agents = createAgents();
  const { claimKey, holderOf } = createClaimKey(logId);
  const lineBytes = createLineBytes();

  const steps: readonly Step[] = [
    claimKey,
    createPutSite(registry, clock),
    createPutBot(agents),
    createPutClient(agents),
    createPutGeo(createPlaces(geo)),
    createPutSource({ sources, pageUrl: createPageUrls(), referrer: createReferrers(sources) }),
    putVisitor,
    createDropExcluded(registry),
    linkVisitor,
    putSession,
    forgetAddress,
  ];

  const texts: LineTexts = {
    logIdJson: jsonText(logId),
    enrichmentJson: versionText(enrichmentVersion(lists), geo),
    timezoneJson: createTimezones(),
    languageJson: createLanguages(),
  };

  function toLine(hit: Hit, batch: Parameters<Step>[1]): string {
    for (const step of steps) {
      const ending = step(hit, batch);
      if (ending === undefined) continue;
      return ending.outcome === 'duplicate'
        ? bareLine(endedLine(hit, 'duplicate', '', '', ''), texts)
        : bareLine(endedLine(hit, 'dropped', ending.reason, ending.ruleId, ''), texts);
    }
    if (hit.type === 'unlink') {
      return bareLine(endedLine(hit, 'identify', 'unlink', '', toUnlinkDetail(hit.siteId, hit.userId)), texts);
    }
    if (hit.identity === undefined) return rowLine(hit, texts);
    return bareLine(endedLine(hit, 'identify', '', '', toProfileDetail(hit, hit.identity)), texts);
  }

  return {
    read(record, partition) {
      const { offset, value } = record;
      const unreadable = (error: string): Draft => {
        return { readable: false, partition, offset, raw: value, receivedAt: record.appendedAt, error };
      };
      try {
        const hit = readHit({ partition, offset, value });
        return typeof hit === 'string' ? unreadable(hit) : hit;
      } catch (error) {
        // A reader met what no schema let through: a dead letter, as what it throws at would stop the partition for ever.
        return unreadable(messageOf(error));
      }
    },
    saltDays: (draft) => (draft.readable ? saltDaysOf(draft) : NONE),
    stateKeys(draft, salts) {
      if (!draft.readable) return NONE;
      try {
        return stateKeysOf(draft, salts);
      } catch {
        // `finish` meets the same, and makes a dead letter of it.
        return NONE;
      }
    },
    keyHolder: holderOf,
    finish(draft, batch) {
      let line: string;
      if (!draft.readable) {
        line = bareLine(deadLine(draft, 'unreadable', draft.error), texts);
      } else {
        try {
          line = toLine(draft, batch);
        } catch (error) {
          // A bug of ours, kept where it is seen and can be redriven: it must not stop the partition (design: enricher).
          line = bareLine(deadLine(draft, 'step_failed', messageOf(error)), texts);
        }
      }
      return { line: lineBytes(line), receivedAt: draft.receivedAt };
    },
  };
}

const NONE: readonly string[] = [];

function stateKeysOf(hit: Hit, salts: ReadonlyMap<string, string>): readonly string[] {
  nameVisitor(hit, salts);
  const link = linkKeyOf(hit);
  const previous = previousSessionsKeyOf(hit);
  const session = sessionKeyOf(hit);
  if (link === undefined && previous === undefined) return session === undefined ? NONE : [session];
  return [link, previous, session].filter((key) => key !== undefined);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Code, lists and geo data; made anew when the geo data changes. */
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
