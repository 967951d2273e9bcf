import * as Ariakit from '@ariakit/react';
import { useSession } from '../app/session.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { CodeBlock } from '../ui/copy-text.tsx';
import { INSTALLS } from './install-texts.ts';

/** How to send hits to a site, one tab for each way. */
export function InstallSteps({ siteId }: { readonly siteId: string }) {
  const { t } = useTexts();
  const gatewayUrl = useSession().data?.gateway_url;
  return (
    <div>
      <h2>{t('install.title')}</h2>
      <p className="note">
        {t('install.hint')} {!gatewayUrl && t('gateway.otherAddress')}
      </p>
      <Ariakit.TabProvider defaultSelectedId="install-html">
        <Ariakit.TabList className="tabs" aria-label={t('install.title')}>
          {INSTALLS.map(({ id, name }) => (
            <Ariakit.Tab key={id} id={`install-${id}`} className="tab">
              {name}
            </Ariakit.Tab>
          ))}
        </Ariakit.TabList>
        {INSTALLS.map(({ id, name, isServer, code }) => (
          <Ariakit.TabPanel key={id} tabId={`install-${id}`} className="panel-body" unmountOnHide>
            {isServer && <p className="note">{t('install.server')}</p>}
            <CodeBlock code={code(gatewayUrl ?? location.origin, siteId)} label={name} />
          </Ariakit.TabPanel>
        ))}
      </Ariakit.TabProvider>
    </div>
  );
}
