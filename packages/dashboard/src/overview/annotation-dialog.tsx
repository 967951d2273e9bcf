import { useState } from 'react';
import { useChange } from '../api/use-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Problem } from '../ui/states.tsx';
import type { Annotation } from './annotations-view.ts';
import { localTime, newNoteDay } from './note-time.ts';

interface Props {
  /** Undefined: a new annotation. */
  readonly annotation: Annotation | undefined;
  /** The first moment after the period of the chart. */
  readonly end: string;
  readonly onClose: () => void;
}

/** Adds a note to the charts of the site, or changes or removes one. */
export function AnnotationDialog({ annotation, end, onClose }: Props) {
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
      change.mutate({ path: { ...path, annotation_id: annotation.annotation_id }, body }, { onSuccess: onClose });
    }
  };
  return (
    <Dialog title={t(annotation ? 'annotation.edit' : 'annotation.add')} onClose={onClose}>
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
              disabled={remove.isPending}
              onClick={() =>
                remove.mutate({ path: { ...path, annotation_id: annotation.annotation_id } }, { onSuccess: onClose })
              }
            >
              {t('remove')}
            </button>
          )}
          <button type="submit" className="button primary" disabled={create.isPending || change.isPending}>
            {t('save')}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
