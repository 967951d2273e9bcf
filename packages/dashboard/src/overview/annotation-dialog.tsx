import { type RefObject, useRef, useState } from 'react';
import { useChange } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Problem } from '../ui/states.tsx';
import type { Annotation } from './annotations-view.ts';
import { localTime, newNoteDay } from './note-time.ts';

interface Props {
  /** Undefined: a new annotation. */
  readonly annotation: Annotation | undefined;
  /** The first moment after the period of the chart. */
  readonly end: string;
  /** Gets the focus if the change can remove the button of the annotation. */
  readonly addButton: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

/** Adds a note to the charts of the site, or changes or removes one. */
export function AnnotationDialog({ annotation, end, addButton, onClose }: Props) {
  const { t } = useTexts();
  const site = useSite();
  const path = { site_id: site.site_id };
  const create = useChange('createAnnotation', ['listAnnotations']);
  const change = useChange('changeAnnotation', ['listAnnotations']);
  const remove = useChange('removeAnnotation', ['listAnnotations']);
  const old = annotation && localTime(annotation.at, site.timezone);
  const [date, setDate] = useState(() => old?.date ?? newNoteDay(end, site.timezone));
  const [time, setTime] = useState(old?.time ?? '');
  const [text, setText] = useState(annotation?.text ?? '');
  const [isAsked, setAsked] = useState(false);
  const finalFocus = useRef<HTMLElement>(null);
  const leave = () => {
    finalFocus.current = addButton.current;
    onClose();
  };
  const error = create.error ?? change.error ?? remove.error;
  const save = () => {
    // A time without an offset is in the time zone of the site.
    const at = { at: time === '' ? date : `${date}T${time}` };
    const words = { text: text.trim() };
    if (annotation === undefined) create.mutate({ path, body: { ...at, ...words } }, { onSuccess: onClose });
    else {
      // The fields have no seconds. So a time that was not edited is not sent, and keeps its seconds.
      const isMoved = date !== old?.date || time !== old.time;
      const body = { ...(isMoved && at), ...words };
      const onSuccess = isMoved ? leave : onClose;
      change.mutate({ path: { ...path, annotation_id: annotation.annotation_id }, body }, { onSuccess });
    }
  };
  return (
    <Dialog title={t(annotation ? 'annotation.edit' : 'annotation.add')} finalFocus={finalFocus} onClose={onClose}>
      <Form onSubmit={save}>
        <label>
          {t('annotation.text')}
          <input required maxLength={500} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <div className="columns">
          <label>
            {t('annotation.date')}
            <input type="date" required value={date} onChange={(event) => setDate(event.target.value)} />
          </label>
          <label>
            {t('annotation.time')}
            <input type="time" value={time} onChange={(event) => setTime(event.target.value)} />
          </label>
        </div>
        <p className="note">{t('annotation.hint', { zone: site.timezone })}</p>
        {error && <Problem error={error} />}
        <div className="actions">
          {annotation && (
            <button
              type="button"
              className="button danger"
              aria-disabled={remove.isPending}
              onClick={() => !remove.isPending && setAsked(true)}
            >
              {t('remove')}
            </button>
          )}
          <button type="submit" className="button primary" disabled={create.isPending || change.isPending}>
            {t('save')}
          </button>
        </div>
      </Form>
      {annotation && isAsked && (
        <ConfirmDialog
          title={t('annotation.removeTitle')}
          text={t('danger.text')}
          action={t('remove')}
          onConfirm={() =>
            remove.mutate({ path: { ...path, annotation_id: annotation.annotation_id } }, { onSuccess: leave })
          }
          onClose={() => setAsked(false)}
        />
      )}
    </Dialog>
  );
}
