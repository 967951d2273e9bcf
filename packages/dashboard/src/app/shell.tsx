import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { useShortcuts } from '../reports/use-shortcuts.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { Problem } from '../ui/states.tsx';
import { Link } from './link.tsx';
import { navigate, pathTo, useLocation } from './location.ts';
import { Logo } from './logo.tsx';
import { setPreferences, usePreferences } from './preferences.ts';
import { type Session, useSession, useSignOut } from './session.ts';
import { SiteMenu } from './site-menu.tsx';
import { SITE_NAVIGATION } from './site-navigation.ts';

/** The parameters that the report pages of a site share. Links between these pages keep them. */
const SHARED = ['period', 'from', 'to', 'timezone', 'compare', 'bots', 'filter'];

/** The frame of all pages: navigation on the left, or behind a button on narrow screens. */
export function Shell({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  const { t } = useTexts();
  const { parts, query } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const [first, siteId, page = 'overview'] = parts;
  const place = parts.join('/');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes
  useEffect(() => setOpen(false), [place]);
  const menuButton = useRef<HTMLButtonElement>(null);
  // Without this shortcut, Escape would remove the filters of the report behind the menu.
  const close = () => {
    setOpen(false);
    menuButton.current?.focus();
  };
  useShortcuts(isOpen ? [['Escape', close]] : [], true);
  const ofSite = first === 'sites' ? siteId : session.role === 'viewer' ? session.sites?.[0] : undefined;
  const kept = new URLSearchParams([...query].filter(([name]) => SHARED.includes(name))).toString();
  return (
    <div className="shell">
      {/* A button, because a link would replace the fragment of the address, which can contain the ID of a person. */}
      <button type="button" className="skip button" onClick={() => document.getElementById('content')?.focus()}>
        {t('skip')}
      </button>
      <header className="top">
        <Link href={pathTo()} className="home">
          <Logo />
        </Link>
        <button
          ref={menuButton}
          type="button"
          className="icon-button menu-button"
          aria-expanded={isOpen}
          aria-controls="navigation"
          aria-label={t('menu')}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
      </header>
      <nav id="navigation" className={isOpen ? 'side open' : 'side'} aria-label={t('navigation')}>
        <Link href={pathTo()} className="home wide-only">
          <Logo />
        </Link>
        {session.role === 'admin' && <SiteMenu session={session} siteId={ofSite} page={page} />}
        {ofSite !== undefined && (
          <ul>
            {SITE_NAVIGATION.filter((item) => session.role === 'admin' || item.forViewers).map((item) => (
              <Item
                key={item.page}
                icon={item.icon}
                href={pathTo('sites', ofSite, item.page) + (kept && `?${kept}`)}
                isCurrent={first === 'sites' ? page === item.page : item.page === 'overview'}
                text={t(item.label)}
              />
            ))}
          </ul>
        )}
        {session.role === 'admin' && (
          <ul className="lower">
            <Item icon="sites" href={pathTo()} isCurrent={first === undefined} text={t('nav.sites')} />
            <Item icon="sql" href={pathTo('sql')} isCurrent={first === 'sql'} text={t('nav.sql')} />
            <Item icon="pipe" href={pathTo('pipeline')} isCurrent={first === 'pipeline'} text={t('nav.pipeline')} />
          </ul>
        )}
        <AccountMenu session={session} />
      </nav>
      <main id="content" tabIndex={-1}>
        <LostNote />
        {children}
        <footer className="foot">
          <a href="https://db-ip.com" rel="noopener noreferrer">
            IP Geolocation by DB-IP
          </a>{' '}
          (CC BY 4.0)
        </footer>
      </main>
    </div>
  );
}

/** Says that the numbers on the page may be old, while Weir does not answer. When it answers again, the page asks for all its numbers again. */
function LostNote() {
  const { t } = useTexts();
  const client = useQueryClient();
  const { error, refetch } = useSession();
  const isLost = error !== null;
  useEffect(() => {
    if (!isLost) return;
    return () => void client.invalidateQueries();
  }, [isLost, client]);
  if (error === null) return null;
  return (
    <Problem error={error} onRetry={() => void refetch()}>
      {t('problem.old')}
    </Problem>
  );
}

interface ItemProps {
  readonly icon: IconName;
  readonly href: string;
  readonly isCurrent: boolean;
  readonly text: string;
}

function Item({ icon, href, isCurrent, text }: ItemProps) {
  return (
    <li>
      <Link href={href} className="nav-item" aria-current={isCurrent ? 'page' : undefined}>
        <Icon name={icon} />
        {text}
      </Link>
    </li>
  );
}

function AccountMenu({ session }: { readonly session: Session }) {
  const { t } = useTexts();
  const { theme, language } = usePreferences();
  const signOut = useSignOut();
  const [problem, setProblem] = useState<Error>();
  const leave = (everywhere: boolean) => {
    setProblem(undefined);
    void signOut(everywhere).then(() => navigate(pathTo(), { replace: true }), setProblem);
  };
  return (
    <div className="account">
      {problem && <Problem error={problem} />}
      <Menu label={t(session.role === 'admin' ? 'role.admin' : 'role.viewer')} className="account-button">
        {(['system', 'light', 'dark'] as const).map((one) => (
          <MenuItem key={one} isChecked={theme === one} onSelect={() => setPreferences({ theme: one })}>
            {t(`theme.${one}`)}
          </MenuItem>
        ))}
        <MenuSeparator />
        <MenuItem isChecked={language === 'en'} onSelect={() => setPreferences({ language: 'en' })}>
          English
        </MenuItem>
        <MenuItem isChecked={language === 'de'} onSelect={() => setPreferences({ language: 'de' })}>
          Deutsch
        </MenuItem>
        <MenuSeparator />
        <MenuItem onSelect={() => leave(false)}>{t('signOut')}</MenuItem>
        {session.role === 'admin' && <MenuItem onSelect={() => leave(true)}>{t('signOut.everywhere')}</MenuItem>}
      </Menu>
    </div>
  );
}
