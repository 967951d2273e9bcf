import { DASHBOARD_KEYS } from './dashboard-keys.ts';
import { DASHBOARD_WHOAMI } from './dashboard-whoami.ts';

/**
 * All data is inserted with textContent, never as HTML. The admin token is in sessionStorage, which ends with the browser tab.
 */
export const DASHBOARD_SCRIPT = `const $ = (id) => document.getElementById(id);
const KEY = 'weir-admin-token';
const number = new Intl.NumberFormat('en');
let token = sessionStorage.getItem(KEY);
let nextSite = 0;
let asked = 0;
let refreshing = false;
const problems = new Map();

function node(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

async function call(path, body, method = body ? 'POST' : 'GET') {
  const init = { method, headers: { authorization: 'Bearer ' + token }, credentials: 'omit' };
  if (body) init.body = JSON.stringify(body);
  const response = await fetch('/api/admin' + path, init).catch(() => { throw new Error('Weir did not answer. Is it running?'); });
  if (response.status === 401) { signOut(); throw new Error('That token is not the admin token.'); }
  // A proxy in front of Weir may answer with its own page.
  const reply = await response.json().catch(() => { throw new Error('The answer (status ' + response.status + ') did not come from Weir.'); });
  if (!response.ok) throw new Error(reply.error.message);
  return reply.data;
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
const clock = (seconds) => Math.floor(Math.round(seconds) / 60) + 'm ' + (Math.round(seconds) % 60) + 's';
const TILES = { visitors: ['Visitors', number], visits: ['Visits', number], pageviews: ['Pageviews', number], events: ['Events', number],
  bounce_rate: ['Bounce rate', percent], visit_duration: ['Visit duration', { format: clock }], views_per_visit: ['Views per visit', number] };
const TOPS = { Pages: 'page', Sources: 'source', Channels: 'channel', Countries: 'country', Browsers: 'browser', Systems: 'os' };

function table(heads, rows) {
  const result = node('table');
  const head = result.createTHead().insertRow();
  heads.forEach((text, index) => head.append(node('th', text, index ? 'n' : '')));
  const body = result.createTBody();
  for (const cells of rows) {
    const row = body.insertRow();
    cells.forEach((cell, index) => {
      const td = node('td', cell instanceof Node ? undefined : cell, index ? 'n' : '');
      if (cell instanceof Node) td.append(cell); else td.title = cell;
      row.append(td);
    });
  }
  return result;
}

function bar(value, max) {
  const meter = node('meter');
  meter.max = max; meter.value = value;
  return meter;
}

async function showSite() {
  if (!$('site').value) return;
  const began = Date.now();
  const turn = ++asked;
  // Only one report is loaded at a time, unless another site or period is selected. The answer for an earlier selection is not
  // shown.
  nextSite = Infinity;
  try {
    const reports = await askReports();
    if (turn === asked) showReports(reports);
  } catch (error) {
    if (turn === asked) throw error;
  } finally {
    // The reports of a large site are expensive, so the next ones are loaded after 20 times the time that these took, also after a failure.
    if (turn === asked) nextSite = Date.now() + Math.max(4000, 20 * (Date.now() - began));
  }
}

async function askReports() {
  const report = (name, more) => call('/sites/' + encodeURIComponent($('site').value) + '/' + name + '?' + new URLSearchParams({
    period: $('period').value, bots: $('bots').checked ? 'include' : 'exclude', ...more }));
  const answers = [report('stats'), ...Object.values(TOPS).map((dimension) => report('breakdown', { dimension, limit: 10 }))];
  // Waits for all requests. Promise.all then throws the first error.
  await Promise.allSettled(answers);
  return Promise.all(answers);
}

function showReports([stats, ...tops]) {
  $('numbers').replaceChildren(...Object.entries(TILES).map(([name, [title, format]]) => {
    const tile = node('div', title);
    const value = stats.totals[name];
    tile.prepend(node('b', value === null ? '\u2013' : format.format(value)));
    return tile;
  }));
  $('tops').replaceChildren(...Object.keys(TOPS).map((name, index) => {
    const { rows } = tops[index];
    const card = node('div');
    const most = Math.max(1, ...rows.map((row) => row.visitors));
    card.append(rows.length === 0 ? node('p', name + ': nothing in this period.', 'none')
      : table([name, '', 'Visitors'], rows.map((row) => [row.value || '(none)', bar(row.visitors, most), number.format(row.visitors)])));
    return card;
  }));
}

async function showPipeline() {
  const consumers = await call('/pipeline');
  const lag = consumers.reduce((sum, consumer) => sum + consumer.lag, 0);
  const stuck = consumers.some((consumer) => consumer.alarm || consumer.last_error);
  $('health').textContent = stuck ? 'needs attention' : lag > 10000 ? 'catching up' : 'live';
  $('pipeline').replaceChildren(table(['Topic', 'Consumer', 'Lag', 'Records/s', 'Dead letters', 'Last error'], consumers.map((consumer) => [
    consumer.topic, consumer.consumer, number.format(consumer.lag), number.format(consumer.rate_per_second),
    consumer.dead_letters === null ? '?' : number.format(consumer.dead_letters), consumer.alarm || consumer.last_error || 'none'])));
}

${DASHBOARD_WHOAMI}
${DASHBOARD_KEYS}
function guarded(task) {
  return async () => {
    try { await task(); problems.delete(task); }
    catch (error) { problems.set(task, error.message); }
    $('problem').textContent = [...new Set(problems.values())].join(' ');
    $('problem').hidden = problems.size === 0;
  };
}

const report = guarded(showSite);
const refresh = guarded(async () => {
  refreshing = true;
  try { await Promise.all([showPipeline(), showWhoami()]); }
  finally { refreshing = false; }
});

async function tick() {
  if (token && !document.hidden) await Promise.all([...(refreshing ? [] : [refresh()]), ...(Date.now() < nextSite ? [] : [report()])]);
}

const start = guarded(async () => {
  $('sign-in').hidden = Boolean(token);
  if (!token) return;
  const sites = await call('/sites');
  $('site').replaceChildren(...sites.map((site) => new Option(site.name + ' (' + site.domain + ')', site.site_id)));
  for (const id of ['board', 'sign-out', 'keys-link']) $(id).hidden = false;
  if (sites.length === 0) throw new Error('There is no site yet: weir site add DOMAIN');
  await Promise.all([tick(), inKeys(showKeys)]);
});

function signOut() {
  token = null;
  sessionStorage.removeItem(KEY);
  for (const id of ['board', 'sign-out', 'keys-link']) $(id).hidden = true;
  $('sign-in').hidden = false; $('health').textContent = '';
  hideNewKey();
}

$('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  problems.clear();
  token = $('token').value.trim();
  $('token').value = '';
  sessionStorage.setItem(KEY, token);
  start();
});
$('sign-out').addEventListener('click', signOut);
for (const id of ['site', 'period', 'bots']) $(id).addEventListener('change', report);
$('site').addEventListener('change', () => inKeys(showKeys));
setInterval(tick, 5000);
start();
`;
