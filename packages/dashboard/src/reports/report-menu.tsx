import { useState } from 'react';
import { adminUrl, callAdmin } from '../api/call-admin.ts';
import { useSite } from '../app/site-context.tsx';
import { useTexts } from '../i18n/text-context.tsx';
import { copyText } from '../ui/copy-text.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { useProblemText } from '../ui/states.tsx';
import { weirCommand } from './command-text.ts';
import { downloadCsv, VALUES_MAX } from './download-csv.ts';
import { ExplainButton } from './explain-button.tsx';
import { commandQuery, queryOfReport, type Report } from './report-request-view.ts';
import { statementText } from './statement-text.ts';

/** The menu of a report: an explanation of its numbers, and ways to save or repeat it. */
export function ReportMenu({ report }: { readonly report: Report }) {
  const { t } = useTexts();
  const site = useSite();
  const [note, setNote] = useState('');
  const path = { site_id: site.site_id };
  const query = queryOfReport(report);
  const asked = commandQuery(report);
  const copy = async (text: string) => setNote(t((await copyText(text)) ? 'copied' : 'copy.refused'));
  const problemText = useProblemText();
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      setNote(problemText(error as Error));
    }
  };
  const save = () =>
    attempt(async () => {
      setNote(t('csv.loading'));
      const { hasMore } = await downloadCsv(report, site.site_id);
      setNote(hasMore ? t('csv.cut', { count: VALUES_MAX }) : t('csv.done'));
    });
  const copySql = () =>
    attempt(async () => {
      const { explain } = await callAdmin(report.id, { path, query: { ...query, explain: '1' } as never });
      // The page SQL runs one statement at a time. A comparison has a second statement, which is left out.
      await copy((explain?.statements ?? []).slice(0, 1).map(statementText).join(''));
    });
  return (
    <>
      <span role="status" className="menu-status">
        {note}
      </span>
      <ExplainButton id={report.id} query={query} />
      <Menu bare label={<Icon name="more" size={18} />} name={t('report.more')}>
        <MenuItem onSelect={() => void save()}>{t('csv.save')}</MenuItem>
        <MenuSeparator />
        <MenuItem
          onSelect={() =>
            void copy(
              `curl -H "Authorization: Bearer $WEIR_ADMIN_TOKEN" '${location.origin}${adminUrl(report.id, { path, query: asked as never }).replaceAll("'", '%27')}'`,
            )
          }
        >
          {t('copy.curl')}
        </MenuItem>
        <MenuItem onSelect={() => void copy(weirCommand(report.id, site.site_id, asked))}>{t('copy.weir')}</MenuItem>
        <MenuItem onSelect={() => void copySql()}>{t('copy.sql')}</MenuItem>
        <MenuItem onSelect={() => void copy(location.href)}>{t('copy.link')}</MenuItem>
      </Menu>
    </>
  );
}
