import { useState } from 'react';
import { useAdmin } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import type { ReportState } from '../reports/report-state.ts';
import { Empty, QueryAnswer } from '../ui/states.tsx';
import { BarList } from './bar-list.tsx';

/** The values of one custom property. The reader types its name; the last used name of the site is suggested by the browser. */
export function PropertyTab({ state }: { readonly state: ReportState }) {
  const { t } = useTexts();
  const { site_id } = useSite();
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  const query = { ...state.query, dimension: `property:${name}`, order: 'events:desc', limit: 8 };
  const answer = useAdmin('breakdown', { path: { site_id }, query, enabled: name !== '', keep: true });
  return (
    <>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          setName(text.trim());
        }}
      >
        <label className="visually-hidden" htmlFor="property-name">
          {t('property.name')}
        </label>
        <input
          id="property-name"
          name="weir-property"
          placeholder={t('property.placeholder')}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="button small">
          {t('show')}
        </button>
      </form>
      {name === '' ? (
        <p className="note">{t('property.hint')}</p>
      ) : (
        <QueryAnswer query={answer} lines={6}>
          {(data) =>
            data.rows.length === 0 ? (
              <Empty title={t('panel.empty')} />
            ) : (
              <BarList rows={data.rows} dimension={data.dimension} metric="events" state={state} />
            )
          }
        </QueryAnswer>
      )}
    </>
  );
}
