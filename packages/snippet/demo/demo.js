// The script of the demo. It shows what the snippet sends, and calls the snippet as a page would.
const SHOWN_MAX = 50;
const shown = JSON.parse(sessionStorage.demoSent || '[]');

const show = (how, body) => {
  shown.push(`${how} ${body}`);
  sessionStorage.demoSent = JSON.stringify(shown.slice(-SHOWN_MAX));
  list();
};
const list = () => {
  const items = shown.map((text) => Object.assign(document.createElement('li'), { textContent: text }));
  document.getElementById('sent')?.replaceChildren(...items);
};

const { fetch: send } = window;
window.fetch = (url, options) => {
  if (options?.method === 'POST') show('fetch', options.body);
  return send(url, options);
};
const sendBeacon = navigator.sendBeacon.bind(navigator);
navigator.sendBeacon = (url, body) => {
  show('beacon', body);
  return sendBeacon(url, body);
};

// The stub keeps this call until the snippet has loaded.
weir.track('demo_opened', { page: document.title });

addEventListener('DOMContentLoaded', () => {
  list();
  for (const button of document.querySelectorAll('[data-path]')) {
    button.addEventListener('click', () => history.pushState(undefined, '', button.dataset.path));
  }
  const on = (id, run) => document.getElementById(id)?.addEventListener('click', run);
  on('identify', () => weir.identify('ada', { email: 'ada@example.com', name: 'Ada', plan: 'pro' }));
  on('opt-out', () => weir.optOut());
  on('opt-in', () => weir.optIn());
});
