import * as Ariakit from '@ariakit/react';
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from './icon.tsx';

interface Props {
  readonly title: string;
  readonly wide?: boolean;
  /** What gets the focus when the dialog closes. Default, also if `current` is null: the control that opened the dialog. */
  readonly finalFocus?: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Fields at the beginning of a dialog. A field below a long text would scroll the text out of sight. */
const FIRST_FIELD = 'form > :first-child :is(input, select), input[type=search]';

/**
 * A modal dialog. It is open while it is rendered. Escape, the backdrop and the button close it. If the dialog begins with a field, the field has
 * the focus at first.
 */
export function Dialog({ title, wide = false, finalFocus, onClose, children }: Props) {
  const { t } = useTexts();
  const body = useRef<HTMLDivElement>(null);
  const [opener] = useState(menuButton);
  // The same object in each rendering, because another one would move the focus again. A getter, because the field does not exist yet.
  const [firstField] = useState(() => ({
    get current() {
      return body.current?.querySelector<HTMLElement>(FIRST_FIELD) ?? null;
    },
  }));
  return (
    <Ariakit.Dialog
      open
      onClose={onClose}
      className={wide ? 'dialog wide' : 'dialog'}
      backdrop={<div className="backdrop" />}
      preventBodyScroll={false}
      initialFocus={firstField}
      finalFocus={finalFocus ?? opener}
    >
      <header className="dialog-head">
        <Ariakit.DialogHeading className="dialog-title">{title}</Ariakit.DialogHeading>
        <Ariakit.DialogDismiss className="icon-button" aria-label={t('close')}>
          <Icon name="close" />
        </Ariakit.DialogDismiss>
      </header>
      <div className="dialog-body" ref={body}>
        {children}
      </div>
    </Ariakit.Dialog>
  );
}

/** The button of the menu whose entry opened the dialog. The entry goes away, so it cannot get the focus back. */
function menuButton(): HTMLElement | null {
  const menu = document.activeElement?.closest('[role=menu]');
  return document.getElementById(menu?.getAttribute('aria-labelledby') ?? '');
}

/**
 * The heading of the section that contains the control. It can get the focus when the control is removed. Otherwise, a reader with a keyboard would
 * have to begin at the top of the page again.
 */
export function headingOf(control: Element | null): HTMLElement | null {
  const heading = control?.closest('section:has(h2)')?.querySelector('h2') ?? null;
  heading?.setAttribute('tabindex', '-1');
  return heading;
}

/** `finalFocus` for a dialog, and a function after which the dialog gives the focus to the heading of the section that has opened it. */
export function useFinalHeading(): readonly [finalFocus: RefObject<HTMLElement | null>, leave: () => void] {
  const [[opener, heading]] = useState(() => [menuButton(), headingOf(document.activeElement)] as const);
  const finalFocus = useRef(opener);
  const leave = (): void => {
    finalFocus.current = heading;
  };
  return [finalFocus, leave];
}

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  /** The action removes or disables the control that opened the dialog. */
  readonly removes?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks for a confirmation. Confirming calls `onConfirm` and closes the dialog. */
export function ConfirmDialog({ title, text, action, removes = false, onConfirm, onClose }: ConfirmProps) {
  const { t } = useTexts();
  const [finalFocus, leave] = useFinalHeading();
  return (
    <Dialog title={title} finalFocus={finalFocus} onClose={onClose}>
      <p>{text}</p>
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          {t('cancel')}
        </button>
        <button
          type="button"
          className="button danger"
          onClick={() => {
            if (removes) leave();
            onConfirm();
            onClose();
          }}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
