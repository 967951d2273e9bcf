import { duration } from '../../faults/suite/connection-faults.ts';
import type { Fault } from '../../faults/suite/fault.ts';
import type { ServiceName } from '../services.ts';
import { DEPLOYED, type Deployed } from './deployed-subject.ts';

export function serviceFaults(name: ServiceName, shown: string): readonly Fault<Deployed>[] {
  return [
    {
      ...{ ...DEPLOYED, name: `kill-${name}`, about: `\`kill -9\` of ${shown} at a random moment, and a new start` },
      async strike({ weir }, { over }) {
        const service = weir.services[name];
        await service.kill9();
        over();
        await service.up();
      },
    },
    {
      ...{ ...DEPLOYED, name: `stop-${name}`, about: `SIGSTOP of ${shown} for 1 to 10 s, then SIGCONT` },
      async strike({ weir }, round) {
        const service = weir.services[name];
        await service.pause();
        await duration(round);
        service.resume();
      },
    },
  ];
}
