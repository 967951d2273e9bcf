import { useEffect, useRef } from 'react';

const TAKES_KEYS =
  'input, select, textarea, [role=dialog], [role=menu], [role=tablist], [contenteditable], section[tabindex]';

/**
 * Calls the function of a key when the reader presses it. A key is an upper-case letter, or a name as in `KeyboardEvent.key`. Keys that are
 * pressed together with Ctrl, Alt or Meta, or in form fields, dialogs, menus, tabs and scrolling regions, are ignored. If several components have a
 * function for the same key, only that with `isFirst` is called.
 */
export function useShortcuts(keys: readonly (readonly [key: string, action: () => void])[], isFirst = false): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
      if (target.closest(TAKES_KEYS)) return;
      const name = event.key.length === 1 ? event.key.toUpperCase() : event.key;
      const [, action] = current.current.find(([key]) => key === name) ?? [];
      if (action === undefined) return;
      // Without this, the browser would also type the key into the first field of a dialog that the function opens.
      event.preventDefault();
      action();
    };
    addEventListener('keydown', press, isFirst);
    return () => removeEventListener('keydown', press, isFirst);
  }, [isFirst]);
}
