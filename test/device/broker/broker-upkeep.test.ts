import { expect, it } from 'vitest';
import { createBrokerUpkeep } from '../../../src/device/broker/broker-upkeep.ts';
import { createEventLoop } from '../../../src/machine/event-loop.ts';
import { createRepeatFilter } from '../../../src/machine/repeat-filter.ts';
import { createRunner } from '../../../src/machine/runner.ts';
import type { DeviceCertificate } from '../../../src/ports/certificate.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const DAY_MS = 86_400_000;
const quiet = (): void => {};

it('counts a refusal of the new certificate before a try at another broker shows another login', () => {
  const clock = createVirtualClock();
  const about = (subject: string) => ({
    subject,
    validFrom: 0,
    validTo: (clock.wall() ?? 0) + 90 * DAY_MS,
  });
  const used: string[] = [];
  let shown: DeviceCertificate['shown'] = 'new';
  const certificate: DeviceCertificate = {
    present: about('CN=present'),
    successor: about('CN=new'),
    request: null,
    get shown() {
      return shown;
    },
    use: (which) => void used.push(which),
    draft: async () => null,
    offer: () => Promise.reject(new Error('not offered')),
    adopt: async () => null,
    drop: async () => null,
  };
  let tries = 0;
  const bus = {
    attempt() {
      tries += 1;
      // That login has a password.
      shown = null;
    },
    reconnect: quiet,
  };
  const brokers = {
    configured: 'mqtts://new',
    previous: 'mqtts://old',
    unreadable: [],
    change: () => true,
    settle: quiet,
  };
  const log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
  const upkeep = createBrokerUpkeep({
    runner: createRunner({ clock, loop: createEventLoop(quiet), defects: quiet }),
    deps: { clock, log, random: () => 0.5, randomHash: () => 'id', certificate, brokers } as never,
    topics: deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' }),
    repeats: createRepeatFilter(clock),
    publisher: { offlineStatus: () => '{}', tell: quiet, condition: quiet } as never,
    troubles: { needed: quiet } as never,
    bus: () => bus as never,
  });
  upkeep.disconnected('refused');
  expect([used, tries]).toEqual([['present'], 1]);
  upkeep.close();
});
