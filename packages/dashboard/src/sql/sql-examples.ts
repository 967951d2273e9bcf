import type { TextKey } from '../i18n/text-context.tsx';

/** Statements to begin with. */
export const EXAMPLES: readonly { readonly name: TextKey; readonly sql: string }[] = [
  {
    name: 'sql.examplePages',
    sql: "SELECT pathname, uniqExact(visitor_id) AS visitors, count() AS views\nFROM events\nWHERE type = 'pageview' AND bot = ''\nGROUP BY pathname\nORDER BY visitors DESC\nLIMIT 20",
  },
  {
    name: 'sql.exampleEvents',
    sql: "SELECT event_name, count() AS events, sum(value) AS value\nFROM events\nWHERE type = 'event' AND NOT startsWith(event_name, '$')\nGROUP BY event_name\nORDER BY events DESC\nLIMIT 20",
  },
  {
    name: 'sql.exampleSessions',
    sql: 'SELECT toDate(started_at) AS day, count() AS visits, round(avg(duration_seconds)) AS seconds\nFROM sessions\nGROUP BY day\nORDER BY day DESC\nLIMIT 30',
  },
];
