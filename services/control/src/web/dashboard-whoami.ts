/** The part of the dashboard's script that shows the client IP of this request, and warns if trusted proxies are missing. */
export const DASHBOARD_WHOAMI = `async function showWhoami() {
  const me = await call('/whoami');
  const place = [me.city, me.region, me.country].filter(Boolean).join(', ') || (me.country === null ? 'not known' : 'not in the geo data');
  const from = me.header === null ? 'the connection itself' : 'header ' + me.header + ', trusted from ' + me.connection;
  const facts = [['Address', me.address], ['Found by', from], ['Place', place], ['Geo data', me.geo.data + (me.geo.problem ? ' (the new file is refused: ' + me.geo.problem + ')' : '')]];
  for (const [name, value] of Object.entries(me.sent)) facts.push(['Sent ' + name, value]);
  const advice = me.advice.map((text) => node('p', text, 'advice'));
  $('whoami').replaceChildren(...advice, table(['Question', 'Answer'], facts));
  $('crowded').hidden = !me.crowded_sites || me.crowded_sites.length === 0;
  $('crowded').replaceChildren(...(me.crowded_sites || []).map((site) => node('li',
    site.site_id + ': at least ' + site.percent + ' % of the last ' + number.format(site.hits) + ' hits come from one '
    + (site.private ? 'private network: a proxy that is missing in TRUSTED_PROXIES, or machines of your own.' : 'network. Is a proxy before Weir missing in TRUSTED_PROXIES?'))));
}
`;
