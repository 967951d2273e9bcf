import { useTexts } from '../i18n/text-context.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { PERIOD_KEYS } from './period/period-keys.ts';
import { PERIODS } from './report-state.ts';

export function ShortcutsDialog({
  canCompare,
  onClose,
}: {
  readonly canCompare: boolean;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const keys: readonly (readonly [key: string, text: string])[] = [
    ...PERIODS.map((period) => [PERIOD_KEYS[period], t(`period.${period}`)] as const),
    ['C', t('period.custom')],
    ['←', t('shortcut.earlier')],
    ['→', t('shortcut.later')],
    ...(canCompare ? ([['X', t('shortcut.compare')]] as const) : []),
    ['F', t('filter.add')],
    ['R', t('nav.realtime')],
    ['Esc', t('shortcut.clear')],
    ['?', t('shortcut.title')],
  ];
  return (
    <Dialog title={t('shortcut.title')} onClose={onClose}>
      <dl className="shortcuts">
        {keys.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
