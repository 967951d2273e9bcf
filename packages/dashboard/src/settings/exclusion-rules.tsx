import { useState } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useAdmin, useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { DataTable, RowButton } from '../ui/data-table.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Problem, QueryAnswer } from '../ui/states.tsx';
import { ExclusionTestBox } from './exclusion-test-box.tsx';

const TYPES = ['ip', 'path', 'hostname', 'country', 'user_agent', 'visitor', 'bots'] as const;
type RuleType = (typeof TYPES)[number];
type Rule = Answer<'listExclusions'>[number];
const EXAMPLES: Readonly<Record<RuleType, string>> = {
  ip: '203.0.113.0/24',
  path: '/internal/*',
  hostname: 'staging.example.com',
  country: 'DE',
  user_agent: 'HeadlessChrome',
  visitor: '01234567890',
  bots: '',
};

/** The rules that drop hits, how many each has dropped, and a form that shows which rule would drop a hit. */
export function ExclusionRules({ siteId }: { readonly siteId: string }) {
  const { t, number } = useTexts();
  const path = { site_id: siteId };
  const rules = useAdmin('listExclusions', { path });
  const create = useChange('createExclusion', ['listExclusions']);
  const remove = useChange('removeExclusion', ['listExclusions']);
  const [type, setType] = useState<RuleType>('ip');
  const [value, setValue] = useState('');
  const [asked, setAsked] = useState<Rule>();
  const nameOf = (rule: Rule): string => rule.value || t(`rule.${rule.type}`);
  const error = create.error ?? remove.error;
  return (
    <section className="card section" aria-labelledby="exclusions">
      <h2 id="exclusions">{t('rules.title')}</h2>
      <p className="note">{t('rules.hint')}</p>
      <Form
        className="inline-form"
        onSubmit={() => {
          remove.reset();
          const body = type === 'bots' ? { type } : { type, value: value.trim() };
          const onSuccess = () => setValue((now) => (now === value ? '' : now));
          create.mutate({ path, body: body as { type: 'path'; value: string } }, { onSuccess });
        }}
      >
        <label>
          {t('rules.type')}
          <select value={type} onChange={(event) => setType(event.target.value as RuleType)}>
            {TYPES.map((one) => (
              <option key={one} value={one}>
                {t(`rule.${one}`)}
              </option>
            ))}
          </select>
        </label>
        {type !== 'bots' && (
          <label>
            {t('filter.value')}
            <input
              required
              placeholder={EXAMPLES[type]}
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          </label>
        )}
        <button type="submit" className="button primary" disabled={create.isPending}>
          {t('rules.add')}
        </button>
      </Form>
      {error && <Problem error={error} />}
      <QueryAnswer query={rules} lines={3}>
        {(list) => (
          <DataTable
            label={t('rules.title')}
            testId="rules"
            rows={list}
            none={<p className="note">{t('rules.none')}</p>}
            keyOf={({ rule_id }) => rule_id}
            columns={[
              { title: t('rules.type'), cell: (rule) => t(`rule.${rule.type}`) },
              { title: t('filter.value'), kind: 'name', fit: 'long', cell: (rule) => rule.value || '–' },
              {
                title: t('rules.dropped'),
                kind: 'number',
                cell: (rule) => (rule.dropped === null ? '?' : number(rule.dropped)),
              },
              {
                cell: (rule) => (
                  <RowButton
                    isDanger
                    text={t('remove')}
                    label={t('removeName', { name: nameOf(rule) })}
                    onClick={() => setAsked(rule)}
                  />
                ),
              },
            ]}
          />
        )}
      </QueryAnswer>
      <ExclusionTestBox siteId={siteId} />
      {asked && (
        <ConfirmDialog
          removes
          title={t('rules.removeTitle', { name: nameOf(asked) })}
          text={t('rules.removeText')}
          action={t('remove')}
          onConfirm={() => {
            create.reset();
            remove.mutate({ path: { ...path, rule_id: asked.rule_id } });
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}
