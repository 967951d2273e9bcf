import * as Ariakit from '@ariakit/react';
import type { ReactNode } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from './icon.tsx';

interface Props {
  readonly title: string;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog. It is open while it is rendered. Escape, the backdrop and the button close it. */
export function Dialog({ title, wide = false, onClose, children }: Props) {
  const { t } = useTexts();
  return (
    <Ariakit.Dialog
      open
      onClose={onClose}
      className={wide ? 'dialog wide' : 'dialog'}
      backdrop={<div className="backdrop" />}
      preventBodyScroll={false}
    >
      <header className="dialog-head">
        <Ariakit.DialogHeading className="dialog-title">{title}</Ariakit.DialogHeading>
        <Ariakit.DialogDismiss className="icon-button" aria-label={t('close')}>
          <Icon name="close" />
        </Ariakit.DialogDismiss>
      </header>
      <div className="dialog-body">{children}</div>
    </Ariakit.Dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks for a confirmation. Confirming calls `onConfirm` and closes the dialog. */
export function ConfirmDialog({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  const { t } = useTexts();
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div className="actions">
        <button type="button" className="button" onClick={onClose}>
          {t('cancel')}
        </button>
        <button
          type="button"
          className="button danger"
          onClick={() => {
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
