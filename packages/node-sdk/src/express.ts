import { createVisit, type Visit } from './visit.ts';
import type { Weir } from './weir.ts';

/** The members of Express's request that are used here, so that this file does not need the types of Express. */
interface ExpressRequest {
  readonly headers: { readonly cookie?: string | undefined; readonly referer?: string | undefined };
  readonly protocol: string;
  readonly originalUrl: string;
  /** The client IP. It depends on the app's setting `trust proxy`. */
  readonly ip?: string | undefined;
  get(name: string): string | undefined;
  weir?: Visit;
}

/** Express middleware: `app.use(weirMiddleware(weir))`, then `request.weir.track(…)`. */
export function weirMiddleware(weir: Weir) {
  return (request: ExpressRequest, _response: unknown, next: () => void): void => {
    // A request of HTTP/1.0 can lack this header, for example the health check of a proxy.
    const host = request.get('host');
    request.weir = createVisit(weir, {
      cookie: request.headers.cookie,
      url: host ? `${request.protocol}://${host}${request.originalUrl}` : '',
      referrer: request.headers.referer,
      userAgent: request.get('user-agent'),
      ip: request.ip,
    });
    next();
  };
}

declare global {
  namespace Express {
    interface Request {
      weir?: Visit;
    }
  }
}
