import { useAdmin } from '../api/use-admin.ts';
import { useTexts } from '../i18n/text-context.tsx';
import { CodeBlock } from '../ui/copy-text.tsx';
import { Dialog, useFinalHeading } from '../ui/dialog.tsx';
import { FactsTable } from '../ui/facts-table.tsx';
import { QueryAnswer } from '../ui/states.tsx';

interface Props {
  readonly id: string;
  readonly isBusy: boolean;
  readonly onRedrive: () => void;
  readonly onClose: () => void;
}

/** One dead letter with its payload. A button processes it again. If this is not possible, the dialog says why. */
export function LetterDialog({ id, isBusy, onRedrive, onClose }: Props) {
  const { t, number, time } = useTexts();
  const [finalFocus, leave] = useFinalHeading();
  const letter = useAdmin('showDeadLetter', { path: { letter_id: id } });
  return (
    <Dialog title={t('letters.one')} wide finalFocus={finalFocus} onClose={onClose}>
      <QueryAnswer query={letter} lines={6}>
        {(one) => (
          <>
            <FactsTable
              kind="long"
              facts={[
                [t('letters.failedAt'), time(one.failed_at, undefined, 'full')],
                [t('letters.site'), one.site_id || t('letters.unknownSite')],
                [t('letters.stage'), `${one.stage} (${one.reason})`],
                [t('letters.error'), one.error],
                [t('letters.attempts'), number(one.attempts)],
                [t('letters.position'), `events.raw ${one.partition}/${one.offset}`],
              ]}
            />
            <h3>{t('letters.payload')}</h3>
            <p className="note">{t('letters.payloadHint')}</p>
            <CodeBlock code={readable(one.payload)} label={t('letters.payload')} />
            {one.redrive_problem !== null && <p className="note">{one.redrive_problem}</p>}
            <CodeBlock code={`weir dead-letters redrive ${id}`} label={t('letters.command')} />
            <div className="actions">
              <button
                type="button"
                className="button primary"
                disabled={isBusy || one.redrive_problem !== null}
                onClick={() => {
                  leave();
                  onRedrive();
                }}
              >
                {t('letters.redrive')}
              </button>
            </div>
          </>
        )}
      </QueryAnswer>
    </Dialog>
  );
}

/** JSON with line breaks. A payload that is no JSON is shown as it is. */
function readable(payload: string): string {
  try {
    const value: unknown = JSON.parse(payload);
    // The payload is shown as it is if formatting would change it: JSON.parse rounds numbers of more than 53 bits.
    return JSON.stringify(value) === payload ? JSON.stringify(value, null, 2) : payload;
  } catch {
    return payload;
  }
}
