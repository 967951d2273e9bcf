import {
  ENVELOPE,
  jsonResponse,
  nullableText,
  object,
  RETRY_AFTER,
  type Schema,
  successBody,
  text,
} from '@weir/runtime/http/openapi';
import { type AdminOperation, NOT_FOUND } from '../admin-operations.ts';

const session = object({
  role: { enum: ['admin', 'viewer'] },
  sites: {
    type: ['array', 'null'],
    items: text,
    description: 'The IDs of the sites whose reports can be read; null: all.',
  },
  expires_at: { ...nullableText, description: 'When the session ends; null: the request has a token, no session.' },
  viewer: { ...object({ viewer_id: text, name: text }), type: ['object', 'null'], description: 'Null: the admin.' },
  site: {
    ...object({ site_id: text, name: text, domain: text, timezone: text }),
    type: ['object', 'null'],
    description: 'The site of the viewer. Null: the admin.',
  },
  gateway_url: {
    ...nullableText,
    description: 'The address of the gateway for examples: the setting WEIR_PUBLIC_URL; null: it is not set.',
  },
});
const viewer = {
  viewer_id: text,
  site_id: text,
  name: text,
  prefix: { ...text, description: 'The first characters of the token.' },
  created_at: text,
  last_used_at: { ...nullableText, description: 'The hour of the last use; null: never used.' },
};
const SIGNED_OUT: Schema = {
  200: jsonResponse('Signed out; the cookie is removed.', successBody(object({ signed_out: { const: true } }))),
};

export const ACCESS_OPERATIONS = {
  beginSession: {
    id: 'createSession',
    summary: 'Sign in a browser: exchange a token for a session cookie',
    responses: {
      200: jsonResponse('Signed in.', successBody(session), {
        'Set-Cookie': { description: '__Host-weir_session over TLS, otherwise weir_session.', schema: text },
      }),
      401: jsonResponse('The token is not valid.', ENVELOPE),
      403: jsonResponse('The request comes from a page of another origin.', ENVELOPE),
      429: jsonResponse('Too many attempts.', ENVELOPE, RETRY_AFTER),
    },
  },
  readSession: {
    id: 'readSession',
    summary: 'Who is signed in',
    responses: { 200: jsonResponse('The role and its sites.', successBody(session)) },
  },
  endSession: { id: 'endSession', summary: 'Sign out this browser', responses: SIGNED_OUT },
  endSessions: { id: 'endSessions', summary: 'Sign out all browsers of everybody', responses: SIGNED_OUT },
  listViewers: {
    id: 'listViewers',
    summary: 'The viewers of a site, without their tokens',
    responses: {
      200: jsonResponse('The viewers.', successBody({ type: 'array', items: object(viewer) })),
      ...NOT_FOUND,
    },
  },
  createViewer: {
    id: 'createViewer',
    summary: 'Make a token that reads the reports of one site; it is shown once',
    responses: {
      201: jsonResponse('The viewer.', successBody(object({ ...viewer, token: text }))),
      ...NOT_FOUND,
      409: jsonResponse('The site has the maximum number of viewers.', ENVELOPE),
    },
  },
  removeViewer: {
    id: 'removeViewer',
    summary: 'Remove a viewer: its token and its sessions get 401 within a second',
    responses: {
      200: jsonResponse('Removed.', successBody(object({ viewer_id: text, removed: { const: true } }))),
      ...NOT_FOUND,
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;
