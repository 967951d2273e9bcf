/**
 * The part of the dashboard's script that creates, lists and revokes the API keys of the selected site. A new key stays on the
 * page until "Done" is clicked or the sign-in ends, because the server cannot show it again.
 */
export const DASHBOARD_KEYS = `const EXAMPLES = {
  'events:write': ['/api/v1/events', { name: 'signup', user_id: 'u_1', value: 49 }],
  'identify:write': ['/api/identify', { visitor_id: 'v_1', user_id: 'u_1' }],
};
const keysPath = () => '/sites/' + encodeURIComponent($('site').value) + '/keys';
const scopesOf = (key) => key.legacy_identify ? 'legacy identify' : key.scopes.join(', ');

async function showKeys() {
  const path = keysPath();
  $('keys').hidden = !$('site').value;
  if ($('keys').hidden) return;
  const keys = await call(path);
  if (path !== keysPath()) return;
  $('keys-site').textContent = $('site').selectedOptions[0].text;
  $('key-list').replaceChildren(keys.length === 0 ? node('p', 'This site has no API keys yet.', 'none')
    : table(['Name', 'Key ID', 'Scopes', 'Created', ''], keys.map((key) => [
      key.name, key.key_id, scopesOf(key), key.created_at.slice(0, 10), revokeButton(path, key)])));
}

/** Runs a task. Shows its error beside the form, or at the top of the page if the server has refused the admin token. */
async function inKeys(task) {
  $('key-problem').hidden = true;
  $('key-note').textContent = '';
  try { await task(); }
  catch (error) {
    const place = $(token ? 'key-problem' : 'problem');
    place.textContent = error.message;
    place.hidden = false;
  }
}

function revokeButton(path, key) {
  const button = node('button', 'Revoke');
  button.type = 'button';
  button.setAttribute('aria-label', 'Revoke ' + key.name);
  button.addEventListener('click', () => inKeys(async () => {
    if (!confirm('Revoke the API key "' + key.name + '"? Requests with it are refused within a second. You cannot undo this.')) return;
    await call(path + '/' + encodeURIComponent(key.key_id), undefined, 'DELETE');
    if ($('new-key').dataset.keyId === key.key_id) hideNewKey();
    $('key-note').textContent = 'The API key "' + key.name + '" is revoked.';
    // The button is removed with its row, so the keyboard focus must move.
    $('api-keys').focus();
    await showKeys();
  }));
  return button;
}

function showNewKey(made) {
  const [path, body] = EXAMPLES[made.scopes[0]];
  $('new-key').dataset.keyId = made.key_id;
  $('new-key-title').textContent = 'New API key "' + made.name + '" of the site ' + made.site_id;
  $('new-key-text').textContent = made.key;
  $('new-key-curl').textContent = "curl -X POST '" + location.origin + path + "' \\\\\\n  -H 'Authorization: Bearer " + made.key
    + "' \\\\\\n  -H 'Content-Type: application/json' \\\\\\n  -d '" + JSON.stringify(body) + "'";
  $('new-key').hidden = false;
  $('new-key-title').focus();
}

function hideNewKey() {
  $('new-key').hidden = true;
  for (const id of ['new-key-title', 'new-key-text', 'new-key-curl']) $(id).textContent = '';
}

/** navigator.clipboard exists only in secure contexts. On plain HTTP an older command copies the selection. */
async function copy(source) {
  getSelection().selectAllChildren(source);
  const copied = navigator.clipboard
    ? await navigator.clipboard.writeText(source.textContent).then(() => true, () => false)
    : document.execCommand('copy');
  if (!copied) throw new Error('The browser did not allow copying. The text is selected: copy it with the keyboard.');
  $('key-note').textContent = 'Copied.';
}

$('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  inKeys(async () => {
    const kind = $('key-scopes').value;
    const body = { name: $('key-name').value.trim(), ...(kind === 'legacy' ? { legacy_identify: true } : { scopes: kind.split(' ') }) };
    $('key-create').disabled = true;
    try {
      const made = await call(keysPath(), body);
      // If the user has signed out in the meantime, the key is not shown; it is only in the list.
      if (token) showNewKey(made);
      $('key-name').value = '';
    } finally {
      $('key-create').disabled = false;
      // A call without an answer may have created a key, so the list is loaded again.
      if (token) await showKeys();
    }
  });
});
$('new-key-done').addEventListener('click', () => { hideNewKey(); $('key-name').focus(); });
for (const id of ['new-key-text', 'new-key-curl']) $(id + '-copy').addEventListener('click', () => inKeys(() => copy($(id))));
`;
