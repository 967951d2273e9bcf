import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { usePreferences } from '../app/preferences.ts';
import { EN } from './en.ts';
import { createFormats, type Formats } from './formats.ts';

export type TextKey = keyof typeof EN;
/** A text with `{name}` placeholders, or one for each plural form of `{count}`. */
export type Entry = string | { readonly one: string; readonly other: string };
export type Catalogue = Readonly<Record<TextKey, Entry>>;
type Values = Readonly<Record<string, string | number>>;

export interface Texts extends Formats {
  readonly language: string;
  t(key: TextKey, values?: Values): string;
}

const Context = createContext<Texts>(createTexts('en', EN));

export const useTexts = (): Texts => useContext(Context);

function createTexts(language: string, catalogue: Catalogue): Texts {
  const plural = new Intl.PluralRules(language);
  const formats = createFormats(language);
  return {
    ...formats,
    language,
    t(key, values = {}) {
      const entry = catalogue[key];
      const text =
        typeof entry === 'string' ? entry : plural.select(Number(values.count)) === 'one' ? entry.one : entry.other;
      return text.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = values[name] ?? '';
        return typeof value === 'number' ? formats.number(value) : value;
      });
    },
  };
}

/** Loads the texts of the chosen language. English is part of the first load. */
export function TextProvider({ children }: { readonly children: ReactNode }) {
  const { language } = usePreferences();
  const [catalogue, setCatalogue] = useState<{ language: string; entries: Catalogue }>({ language: 'en', entries: EN });
  useEffect(() => {
    let isCurrent = true;
    const load = async (): Promise<Catalogue> => (language === 'de' ? (await import('./de.ts')).DE : EN);
    void load().then((entries) => {
      if (!isCurrent) return;
      document.documentElement.lang = language;
      setCatalogue({ language, entries });
    });
    return () => {
      isCurrent = false;
    };
  }, [language]);
  const texts = useMemo(() => createTexts(catalogue.language, catalogue.entries), [catalogue]);
  return <Context.Provider value={texts}>{children}</Context.Provider>;
}
