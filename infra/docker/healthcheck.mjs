// The health check of the container. The exit code is 0 if Weir is ready. This is a JavaScript program, because the image has no curl.
const port = process.env.PORT || '8080';
const { ok } = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(4000) }).catch(() => ({
  ok: false,
}));
process.exit(ok ? 0 : 1);
