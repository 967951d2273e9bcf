import { openReplayHarness } from './replay-harness.ts';

test('a replay can be dropped while its copy waits because the disk is full', async () => {
  let shortage: string | undefined;
  let copied = 0;
  const weir = await openReplayHarness(10, {
    leading: (deps) => ({
      ...deps,
      disk: { shortage: () => shortage },
      shadow: {
        ...deps.shadow,
        async copy(chunk) {
          await deps.shadow.copy(chunk);
          copied++;
          shortage = 'the disk is full';
        },
      },
    }),
  });
  try {
    expect((await weir.call('POST', '/replays', { from: 'tables' })).status).toBe(201);
    await weir.waits('the disk is full');
    expect((await weir.current()).body.data).toMatchObject({ phase: 'copy', problem: 'the disk is full' });
    await weir.drop();
    expect(copied).toBe(1);
    expect(await weir.count("SELECT count() AS n FROM system.databases WHERE name = 'weir_shadow'")).toBe(0);
  } finally {
    shortage = undefined;
    await weir.close();
  }
}, 240_000);
