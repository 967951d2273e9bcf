import { useState } from 'react';
import type { CallInput, OperationId } from '../api/call-admin.ts';
import { useChange } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Problem } from './states.tsx';

const NAME_CHARS_MAX = 255;

interface Props<Id extends OperationId> {
  readonly title: string;
  readonly label: string;
  /** The call that saves. The dialog closes when it succeeds, and shows its error otherwise. */
  readonly operation: Id;
  /** The operations whose answers the call changes. */
  readonly invalidates: readonly OperationId[];
  /** Returns the parameters of the call that saves under this name. */
  readonly input: (name: string) => CallInput<Id>;
  readonly onClose: () => void;
}

/** Asks for the name under which something is saved. */
export function NameDialog<Id extends OperationId>({
  title,
  label,
  operation,
  invalidates,
  input,
  onClose,
}: Props<Id>) {
  const { t } = useTexts();
  const change = useChange(operation, invalidates);
  const [name, setName] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => change.mutate(input(name.trim()), { onSuccess: onClose })}>
        <label>
          {label}
          <input required maxLength={NAME_CHARS_MAX} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        {change.error && <Problem error={change.error} />}
        <div className="actions">
          <button type="submit" className="button primary" disabled={change.isPending}>
            {t('save')}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
