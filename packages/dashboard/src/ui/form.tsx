import { type FormHTMLAttributes, useEffect, useRef } from 'react';

interface Props extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> {
  readonly onSubmit: () => void;
}

/**
 * A form that the page handles itself, so the browser does not load another page. A button that is disabled while it submits loses the focus, so
 * the form returns it.
 */
export function Form({ onSubmit, className = 'form', ...others }: Props) {
  const pressed = useRef<HTMLElement>(null);
  useEffect(() => {
    if (pressed.current === null || pressed.current.matches(':disabled')) return;
    if (document.activeElement === document.body) pressed.current.focus();
    pressed.current = null;
  });
  return (
    <form
      {...others}
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        pressed.current = document.activeElement as HTMLElement | null;
        onSubmit();
      }}
    />
  );
}
