interface Install {
  readonly id: string;
  readonly name: string;
  /** The example needs an API key. */
  readonly isServer?: true;
  code(origin: string, siteId: string): string;
}

const tag = (origin: string, siteId: string): string =>
  `<script defer src="${origin}/weir.js" data-site="${siteId}"></script>`;

/** Examples for the ways to send hits. `WEIR_KEY` is an API key of the site, and `WEIR` the folder of a checkout of Weir. */
export const INSTALLS: readonly Install[] = [
  { id: 'html', name: 'HTML', code: tag },
  {
    id: 'npm',
    name: 'npm',
    code: (origin, siteId) =>
      `// npm install $WEIR/dist/packages/snippet\nimport { createWeir } from '@weir/snippet';\n\nconst weir = createWeir({ site: '${siteId}', src: '${origin}/' });\nweir.pageview();\nweir.track('signup');`,
  },
  {
    id: 'next',
    name: 'Next.js',
    code: (origin, siteId) =>
      `// app/layout.tsx\nimport Script from 'next/script';\n\n<Script defer src="${origin}/weir.js" data-site="${siteId}" />`,
  },
  {
    id: 'wordpress',
    name: 'WordPress',
    code: (origin, siteId) =>
      `// functions.php of the theme\nadd_action('wp_head', function () {\n  echo '${tag(origin, siteId)}';\n});`,
  },
  {
    id: 'curl',
    name: 'curl',
    isServer: true,
    code: (origin) =>
      `curl "${origin}/api/v1/events" \\\n  -H "Authorization: Bearer $WEIR_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"name": "signup", "user_id": "ada", "idempotency_key": "signup-ada"}'`,
  },
  {
    id: 'node',
    name: 'Node',
    isServer: true,
    code: (origin) =>
      `// npm install $WEIR/dist/packages/node-sdk\nimport { env } from 'node:process';\nimport { Weir } from '@weir/node-sdk';\n\nconst weir = new Weir({ url: '${origin}', apiKey: env.WEIR_KEY });\nweir.track('signup', { userId: 'ada' });\nawait weir.close();`,
  },
  {
    id: 'python',
    name: 'Python',
    isServer: true,
    code: (origin) =>
      `import json, os, urllib.request\n\nevent = {"name": "signup", "user_id": "ada", "idempotency_key": "signup-ada"}\nheaders = {"Authorization": f"Bearer {os.environ['WEIR_KEY']}", "Content-Type": "application/json"}\nrequest = urllib.request.Request("${origin}/api/v1/events", json.dumps(event).encode(), headers)\nurllib.request.urlopen(request, timeout=10)`,
  },
  {
    id: 'php',
    name: 'PHP',
    isServer: true,
    code: (origin) =>
      `$request = curl_init('${origin}/api/v1/events');\ncurl_setopt_array($request, [\n  CURLOPT_HTTPHEADER => ['Authorization: Bearer ' . getenv('WEIR_KEY'), 'Content-Type: application/json'],\n  CURLOPT_POSTFIELDS => json_encode(['name' => 'signup', 'user_id' => 'ada', 'idempotency_key' => 'signup-ada']),\n]);\ncurl_exec($request);`,
  },
  {
    id: 'go',
    name: 'Go',
    isServer: true,
    code: (origin) =>
      `body := strings.NewReader(\`{"name": "signup", "user_id": "ada", "idempotency_key": "signup-ada"}\`)\nrequest, _ := http.NewRequest("POST", "${origin}/api/v1/events", body)\nrequest.Header.Set("Authorization", "Bearer "+os.Getenv("WEIR_KEY"))\nrequest.Header.Set("Content-Type", "application/json")\nresponse, err := http.DefaultClient.Do(request)`,
  },
  {
    id: 'ruby',
    name: 'Ruby',
    isServer: true,
    code: (origin) =>
      `require 'json'\nrequire 'net/http'\n\nevent = { name: 'signup', user_id: 'ada', idempotency_key: 'signup-ada' }\nheaders = { 'Authorization' => "Bearer #{ENV.fetch('WEIR_KEY')}", 'Content-Type' => 'application/json' }\nNet::HTTP.post(URI('${origin}/api/v1/events'), event.to_json, headers)`,
  },
  {
    id: 'proxy',
    name: 'nginx, Caddy',
    code: (origin) =>
      `# nginx: Weir under the name of your site\nlocation = /weir.js { proxy_pass ${origin}; }\nlocation = /api/collect {\n  proxy_pass ${origin};\n  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n}\n\n# Caddy\nreverse_proxy /weir.js ${origin}\nreverse_proxy /api/collect ${origin}\n\n# Then set TRUSTED_PROXIES of Weir to the address of the proxy.`,
  },
];
