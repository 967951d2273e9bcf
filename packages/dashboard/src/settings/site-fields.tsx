import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { ZoneSelect } from '../sites/zone-select.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';

const KEPT = ['events', 'profiles', 'rollups'] as const;
const LIMITS = ['collect', 'events', 'identify'] as const;

/** Name, domain, time zone, retention, rate limits and kept URL parameters of a site. */
export function SiteFields({ siteId }: { readonly siteId: string }) {
  const { t } = useTexts();
  const site = useAdmin('readSite', { path: { site_id: siteId } });
  return (
    <section className="card section" aria-labelledby="site-fields">
      <h2 id="site-fields">{t('fields.title')}</h2>
      <QueryAnswer query={site} lines={6}>
        {(data) => <Fields site={data} />}
      </QueryAnswer>
    </section>
  );
}

function Fields({ site }: { readonly site: Answer<'readSite'> }) {
  const { t } = useTexts();
  const change = useChange('changeSite', ['readSite', 'listSites', 'overview', 'stats', 'breakdown']);
  const [name, setName] = useState(site.name);
  const [domain, setDomain] = useState(site.domain);
  const [timezone, setTimezone] = useState(site.timezone);
  const [keep, setKeep] = useState<Record<string, string>>(
    Object.fromEntries(KEPT.map((kind) => [kind, site.keep[kind] ?? ''])),
  );
  const [limits, setLimits] = useState<Record<string, string>>(
    Object.fromEntries(LIMITS.map((kind) => [kind, String(site.limits[kind] ?? '')])),
  );
  const [allow, setAllow] = useState(site.query_allow === null ? '*' : site.query_allow.join(' '));
  const save = () => {
    const body = {
      name: name.trim(),
      domain: domain.trim(),
      timezone,
      keep: Object.fromEntries(KEPT.map((kind) => [kind, keep[kind]?.trim() || null])),
      limits: Object.fromEntries(LIMITS.map((kind) => [kind, limits[kind] ? Number(limits[kind]) : null])),
      query_allow: allow.trim() === '*' ? null : allow.split(/[\s,]+/).filter(Boolean),
    };
    change.mutate({ path: { site_id: site.site_id }, body });
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className="columns">
        <label>
          {t('site.name')}
          <input required maxLength={255} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          {t('site.domain')}
          <input required maxLength={253} value={domain} onChange={(event) => setDomain(event.target.value)} />
        </label>
        <ZoneSelect value={timezone} onChange={setTimezone} />
      </div>
      <h3>{t('fields.keep')}</h3>
      <p className="note">{t('fields.keepHint')}</p>
      <div className="columns">
        {KEPT.map((kind) => (
          <label key={kind}>
            {t(`keep.${kind}`)}
            <input
              placeholder={site.kept[kind]}
              value={keep[kind]}
              onChange={(event) => setKeep({ ...keep, [kind]: event.target.value })}
            />
          </label>
        ))}
      </div>
      <h3>{t('fields.limits')}</h3>
      <p className="note">{t('fields.limitsHint')}</p>
      <div className="columns">
        {LIMITS.map((kind) => (
          <label key={kind}>
            {t(`limit.${kind}`)}
            <input
              type="number"
              min={1}
              value={limits[kind]}
              onChange={(event) => setLimits({ ...limits, [kind]: event.target.value })}
            />
          </label>
        ))}
      </div>
      <label>
        {t('fields.query')}
        <input value={allow} onChange={(event) => setAllow(event.target.value)} aria-describedby="query-hint" />
      </label>
      <p className="note" id="query-hint">
        {t('fields.queryHint')}
      </p>
      {change.error && <Problem error={change.error} />}
      <div className="actions">
        <span role="status" className="note">
          {change.isSuccess && t('saved')}
        </span>
        <button type="submit" className="button primary" disabled={change.isPending}>
          {t('save')}
        </button>
      </div>
    </form>
  );
}
