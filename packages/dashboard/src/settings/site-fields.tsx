import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { ZoneSelect } from '../sites/zone-select.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';
import { changesOf, formOf, KEPT, LIMITS, removesRows, type SiteForm } from './site-form.ts';

/** The reports whose days depend on the time zone of the site. */
const ZONED = ['stats', 'breakdown', 'properties', 'conversions', 'funnel', 'cohorts', 'journeys'] as const;

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
  const change = useChange('changeSite', ['readSite', 'listSites', 'overview', ...ZONED], 'readSite');
  // Contains only the fields that the reader has edited. The other fields show the newest answer.
  const [edits, setEdits] = useState<Partial<SiteForm>>({});
  const [isAsked, setAsked] = useState(false);
  const form = { ...formOf(site), ...edits };
  const edit = (field: keyof SiteForm) => (event: { readonly target: { readonly value: string } }) =>
    setEdits({ ...edits, [field]: event.target.value });
  const save = () => {
    const forget = () =>
      setEdits((now) =>
        Object.fromEntries(Object.entries(now).filter(([field, text]) => text !== edits[field as keyof SiteForm])),
      );
    change.mutate({ path: { site_id: site.site_id }, body: changesOf(site, edits) }, { onSuccess: forget });
  };
  return (
    <Form
      onSubmit={() => {
        if (change.isPending) return;
        if (removesRows(changesOf(site, edits))) setAsked(true);
        else save();
      }}
    >
      <div className="columns">
        <label>
          {t('site.name')}
          <input required maxLength={255} value={form.name} onChange={edit('name')} />
        </label>
        <label>
          {t('site.domain')}
          <input required maxLength={253} value={form.domain} onChange={edit('domain')} />
        </label>
        <ZoneSelect value={form.timezone} onChange={(timezone) => setEdits({ ...edits, timezone })} />
      </div>
      <h3>{t('fields.keep')}</h3>
      <p className="note">{t('fields.keepHint')}</p>
      <div className="columns">
        {KEPT.map((kind) => (
          <label key={kind}>
            {t(`keep.${kind}`)}
            <input placeholder={site.kept[kind]} value={form[`keep.${kind}`]} onChange={edit(`keep.${kind}`)} />
          </label>
        ))}
      </div>
      <h3>{t('fields.limits')}</h3>
      <p className="note">{t('fields.limitsHint')}</p>
      <div className="columns">
        {LIMITS.map((kind) => (
          <label key={kind}>
            {t(`limit.${kind}`)}
            <input type="number" min={1} value={form[`limits.${kind}`]} onChange={edit(`limits.${kind}`)} />
          </label>
        ))}
      </div>
      <label>
        {t('fields.query')}
        <input value={form.allow} onChange={edit('allow')} aria-describedby="query-hint" />
      </label>
      <p className="note" id="query-hint">
        {t('fields.queryHint')}
      </p>
      {change.error && <Problem error={change.error} />}
      <div className="actions">
        <span role="status" className="note">
          {change.isSuccess && Object.keys(edits).length === 0 && t('saved')}
        </span>
        {/* Not `disabled`: the dialog gives the focus back to this button, and a disabled button takes no focus. */}
        <button type="submit" className="button primary" aria-disabled={change.isPending}>
          {t('save')}
        </button>
      </div>
      {isAsked && (
        <ConfirmDialog
          title={t('fields.keepConfirm')}
          text={t('fields.keepText')}
          action={t('save')}
          onConfirm={save}
          onClose={() => setAsked(false)}
        />
      )}
    </Form>
  );
}
