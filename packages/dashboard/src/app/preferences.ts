import { useSyncExternalStore } from 'react';

/** What this browser remembers: theme and language. They are no secrets and change no data. */
export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark';
  readonly language: 'en' | 'de';
}

const KEY = 'weir-preferences';
const listeners = new Set<() => void>();
let current = read();

function read(): Preferences {
  const wanted = navigator.language.startsWith('de') ? 'de' : 'en';
  const standard: Preferences = { theme: 'system', language: wanted };
  try {
    const { theme, language } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>;
    return {
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
      language: language === 'en' || language === 'de' ? language : wanted,
    };
  } catch {
    // The storage is blocked, or another program has written to it.
    return standard;
  }
}

const preferences = (): Preferences => current;

export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    preferences,
    // The third argument lets tests render pages without a browser.
    preferences,
  );
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

/** Sets the theme on the root element. The styles follow the system if there is no attribute. */
export function applyTheme(): void {
  if (current.theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current.theme;
}
