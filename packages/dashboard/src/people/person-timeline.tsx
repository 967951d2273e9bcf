import type { Answer } from '../api/call-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { type Texts, useTexts } from '../i18n/text-context.tsx';
import { flagOf, pathText, valueText } from '../reports/dimension-view.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Pager } from '../ui/pager.tsx';
import { Empty } from '../ui/states.tsx';
import { traitText } from './trait-text.ts';

type Timeline = Answer<'readTimeline'>;
type Event = Timeline['events'][number];
type Session = Timeline['sessions'][number];

interface Visit {
  readonly key: string;
  /** The ID of the visit. For events without a visit, their day. */
  readonly group: string;
  /** Undefined for events without a visit. */
  readonly session: Session | undefined;
  readonly events: Event[];
}

interface Props {
  readonly data: Timeline;
  readonly page: number;
  readonly onPage: (page: number) => void;
}

/** The visits and events of a person, the newest first. */
export function PersonTimeline({ data, page, onPage }: Props) {
  const { t, time } = useTexts();
  const { timezone } = useSite();
  const dayOf = (moment: string): string => time(moment, timezone, 'day');
  return (
    <section className="card section" aria-labelledby="person-events" data-testid="timeline">
      <h2 id="person-events">{t('person.timeline')}</h2>
      {data.events.length === 0 && <Empty title={t('person.noEvents')} />}
      <ol className="visits">
        {visitsOf(data, dayOf).map((visit) => (
          <li key={visit.key}>
            <VisitHead visit={visit} />
            <ol className="visit-events">
              {visit.events.map((event) => (
                <EventLine key={event.event_id} event={event} />
              ))}
            </ol>
          </li>
        ))}
      </ol>
      <Pager
        page={page}
        hasMore={data.has_more}
        onPage={onPage}
        previous={t('person.newer')}
        next={t('person.older')}
      />
    </section>
  );
}

/**
 * Groups consecutive events of one visit, and consecutive events of one day that have no visit. Events of two days need two groups, because only the
 * heading of a group shows a date. The order of the events does not change.
 */
function visitsOf({ events, sessions }: Timeline, dayOf: (moment: string) => string): readonly Visit[] {
  const visits: Visit[] = [];
  for (const event of events) {
    const group = event.session_id || dayOf(event.timestamp);
    const last = visits.at(-1);
    if (last?.group === group) last.events.push(event);
    else {
      const session = sessions.find((one) => one.session_id === event.session_id);
      visits.push({ key: event.event_id, group, session, events: [event] });
    }
  }
  return visits;
}

function VisitHead({ visit: { session, events } }: { readonly visit: Visit }) {
  const texts = useTexts();
  const { t, time, duration } = texts;
  const { timezone } = useSite();
  const first = events.at(-1);
  if (first === undefined) return null;
  const at = time(session?.started_at ?? first.timestamp, timezone, 'hour');
  return (
    <h3 className="visit-head">
      <span>{at}</span>
      {session === undefined ? (
        <span className="note">{t('person.noVisit')}</span>
      ) : (
        <span className="note">
          {[
            duration(session.duration_seconds),
            valueText(texts, 'source', session.traffic_source),
            [session.browser, session.os].filter(Boolean).join(', '),
            session.country && `${flagOf(session.country)} ${texts.country(session.country)}`,
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      )}
    </h3>
  );
}

function EventLine({ event }: { readonly event: Event }) {
  const texts = useTexts();
  const { timezone } = useSite();
  const properties = Object.entries(event.properties);
  return (
    <li className="visit-event">
      <span className="event-icon">
        <Icon name={iconOf(event)} size={15} />
      </span>
      <span className="event-text">
        <span className="event-name" title={event.url}>
          {nameOf(texts, event)}
        </span>
        {properties.map(([name, value]) => (
          <span key={name} className="tag">
            {name}: {traitText(value)}
          </span>
        ))}
        {event.value !== null && Number(event.value) !== 0 && <span className="tag value">{String(event.value)}</span>}
        {event.bot !== '' && <span className="tag">{event.bot}</span>}
      </span>
      <time dateTime={event.timestamp} className="note">
        {texts.time(event.timestamp, timezone, 'clock')}
      </time>
    </li>
  );
}

function iconOf({ type, event_name: name, source }: Event): IconName {
  if (type === 'pageview') return 'chart';
  if (name.startsWith('$')) return 'live';
  return source === 'server' ? 'pipe' : 'goal';
}

/** The path of a pageview, or the name of an event. */
function nameOf({ t }: Texts, { event_name: name, pathname, type }: Event): string {
  if (type === 'pageview') return pathText(pathname) || t('step.page');
  return name;
}
