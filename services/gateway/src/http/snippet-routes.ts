import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Router } from 'express';
import { ALLOW_ORIGIN } from './cors.ts';
import { createReplies } from './gateway-reply.ts';
import { methodNotAllowed } from './mount-routes.ts';

interface PublicFile {
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
};
/** Browsers cache the snippet for an hour. For one more day, they use it while they fetch it again, and while Weir is unreachable. */
const SNIPPET_CACHE = 'public, max-age=3600, stale-while-revalidate=86400, stale-if-error=86400';
/**
 * Asks browsers for the Client Hints that the enricher reads (docs/operations.md). Browsers send most of them only on request.
 * Critical-CH is not set: with it, browsers would request the file a second time to add the hints, although all browsers get the same
 * file.
 */
const ACCEPT_CH =
  'Sec-CH-UA-Full-Version-List, Sec-CH-UA-Platform-Version, Sec-CH-UA-Model, Sec-CH-UA-Form-Factors, Sec-CH-UA, Sec-CH-UA-Mobile, Sec-CH-UA-Platform';
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * Serves GET /weir.js, its variants, and the pages of /demo. The files are read and compressed once, at the start, and then served from
 * memory. `publicDir`: the build output of packages/snippet, which is the snippet (weir.js) with its variants, and the pages of demo/.
 */
export function createSnippetRoutes(publicDir: string): Router {
  const router = Router();
  const replies = createReplies('other', () => undefined);
  for (const [path, file] of readPublicFiles(publicDir)) {
    const route = router.route(path);
    route.get((request, response) => {
      response.set(file.headers);
      if (request.fresh) {
        response.status(304).end();
        return;
      }
      const gzip = request.acceptsEncodings('gzip') === 'gzip';
      if (gzip) response.set('Content-Encoding', 'gzip');
      response.end(gzip ? file.gzip : file.plain);
    });
    route.all(methodNotAllowed('GET, HEAD', replies));
  }
  return router;
}

function readPublicFiles(publicDir: string): ReadonlyMap<string, PublicFile> {
  const found = new Map<string, PublicFile>();
  for (const entry of readdirSync(publicDir, { withFileTypes: true, recursive: true })) {
    const extension = posix.extname(entry.name);
    const type = TYPES[extension];
    if (!entry.isFile() || type === undefined) continue;
    const plain = readFileSync(join(entry.parentPath, entry.name));
    const folder = entry.parentPath.slice(publicDir.length).replaceAll('\\', '/');
    const isPage = folder !== '';
    const file = {
      plain,
      gzip: gzipSync(plain, { level: 9 }),
      headers: {
        'Content-Type': type,
        // `W/` makes the ETag weak: the compressed and the plain file differ in their bytes but have the same ETag.
        ETag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
        'Cache-Control': isPage ? 'no-cache' : SNIPPET_CACHE,
        Vary: 'Accept-Encoding',
        'X-Content-Type-Options': 'nosniff',
        'Accept-CH': ACCEPT_CH,
        ...(isPage ? { 'Content-Security-Policy': PAGE_POLICY } : ALLOW_ORIGIN),
      },
    };
    found.set(`${folder}/${entry.name}`, file);
    if (extension === '.html') {
      found.set(entry.name === 'index.html' ? folder : `${folder}/${entry.name.slice(0, -'.html'.length)}`, file);
    }
  }
  return found;
}
