import { attempt } from './attempt.ts';

/** The visitor of this browser and its session, shared by tabs and by the subdomains of a site. */
export interface Visitor {
  /** [visitor ID, session ID]; made where there are none. `active`: this counts as activity of the session. */
  ids(active?: boolean): readonly [string, string];
  /** Nothing of the visitor stays in this browser. */
  forget(): void;
}

const SESSION_IDLE_MS = 18e5;
const KEPT_SECONDS = 31536e3;
const NAME = 'weir';
// The cookie comes first: subdomains share it. Storage outlives a cleared cookie; memory serves where neither can be written.
const STATE = /\bweir=(\w{32})\.(\w{32})\.(\d+)/;

export function createVisitor(): Visitor {
  let memory = '';

  const write = (state: string): void => {
    memory = state;
    attempt(() => {
      localStorage[NAME] = state;
      if (!state) delete localStorage[NAME];
    });
    attempt(() => {
      // The widest domain that the browser takes; a public suffix is refused silently.
      const labels = location.hostname.split('.');
      for (let from = labels.length; from-- >= 0; ) {
        const domain = from < 0 ? '' : `;domain=${labels.slice(from).join('.')}`;
        // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is missing on pages without TLS and in Firefox
        document.cookie = `${NAME}=${state};path=/;samesite=lax;max-age=${state ? KEPT_SECONDS : 0}${domain}`;
        if (state && document.cookie.includes(state)) break;
      }
    });
  };

  return {
    ids(active) {
      const now = Date.now();
      const cookie = attempt(() => document.cookie);
      const stored = attempt(() => localStorage[NAME]);
      const found = STATE.exec(`${cookie} ${NAME}=${stored} ${NAME}=${memory}`) || [];
      const visitor = found[1] || randomId();
      const fresh = now - +(found[3] || 0) > SESSION_IDLE_MS;
      const session = fresh ? randomId() : (found[2] as string);
      if (active || fresh) write(`${visitor}.${session}.${now}`);
      return [visitor, session];
    },
    forget: () => write(''),
  };
}

/** 128 random bits in hex. `randomUUID` is missing on pages without TLS. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => (byte + 256).toString(16).slice(1)).join('');
}
