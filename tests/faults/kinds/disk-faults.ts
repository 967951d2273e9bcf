import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { type FileSystem, mountSmallDisk, type SmallDisk, whyNoMount } from '../small-disk.ts';
import { type Embedded, openEmbedded } from '../suite/embedded-subject.ts';
import type { Fault, Round } from '../suite/fault.ts';
import { embedded, type Runnable } from '../suite/runnable.ts';

const DISK_MB = 1024;
const RESERVE_MB = '64';
const FULL_MS = 1_000;
/** LMDB writes these folders without fsync: the state of the enricher, and the claims of idempotency keys of the gateway. */
const UNSYNCED = ['state', 'claims'] as const;

interface OnSmallDisk extends Embedded {
  readonly disk: SmallDisk;
}

async function openOnDisk(type: FileSystem): Promise<OnSmallDisk> {
  const disk = mountSmallDisk(type, DISK_MB);
  const options = { dataDir: disk.folder, env: { WEIR_DISK_RESERVE_MB: RESERVE_MB } };
  try {
    return { disk, ...(await openEmbedded(options, async () => disk.unmount())) };
  } catch (error) {
    disk.unmount();
    throw error;
  }
}

const fullDisk = (name: string, about: string, type: FileSystem, how: 'fill' | 'takeAtOnce'): Fault<OnSmallDisk> => ({
  ...{ name, about, problem: whyNoMount },
  open: () => openOnDisk(type),
  async strike({ disk, client }, { over }) {
    disk[how]();
    await eventually('Weir to see the full disk', async () => (await client.send({ path: '/readyz' })).status === 503);
    await pause(FULL_MS); // the disk is full for a while, so the pause is part of the test
    disk.release();
    over();
  },
});

/**
 * A power cut: data that the file system has not written to the disk is lost. After a restart of the machine, Weir does not trust the folders
 * `UNSYNCED`. It recognises the restart by the file `last-boot` (packages/adapters/src/lmdb/lmdb-power-loss.ts). This machine does not restart,
 * so the test changes the file.
 */
const POWER_CUT: Fault<OnSmallDisk> = {
  name: 'power-cut',
  about: 'the machine loses its power: everything that was not synced to the disk is lost',
  problem: whyNoMount,
  open: () => openOnDisk('ext4'),
  async strike({ weir, disk }, { over }) {
    await weir.kill9();
    disk.cutPower();
    for (const folder of UNSYNCED) writeFileSync(join(disk.folder, folder, 'last-boot'), 'another boot');
    over();
    await weir.restart();
  },
};

/** The file system becomes read-only, as ext4 does after an error of the disk. Mounting it again repairs it. */
const READ_ONLY: Fault<OnSmallDisk> = {
  name: 'disk-read-only',
  about: 'the file system becomes read-only after an error, and is mounted again',
  problem: whyNoMount,
  open: () => openOnDisk('ext4'),
  async strike({ weir, disk }, { over }) {
    disk.abort();
    await eventually('Weir not to be ready', async () => {
      const answer = await weir.client.send({ path: '/readyz', timeoutMs: 2_000 }).catch(() => undefined);
      return answer?.status !== 200;
    });
    await weir.kill9();
    disk.mountAgain();
    over();
    await weir.restart();
  },
};

/** Damages the files of the enricher's state and of the gateway's claims while Weir is down. Weir must rebuild both, because they are only caches. */
const damagedState = (name: string, about: string, damage: (file: string, round: Round) => void): Fault<Embedded> => ({
  ...{ name, about },
  open: () => openEmbedded(),
  shares: 'plain',
  async strike({ weir }, round) {
    await weir.kill9();
    for (const folder of UNSYNCED) damage(join(weir.dataDir, folder, 'data.mdb'), round);
    round.over();
    // Opening a damaged file can end the process, because LMDB accesses a missing part of it. The next start does not use that file. Each of the
    // two files can end one start.
    const again = (): Promise<unknown> => weir.kill9().then(() => weir.restart());
    await weir.restart().catch(again).catch(again);
  },
});

export const DISK_FAULTS: readonly Runnable[] = [
  embedded(fullDisk('disk-full', 'the disk fills up in small pieces, and is freed', 'ext4', 'fill')),
  embedded(
    fullDisk('disk-full-at-once', 'another program takes the whole disk at once, and frees it', 'tmpfs', 'takeAtOnce'),
  ),
  embedded(POWER_CUT),
  embedded(READ_ONLY),
  embedded(
    damagedState('state-deleted', 'the folders of state and claims are deleted while Weir is down', (file) =>
      rmSync(dirname(file), { recursive: true }),
    ),
  ),
  embedded(
    damagedState(
      'state-truncated',
      'the files of state and claims lose a random part of their ends',
      (file, { random }) => truncateSync(file, Math.floor((0.1 + 0.8 * random()) * statSync(file).size)),
    ),
  ),
];
