import { useState } from 'react';
import { adminUrl } from '../api/call-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { copyText } from '../ui/copy-text.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { weirCommand } from './command-text.ts';
import { downloadCsv } from './download-csv.ts';
import { ExplainDialog } from './explain-dialog.tsx';
import { queryOfReport, type Report } from './report-request-view.ts';

/** How a number came about, and ways to take it along. */
export function ReportMenu({ report }: { readonly report: Report }) {
  const { t } = useTexts();
  const site = useSite();
  const [isExplained, setExplained] = useState(false);
  const [note, setNote] = useState('');
  const path = { site_id: site.site_id };
  const query = queryOfReport(report);
  const copy = async (text: string) => setNote(t((await copyText(text)) ? 'copied' : 'copy.refused'));
  const save = async () => {
    setNote(t('csv.loading'));
    try {
      await downloadCsv(report, site.site_id);
      setNote(t('csv.done'));
    } catch (error) {
      setNote((error as Error).message);
    }
  };
  return (
    <>
      <span role="status" className="menu-status">
        {note}
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label={t('explain')}
        title={t('explain')}
        onClick={() => setExplained(true)}
      >
        <Icon name="explain" size={16} />
      </button>
      <Menu bare label={<Icon name="more" size={18} />} name={t('report.more')}>
        <MenuItem onSelect={() => setExplained(true)}>{t('explain')}</MenuItem>
        <MenuItem onSelect={() => void save()}>{t('csv.save')}</MenuItem>
        <MenuSeparator />
        <MenuItem
          onSelect={() =>
            void copy(
              `curl -H "Authorization: Bearer $WEIR_TOKEN" '${location.origin}${adminUrl(report.id, { path, query: query as never }).replaceAll("'", '%27')}'`,
            )
          }
        >
          {t('copy.curl')}
        </MenuItem>
        <MenuItem onSelect={() => void copy(weirCommand(report.id, site.site_id, query))}>{t('copy.weir')}</MenuItem>
        <MenuItem onSelect={() => void copy(location.href)}>{t('copy.link')}</MenuItem>
      </Menu>
      {isExplained && <ExplainDialog report={report} onClose={() => setExplained(false)} />}
    </>
  );
}
