import type { AnchorHTMLAttributes, MouseEvent } from 'react';
import { navigate } from './location.ts';

/** A link to a page of the dashboard. Opens the page without loading the document again. */
export function Link({ href, ...others }: AnchorHTMLAttributes<HTMLAnchorElement> & { readonly href: string }) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(href);
  };
  return <a href={href} onClick={follow} {...others} />;
}
