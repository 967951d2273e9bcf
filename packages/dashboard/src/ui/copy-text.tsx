import { useState } from 'react';
import { useTexts } from '../i18n/text-context.tsx';
import { Icon } from './icon.tsx';
import { ScrollBox } from './scroll-box.tsx';

/** Copies a text. `navigator.clipboard` exists only in secure contexts; on plain HTTP an older command copies a selection. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const focused = document.activeElement as HTMLElement | null;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'off-screen';
  (document.querySelector('[role=dialog]') ?? document.body).append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  focused?.focus();
  return copied;
}

/** A button that copies a text and says whether that worked. */
function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const { t } = useTexts();
  const [result, setResult] = useState<'copied' | 'refused' | undefined>();
  const copy = async () => {
    setResult((await copyText(text)) ? 'copied' : 'refused');
  };
  return (
    <>
      <button type="button" className="button small" onClick={() => void copy()}>
        <Icon name={result === 'copied' ? 'check' : 'copy'} size={15} /> {label}
      </button>
      <span role="status" className={result === 'refused' ? 'note bad' : 'visually-hidden'}>
        {result && t(result === 'copied' ? 'copied' : 'copy.refused')}
      </span>
    </>
  );
}

/** A text to copy, such as a command or a key. */
export function CodeBlock({
  code,
  label,
  copyLabel,
}: {
  readonly code: string;
  readonly label: string;
  readonly copyLabel?: string;
}) {
  const { t } = useTexts();
  return (
    <div className="code-block">
      <ScrollBox label={label} className="code">
        <pre>{code}</pre>
      </ScrollBox>
      <CopyButton key={code} text={code} label={copyLabel ?? t('copy')} />
    </div>
  );
}
