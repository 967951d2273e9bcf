import { pathSpellings } from '../parameters.ts';
import type { Scope, Statement } from '../report-sql.ts';
import { reportParts } from '../visits/report-parts.ts';
import { NO_KEY } from '../visits/visit-rows.ts';

/**
 * The statement returns one row for each page before the requested page (`list` is `previous`), each page after it (`next`), and one for the
 * requested page itself (`page`). Before the first view of a visit, and after its last view, the page is the empty text. Views with the same time are
 * in the order that decides the entry and the exit of their visit (row-visits.ts).
 */
export function journeysStatement(scope: Scope, page: string, rowsMax: number): Statement {
  const { parameters, tables, hits } = reportParts(scope, undefined, ['pathname', 'event_id']);
  const path = parameters.put('path', 'String', page);
  const spellings = pathSpellings(page);
  // All spellings of the page count as one page.
  const viewed =
    spellings.length === 1
      ? 'view.3'
      : `if(has(${parameters.put('spellings', 'Array(String)', spellings)}, view.3), ${path}, view.3)`;
  const sql = `${tables}
SELECT step.1 AS list, step.2 AS value, count() AS views, uniqExact(session_key) AS visits
FROM
(
  SELECT session_key, arrayJoin(arrayFilter(place -> pages[place] = ${path}, arrayEnumerate(pages))) AS place,
    arrayJoin([('page', ''), ('previous', pages[place - 1]), ('next', pages[place + 1])]) AS step
  FROM
  (
    SELECT session_key, arrayCompact(arrayMap(view -> ${viewed}, arraySort(groupArray((timestamp, event_key, pathname))))) AS pages
    FROM
    (
      SELECT hit.session_key AS session_key, hit.timestamp AS timestamp, sipHash64(hit.event_id) AS event_key, hit.type AS type, hit.pathname AS pathname
      FROM ${hits}
    ) AS counted
    WHERE type = 'pageview' AND pathname != '' AND session_key != ${NO_KEY}
    GROUP BY session_key
    HAVING has(pages, ${path})
  ) AS visited
) AS stepped
GROUP BY list, value
ORDER BY list, views DESC, value
LIMIT ${parameters.put('rows', 'UInt32', rowsMax)} BY list`;
  return { sql, params: parameters.values };
}
