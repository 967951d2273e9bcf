import { useState } from 'react';
import { adminUrl, fetchFile } from '../api/call-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { saveFile } from '../ui/save-file.ts';
import { useProblemText } from '../ui/states.tsx';
import type { PersonId } from './person-address.ts';

/** Saves everything that is stored about a person as a JSON file. */
export function SavePerson({ person }: { readonly person: PersonId }) {
  const { t } = useTexts();
  const { site_id } = useSite();
  const problemText = useProblemText();
  const [note, setNote] = useState('');
  const save = async () => {
    setNote(t('csv.loading'));
    try {
      saveFile('person.json', await fetchFile(adminUrl('readPerson', { path: { site_id }, query: person })));
      setNote(t('csv.done'));
    } catch (error) {
      setNote(problemText(error as Error));
    }
  };
  return (
    <>
      <span role="status" className="note">
        {note}
      </span>
      <button type="button" className="button" onClick={() => void save()}>
        {t('person.export')}
      </button>
    </>
  );
}
