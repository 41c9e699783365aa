/** The faults of the simulated world. A seed draws the faults of its run and their frequency. */
import { changeChoices } from '../../src/emulator/core/choices.ts';
import { NO_ANSWER_FAULTS } from './answers.ts';
import { changing, type Fault, OUTAGE_MS, type Stage } from './fault-targets.ts';
import { HOURS_FAULTS, LATER_FAULTS, NAMED_FAULTS, OWNER_FAULTS } from './later-faults.ts';
import { NO_PORT_FAULTS } from './port-faults.ts';
import { SERVICE_FAULTS } from './service-faults.ts';

/** Ends a fault by restarting the device after a while. */
function revive({ dice, device }: Stage, notBeforeMs: number): ReturnType<Fault> {
  return { forMs: notBeforeMs + dice.between(1000, 20_000), end: () => device.start() };
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  ...SERVICE_FAULTS,
  network_black_hole: ({ network, broker, dice }) => {
    const forMs = dice.pick(OUTAGE_MS);
    network.blackHole = true;
    return {
      forMs,
      end() {
        network.blackHole = false;
        if (dice.chance(0.3)) broker.kick();
      },
    };
  },
  network_slow: ({ network, dice }) =>
    changing(
      dice.between(5000, 120_000),
      network,
      { latencyMs: dice.between(100, 900), jitterMs: dice.between(10, 600) },
      { latencyMs: 30, jitterMs: 10 },
    ),
  network_lossy: ({ network, dice }) =>
    changing(dice.between(5000, 120_000), network, { lossShare: dice.between(0.01, 0.1) }, { lossShare: 0 }),
  uplink_slow: ({ network, dice }) =>
    changing(
      dice.between(5000, 90_000),
      network,
      { uplinkBytesPerS: dice.between(15_000, 60_000) },
      { uplinkBytesPerS: Number.POSITIVE_INFINITY },
    ),
  dns_fails: ({ network, host, dice }) => {
    host.fault({ kind: 'drop' });
    return changing(dice.pick(OUTAGE_MS), network, { dnsFails: true }, { dnsFails: false });
  },
  broker_away: ({ broker, host, dice }) => {
    if (dice.chance(0.4)) host.fault({ kind: 'drop' });
    const forMs = dice.pick([...OUTAGE_MS, 600_000] as [number, ...number[]]);
    broker.isDown = true;
    broker.kick();
    return changing(forMs, broker, {}, { isDown: false });
  },
  broker_kicks: ({ broker, dice }) => {
    const forMs = dice.between(5000, 60_000);
    broker.kicks = true;
    broker.kick(dice.pick(['unreachable', 'taken_over']));
    return changing(forMs, broker, {}, { kicks: false });
  },
  backend_away: ({ backend, host, dice }) => {
    if (dice.chance(0.5)) host.fault({ kind: 'drop' });
    return changing(dice.pick(OUTAGE_MS), backend, { isDown: true }, { isDown: false });
  },
  token_denied: ({ backend, host, dice }) => {
    host.fault({ kind: 'drop' });
    return changing(dice.between(3000, 30_000), backend, { denies: true }, { denies: false });
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
    const forMs = dice.between(10_000, 60_000);
    return changing(forMs, answers, { lateMs: dice.pick([3000, 8000, 25_000, 70_000]) }, { lateMs: 0 });
  },
  microphone_unplugged: ({ microphone, dice }) => {
    const forMs = dice.pick([1000, 20_000, 300_000]);
    microphone.unplug();
    return { forMs, end: () => microphone.replug() };
  },
  microphone_hangs: ({ microphone, dice }) =>
    changing(dice.pick([400, 1500, 12_000, 60_000]), microphone, { hung: true }, { hung: false }),
  microphone_off_pace: ({ microphone, dice }) => {
    const { ppm } = microphone;
    const forMs = dice.between(20_000, 120_000);
    return changing(forMs, microphone, { ppm: dice.pick([-40_000, -5000, 5000, 40_000]) }, { ppm });
  },
  xrun: ({ microphone, dice }) => void microphone.xrun(dice.whole(1, 100)),
  speaker_unplugged: ({ speaker, dice }) => {
    const forMs = dice.pick([1000, 12_000, 60_000]);
    speaker.unplug();
    return { forMs, end: () => speaker.back() };
  },
  kill: (stage) => {
    stage.device.kill();
    return revive(stage, 0);
  },
  sigterm: (stage) => {
    stage.device.stop();
    return revive(stage, 10_001);
  },
  clock_jumps: ({ clock, dice }) =>
    void clock.setWall(dice.pick([null, Date.UTC(2000, 0, 1), Date.UTC(2026, 0, 15), Date.UTC(2040, 0, 1)])),
  service_clock_skew: ({ host, dice }) =>
    void host.fault({ kind: 'clock_skew', ms: dice.between(-1e9, 1e9) }),
  operator: ({ operator }) => operator.sendAny() as undefined,
  ...LATER_FAULTS,
  ...NAMED_FAULTS,
  ...OWNER_FAULTS,
  ...HOURS_FAULTS,
};

/** Ends all faults and restores what they changed. */
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
  stage.owner?.restore();
  host.output.isZombie = false;
  host.output.clear();
  if (microphone.unplugged) microphone.replug();
  microphone.hung = false;
  microphone.ppm = 100;
  speaker.back();
}
