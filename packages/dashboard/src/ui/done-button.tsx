import { useTexts } from '../i18n/text-context.tsx';
import { headingOf } from './dialog.tsx';

/** A button that hides what it belongs to. The heading of its section gets the focus, because the button goes away too. */
export function DoneButton({ onDone }: { readonly onDone: () => void }) {
  const { t } = useTexts();
  return (
    <button
      type="button"
      className="button"
      onClick={(event) => {
        headingOf(event.currentTarget)?.focus();
        onDone();
      }}
    >
      {t('done')}
    </button>
  );
}
