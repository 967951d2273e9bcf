export const DASHBOARD_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Weir</title>
<link rel="stylesheet" href="/dashboard/dashboard.css">
</head>
<body>
<header><h1>Weir</h1><span id="health" role="status"></span><button id="sign-out" type="button" hidden>Sign out</button></header>
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
<h2>Pipeline</h2>
<section id="pipeline"></section>
<h2>You, as Weir sees you</h2>
<section id="whoami"></section>
</div>
</main>
<footer><a href="https://db-ip.com" rel="noopener">IP Geolocation by DB-IP</a> (CC BY 4.0)</footer>
<script src="/dashboard/dashboard.js" type="module"></script>
</body>
</html>
`;
