import { readFilters } from '@weir/control/reports/filter';
import { formatFilter, parseFilter } from '../src/reports/filter-text.ts';

test.each(['page:matches:^/\\d+\\.html$', 'page:is:a\\,b,c\\\\d,e\\:f', 'property:a\\:b\\c:contains:\\x'])(
  'the dashboard and the admin API read the filter %s in the same way',
  (text) => {
    const parsed = parseFilter(text);
    if (parsed === undefined) throw new Error('not a filter');
    const read = (filter: string) => {
      const filters = readFilters([filter]);
      if ('problem' in filters) throw new Error(filters.problem);
      return filters.value;
    };
    const [inApi] = read(text);
    expect([parsed.operator, parsed.values]).toEqual([inApi?.operator, inApi?.values]);
    expect(read(formatFilter(parsed))).toEqual(read(text));
  },
);
