/** What can go wrong in the simulated world. A seed picks which of these are on, and how often they come. */
import { changeChoices } from '../../src/emulator/core/choices.ts';
import { NO_ANSWER_FAULTS } from './answers.ts';
import { type Fault, lasting, OUTAGE_MS, type Stage } from './fault-targets.ts';
import { HOURS_FAULTS } from './hours-faults.ts';
import { LATER_FAULTS } from './later-faults.ts';
import { NAMED_FAULTS } from './named-faults.ts';
import { OWNER_FAULTS } from './owner-faults.ts';
import { NO_PORT_FAULTS } from './port-faults.ts';
import { SERVICE_FAULTS } from './service-faults.ts';

/** Restarts the device after a while. */
function revive({ dice, device }: Stage, notBeforeMs: number): ReturnType<Fault> {
  return { forMs: notBeforeMs + dice.between(1000, 20_000), end: () => device.start() };
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  ...SERVICE_FAULTS,
  network_black_hole: ({ network, broker, dice }) =>
    lasting(
      dice.pick(OUTAGE_MS),
      () => {
        network.blackHole = true;
      },
      () => {
        network.blackHole = false;
        if (dice.chance(0.3)) broker.kick();
      },
    ),
  network_slow: ({ network, dice }) =>
    lasting(
      dice.between(5000, 120_000),
      () => {
        network.latencyMs = dice.between(100, 900);
        network.jitterMs = dice.between(10, 600);
      },
      () => {
        network.latencyMs = 30;
        network.jitterMs = 10;
      },
    ),
  network_lossy: ({ network, dice }) =>
    lasting(
      dice.between(5000, 120_000),
      () => {
        network.lossShare = dice.between(0.01, 0.1);
      },
      () => {
        network.lossShare = 0;
      },
    ),
  uplink_slow: ({ network, dice }) =>
    lasting(
      dice.between(5000, 90_000),
      () => {
        network.uplinkBytesPerS = dice.between(15_000, 60_000);
      },
      () => {
        network.uplinkBytesPerS = Number.POSITIVE_INFINITY;
      },
    ),
  dns_fails: ({ network, host, dice }) => {
    host.fault({ kind: 'drop' });
    return lasting(
      dice.pick(OUTAGE_MS),
      () => {
        network.dnsFails = true;
      },
      () => {
        network.dnsFails = false;
      },
    );
  },
  broker_away: ({ broker, host, dice }) => {
    if (dice.chance(0.4)) host.fault({ kind: 'drop' });
    return lasting(
      dice.pick([...OUTAGE_MS, 600_000] as [number, ...number[]]),
      () => {
        broker.isDown = true;
        broker.kick();
      },
      () => {
        broker.isDown = false;
      },
    );
  },
  broker_kicks: ({ broker, dice }) =>
    lasting(
      dice.between(5000, 60_000),
      () => {
        broker.kicks = true;
        broker.kick(dice.pick(['unreachable', 'taken_over']));
      },
      () => {
        broker.kicks = false;
      },
    ),
  backend_away: ({ backend, host, dice }) => {
    if (dice.chance(0.5)) host.fault({ kind: 'drop' });
    return lasting(
      dice.pick(OUTAGE_MS),
      () => {
        backend.isDown = true;
      },
      () => {
        backend.isDown = false;
      },
    );
  },
  token_denied: ({ backend, host, dice }) => {
    host.fault({ kind: 'drop' });
    return lasting(
      dice.between(3000, 30_000),
      () => {
        backend.denies = true;
      },
      () => {
        backend.denies = false;
      },
    );
  },
  token_lost: ({ answers, host }) => {
    answers.lost += 1;
    host.fault({ kind: 'drop' });
    return undefined;
  },
  token_doubled: ({ answers, host }) => {
    answers.doubled += 2;
    host.fault({ kind: 'drop' });
    return undefined;
  },
  token_misaddressed: ({ answers, host }) => {
    answers.misaddressed += 1;
    host.fault({ kind: 'drop' });
    return undefined;
  },
  token_of_another_intent: ({ answers, host }) => {
    answers.wrongIntent += 1;
    host.fault({ kind: 'drop' });
    return undefined;
  },
  token_late: ({ answers, host, dice }) => {
    host.fault({ kind: 'drop' });
    return lasting(
      dice.between(10_000, 60_000),
      () => {
        answers.lateMs = dice.pick([3000, 8000, 25_000, 70_000]);
      },
      () => {
        answers.lateMs = 0;
      },
    );
  },
  microphone_unplugged: ({ microphone, dice }) =>
    lasting(
      dice.pick([1000, 20_000, 300_000]),
      () => microphone.unplug(),
      () => microphone.replug(),
    ),
  microphone_hangs: ({ microphone, dice }) =>
    lasting(
      dice.pick([400, 1500, 12_000, 60_000]),
      () => {
        microphone.hung = true;
      },
      () => {
        microphone.hung = false;
      },
    ),
  microphone_off_pace: ({ microphone, dice }) => {
    const { ppm } = microphone;
    return lasting(
      dice.between(20_000, 120_000),
      () => {
        microphone.ppm = dice.pick([-40_000, -5000, 5000, 40_000]);
      },
      () => {
        microphone.ppm = ppm;
      },
    );
  },
  xrun: ({ microphone, dice }) => void microphone.xrun(dice.whole(1, 100)),
  speaker_unplugged: ({ speaker, dice }) =>
    lasting(
      dice.pick([1000, 12_000, 60_000]),
      () => speaker.unplug(),
      () => speaker.back(),
    ),
  kill: (stage) => {
    stage.device.kill();
    return revive(stage, 0);
  },
  sigterm: (stage) => {
    stage.device.stop();
    return revive(stage, 10_001);
  },
  clock_jumps: ({ clock, dice }) => {
    clock.setWall(dice.pick([null, Date.UTC(2000, 0, 1), Date.UTC(2026, 0, 15), Date.UTC(2040, 0, 1)]));
    return undefined;
  },
  service_clock_skew: ({ host, dice }) => {
    host.fault({ kind: 'clock_skew', ms: dice.between(-1e9, 1e9) });
    return undefined;
  },
  operator: ({ operator }) => operator.meddle() as undefined,
  ...LATER_FAULTS,
  ...NAMED_FAULTS,
  ...OWNER_FAULTS,
  ...HOURS_FAULTS,
};

/** Ends everything that a fault may have left behind. */
export function fixAll(stage: Stage): void {
  const { network, broker, backend, answers, ports, host, microphone, speaker } = stage;
  host.fault({ kind: 'clear' });
  host.isDown = false;
  changeChoices(host.service.choices, { concurrent: 10 });
  Object.assign(network, { blackHole: false, dnsFails: false, lossShare: 0, latencyMs: 30, jitterMs: 10 });
  network.uplinkBytesPerS = Number.POSITIVE_INFINITY;
  Object.assign(broker, { isDown: false, kicks: false });
  Object.assign(backend, { isDown: false, denies: false });
  Object.assign(answers, NO_ANSWER_FAULTS);
  Object.assign(ports, NO_PORT_FAULTS);
  if (stage.owner !== null) Object.assign(stage.owner.disk, { isFull: false, hangs: false });
  stage.owner?.soothe();
  host.output.isZombie = false;
  host.output.clear();
  if (microphone.unplugged) microphone.replug();
  microphone.hung = false;
  microphone.ppm = 100;
  speaker.back();
}
