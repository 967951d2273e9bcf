import { useEffect, useRef } from 'react';
import type { Answer } from '../api/call-admin.ts';
import { useSession } from '../app/session.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { CodeBlock } from '../ui/copy-text.tsx';
import { DoneButton } from '../ui/done-button.tsx';

const EXAMPLES = {
  'events:write': ['/api/v1/events', { name: 'signup', user_id: 'u_2', value: 49, idempotency_key: 'signup-u_2' }],
  'identify:write': ['/api/identify', { visitor_id: 'v_1', user_id: 'u_1' }],
} as const;

/** A key that was just created, with a command that uses it. */
export function NewKey({ made, onDone }: { readonly made: Answer<'createKey'>; readonly onDone: () => void }) {
  const { t } = useTexts();
  const gatewayUrl = useSession().data?.gateway_url;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const [path, body] = EXAMPLES[made.scopes[0] ?? 'identify:write'];
  const command = [
    `curl -X POST '${gatewayUrl ?? location.origin}${path}' \\`,
    `  -H 'Authorization: Bearer ${made.key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
  return (
    <div className="new-key" data-testid="new-key">
      <h3 tabIndex={-1} ref={heading}>
        {t('keys.new', { name: made.name })}
      </h3>
      <p>{t('keys.copyNow')}</p>
      <CodeBlock code={made.key} label={t('keys.key')} copyLabel={t('keys.copyKey')} />
      <p>
        {t('keys.try')} {!gatewayUrl && t('gateway.otherAddress')}
      </p>
      <CodeBlock code={command} label={t('keys.command')} copyLabel={t('keys.copyCommand')} />
      <DoneButton onDone={onDone} />
    </div>
  );
}
