// Exit code 0 if this container is ready. (The image has no curl.)
const port = process.env.PORT || '8080';
const { ok } = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4000) }).catch(() => ({
  ok: false,
}));
process.exit(ok ? 0 : 1);
