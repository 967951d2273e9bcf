export const DASHBOARD_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Weir</title>
<link rel="stylesheet" href="/dashboard/dashboard.css">
</head>
<body>
<header><h1>Weir</h1><span id="health" role="status"></span><a id="keys-link" href="#api-keys" hidden>API keys</a><button id="sign-out" type="button" hidden>Sign out</button></header>
<main>
<form id="sign-in" hidden>
<label for="token">Admin token</label>
<input id="token" type="password" autocomplete="off" spellcheck="false" required>
<button type="submit">Sign in</button>
<p>Printed at the first start and kept in the data folder, in the file <code>admin-token</code>.</p>
</form>
<p id="problem" role="alert" hidden></p>
<div id="board" hidden>
<ul id="crowded" role="status" hidden></ul>
<section class="bar">
<label for="site">Site</label> <select id="site"></select>
<label for="period">Period</label>
<select id="period"><option value="24h">24 hours</option><option value="7d" selected>7 days</option><option value="30d">30 days</option>
<option value="12mo">12 months</option><option value="all">All time</option></select>
<label><input id="bots" type="checkbox"> with bots</label>
</section>
<section id="numbers" class="tiles"></section>
<section id="tops" class="cards"></section>
<h2 id="api-keys" tabindex="-1">API keys</h2>
<section id="keys" aria-labelledby="api-keys" hidden>
<p>Servers of the site <b id="keys-site"></b> send events and identities with an API key. <code>weir key</code> does the same as this form.</p>
<form id="key-form" class="bar">
<label for="key-name">Name</label> <input id="key-name" type="text" maxlength="255" autocomplete="off" placeholder="backend" required>
<label for="key-scopes">Scopes</label>
<select id="key-scopes"><option value="events:write identify:write">events:write, identify:write</option>
<option value="events:write">events:write</option><option value="identify:write">identify:write</option>
<option value="legacy">legacy identify key</option></select>
<button id="key-create" type="submit">Create key</button>
</form>
<p id="key-problem" class="problem" role="alert" hidden></p>
<p id="key-note" role="status"></p>
<div id="new-key" class="advice" hidden>
<h3 id="new-key-title" tabindex="-1"></h3>
<p>Copy the key now. Weir stores only its hash and cannot show it again.</p>
<p><code id="new-key-text"></code> <button id="new-key-text-copy" type="button">Copy key</button></p>
<p>Try it. If the gateway has another address than this page, put that address into the command.</p>
<pre id="new-key-curl" tabindex="0" aria-label="curl command"></pre>
<p><button id="new-key-curl-copy" type="button">Copy command</button> <button id="new-key-done" type="button">Done</button></p>
</div>
<div id="key-list"></div>
</section>
<h2>Pipeline</h2>
<section id="pipeline"></section>
<h2>Your client IP</h2>
<section id="whoami"></section>
</div>
</main>
<footer><a href="https://db-ip.com" rel="noopener">IP Geolocation by DB-IP</a> (CC BY 4.0)</footer>
<script src="/dashboard/dashboard.js" type="module"></script>
</body>
</html>
`;
