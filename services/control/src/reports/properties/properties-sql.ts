import { PROPERTY_NAME_CHARS_MAX } from '../dimensions.ts';
import { countVisitors, type Scope, type Statement } from '../report-sql.ts';
import { reportParts } from '../visits/report-parts.ts';

/**
 * The statement returns one row for each custom property that rows of the period have. The properties with the most events come first. Names that are
 * not valid in the dimension `property:NAME` are left out.
 */
export function propertiesStatement(scope: Scope, rowsMax: number): Statement {
  const { parameters, tables, hits } = reportParts(scope, undefined, ['JSONAllPaths(properties) AS property_names']);
  const sql = `${tables}
SELECT name, ${countVisitors('visitor_key')} AS visitors, countIf(type = 'pageview') AS pageviews, countIf(type = 'event') AS events
FROM
(
  SELECT hit.visitor_key AS visitor_key, hit.type AS type, arrayJoin(hit.property_names) AS name
  FROM ${hits}
) AS found
WHERE name != '' AND lengthUTF8(name) <= ${PROPERTY_NAME_CHARS_MAX} AND NOT match(name, '[\\\\x00-\\\\x1f]')
GROUP BY name
ORDER BY events DESC, pageviews DESC, name
LIMIT ${parameters.put('rows', 'UInt32', rowsMax)}`;
  return { sql, params: parameters.values };
}
