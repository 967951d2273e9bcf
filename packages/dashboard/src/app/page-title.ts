import { useEffect } from 'react';

/** Sets the title of the browser tab: these parts, then the name of the product. */
export function usePageTitle(...parts: readonly string[]): void {
  const title = [...parts, 'Weir'].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
