import { useState } from 'react';
import { useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Form } from '../ui/form.tsx';
import { Problem } from '../ui/states.tsx';

const FIELDS = ['ip', 'path', 'user_agent'] as const;

/** Shows which rule would drop a hit. Nothing is stored. */
export function ExclusionTestBox({ siteId }: { readonly siteId: string }) {
  const { t } = useTexts();
  const test = useChange('testExclusions');
  const [hit, setHit] = useState<Record<string, string>>({ ip: '', path: '', user_agent: '' });
  return (
    <details>
      <summary>{t('rules.test')}</summary>
      <Form
        className="inline-form"
        onSubmit={() => {
          const body = Object.fromEntries(Object.entries(hit).filter(([, value]) => value.trim() !== ''));
          test.mutate({ path: { site_id: siteId }, body });
        }}
      >
        {FIELDS.map((name) => (
          <label key={name}>
            {t(`rule.${name}`)}
            <input
              value={hit[name]}
              onChange={(event) => {
                // The shown result would not belong to the changed hit.
                test.reset();
                setHit({ ...hit, [name]: event.target.value });
              }}
            />
          </label>
        ))}
        <button type="submit" className="button">
          {t('rules.testNow')}
        </button>
      </Form>
      {test.error && <Problem error={test.error} />}
      {test.data && (
        <p role="status" className={test.data.dropped ? 'state stuck' : 'state live'}>
          {test.data.dropped
            ? t('rules.testDropped', {
                rule: test.data.rule
                  ? `${t(`rule.${test.data.rule.type}`)} ${test.data.rule.value}`
                  : (test.data.reason ?? ''),
              })
            : t('rules.testKept')}
        </p>
      )}
    </details>
  );
}
