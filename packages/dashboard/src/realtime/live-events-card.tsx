import { useEffect, useState } from 'react';
import { adminUrl } from '../api/call-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { outcomeText } from '../i18n/outcome-text.ts';
import { type Texts, useTexts } from '../i18n/text-context.tsx';
import { Form } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { Empty } from '../ui/states.tsx';

/** The page keeps at most this many records, the newest ones. */
const SHOWN_MAX = 100;
const RECONNECT_MS = 5_000;
const OUTCOMES = ['row', 'identify', 'duplicate', 'dropped', 'dead'] as const;
type Outcome = (typeof OUTCOMES)[number];

interface LiveRecord {
  /** The number of the record, in the order in which the page has received the records. */
  readonly nth: number;
  readonly appended_at: string | null;
  readonly record: Readonly<Record<string, unknown>> | null;
}

/**
 * Shows the enriched records of the site as soon as they are in the log. The button "Pause" closes the stream. An administrator can filter by
 * outcome (docs/glossary.md). A viewer gets only records with the outcome `row`.
 */
export function LiveEvents({ siteId, isAdmin }: { readonly siteId: string; readonly isAdmin: boolean }) {
  const texts = useTexts();
  const { t, time } = texts;
  const { timezone } = useSite();
  const [records, setRecords] = useState<readonly LiveRecord[]>([]);
  const [isPaused, setPaused] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | ''>('');
  const [text, setText] = useState('');
  const [contains, setContains] = useState('');

  useEffect(() => {
    if (isPaused) return;
    const query = { ...(outcome && { outcome }), ...(contains && { contains }) };
    const url = adminUrl('live', { path: { site_id: siteId }, query });
    let source: EventSource;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const connect = () => {
      clearTimeout(timer);
      others.postMessage('connected');
      source = new EventSource(url);
      source.addEventListener('open', () => setBroken(false));
      source.addEventListener('error', () => {
        setBroken(true);
        // The browser connects again by itself, except after an answer with an error status.
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(connect, RECONNECT_MS);
      });
      source.addEventListener('record', (event) => {
        const record = JSON.parse(event.data) as Omit<LiveRecord, 'nth'>;
        setRecords((earlier) => [{ ...record, nth: (earlier[0]?.nth ?? 0) + 1 }, ...earlier].slice(0, SHOWN_MAX));
      });
    };
    // A browser has six connections to a host. So a hidden tab closes its stream when another tab opens one, until it is shown again.
    const others = new BroadcastChannel('weir-live');
    others.addEventListener('message', () => {
      if (document.hidden) source.close();
    });
    const show = () => {
      if (!document.hidden && source.readyState === EventSource.CLOSED) connect();
    };
    document.addEventListener('visibilitychange', show);
    connect();
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', show);
      others.close();
      source.close();
    };
  }, [siteId, isPaused, outcome, contains]);

  return (
    <section className="card section" aria-labelledby="live" data-testid="live">
      <h2 id="live">{t('live.title')}</h2>
      <p className="note">{t('live.hint')}</p>
      <Form
        className="inline-form"
        onSubmit={() => {
          setRecords([]);
          setContains(text.trim());
        }}
      >
        <label>
          {t('live.contains')}
          <input maxLength={256} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        {isAdmin && (
          <label>
            {t('live.outcome')}
            <select
              value={outcome}
              onChange={(event) => {
                setRecords([]);
                setOutcome(event.target.value as Outcome | '');
              }}
            >
              <option value="">{t('live.all')}</option>
              {OUTCOMES.map((one) => (
                <option key={one} value={one}>
                  {t(`outcome.${one}`)}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="submit" className="button">
          {t('filter.apply')}
        </button>
        <button type="button" className="button" onClick={() => setPaused(!isPaused)}>
          <Icon name={isPaused ? 'play' : 'pause'} size={16} /> {t(isPaused ? 'live.continue' : 'live.pause')}
        </button>
      </Form>
      {isBroken && !isPaused && (
        <p className="problem" role="alert">
          {t('live.broken')}
        </p>
      )}
      {records.length === 0 && !isPaused && <Empty title={t('live.none')} />}
      <ol className="live-list">
        {records.map((one) => (
          <li key={one.nth}>
            <details>
              <summary>
                <span className="muted">{one.appended_at && time(one.appended_at, timezone, 'full')}</span>{' '}
                {titleOf(texts, one)}
              </summary>
              <dl className="fields">
                {Object.entries(one.record ?? {})
                  .filter(([, value]) => value !== '' && value !== null)
                  .map(([name, value]) => (
                    <div key={name}>
                      <dt>{name}</dt>
                      <dd>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd>
                    </div>
                  ))}
              </dl>
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The known parts of a title: the name of the event (or else the type, or the outcome), the path, the country and the browser of a record. */
function titleOf(texts: Texts, { record }: LiveRecord): string {
  const text = (name: string): string => String(record?.[name] ?? '');
  const name = text('event_name') || text('type') || outcomeText(texts, text('outcome'));
  return [name, text('pathname'), text('country'), text('browser')].filter(Boolean).join(' · ');
}
