import { chmodSync, chownSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Card, openRack, type Rack } from '../card/card.ts';
import { visitors } from '../card/kiosk.ts';
import { findMarkers } from '../card/sound.ts';
import { type Kiosk, openKiosk, SERVICE, until } from './kiosk.ts';
import { boot, type Machine } from './machine.ts';

/** Where a kernel's sound cards are; what hides them hides the virtual one. */
const CARDS = '/dev/snd';
/** Debian's group `audio`, which owns the sound cards. */
const AUDIO_GROUP = 29;
const RATE_HZ = 24_000;

const probe = await openRack();
const { missing: noCard } = probe;
await probe.rack?.close();

describe.each(inject('debians'))('sound under the unit, $suite', (debian) => {
  const missing = debian.missing ?? noCard;
  const because = missing === null ? '' : `: skipped, ${missing}`;
  let rack: Rack;
  let machine: Machine;
  let kiosk: Kiosk;
  let sound: Int16Array;
  let count = 0;

  beforeAll(async () => {
    if (missing !== null || debian.missing !== null) return;
    const opened = await openRack(CARDS);
    if (opened.rack === null) throw new Error(opened.missing);
    rack = opened.rack;
    // As a kernel's: root's, and the group's.
    chownSync(rack.folder, 0, AUDIO_GROUP);
    chmodSync(rack.folder, 0o770);
    ({ sound } = await visitors());
    machine = await boot(debian, [{ from: rack.folder, to: CARDS, writable: true }]);
    kiosk = await openKiosk(machine);
  });
  afterAll(async () => {
    await machine?.stop();
    await rack?.close();
  });
  beforeEach(async ({ onTestFailed }) => {
    onTestFailed(async () => void process.stderr.write(await kiosk.lastWords()));
    await kiosk?.reset();
  });

  it.skipIf(missing !== null)(`hears with arecord, speaks with aplay${because}`, async ({ annotate }) => {
    const card = await start();
    const took = await until('speech comes back', async () => foundIn(await card.playback.sound()) >= 20);
    await annotate(
      `${foundIn(await card.playback.sound())} places of the speech heard after ${took.toFixed(0)} ms`,
    );
    expect(await kiosk.journal('warning')).toBe('');

    // What sounded came through children that are under the unit's filter as the agent is.
    const filters = new Map<string, string>();
    for (const [pid, command] of await kiosk.processes()) {
      const program = command.split(' ')[0]?.split('/').at(-1) ?? '';
      const status = await machine.must(['cat', `/proc/${pid}/status`]);
      filters.set(
        program,
        (status.match(/^(?:Seccomp.*|NoNewPrivs|CapEff|CapBnd|Groups).*$/gm) ?? []).join('\n'),
      );
    }
    expect([...filters.keys()].sort()).toEqual(['aplay', 'arecord', 'node']);
    expect(new Set(filters.values()).size).toBe(1);
    expect(filters.get('node')).toMatch(/^Seccomp:\s+2$/m);
    expect(filters.get('node')).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(filters.get('node')).toMatch(/^CapBnd:\s+0+$/m);
  });

  it.skipIf(missing !== null)(`is back with its children after a SIGKILL${because}`, async ({ annotate }) => {
    const card = await start();
    const before = await kiosk.processes();
    expect(before.size).toBe(3);
    await kiosk.systemctl('kill', '--kill-whom=main', '--signal=SIGKILL', SERVICE);
    const took = await until('other children', async () => {
      const after = await kiosk.processes();
      return after.size === 3 && [...after.keys()].every((pid) => !before.has(pid));
    });
    await annotate(`other children after ${took.toFixed(0)} ms`);
    expect(await kiosk.show('NRestarts')).toBe('1');
    await kiosk.live();
    const spoken = (await card.playback.sound()).length;
    await until('speech again', async () => (await card.playback.sound()).length > spoken + RATE_HZ);
  });

  it.skipIf(missing !== null)(`leaves nobody at a card that hangs${because}`, async ({ annotate }) => {
    const card = await start();
    card.capture.control('stall');
    card.playback.control('stall');
    const began = performance.now();
    await kiosk.systemctl('stop', SERVICE);
    await annotate(`stopped after ${(performance.now() - began).toFixed(0)} ms`);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await kiosk.show('Result')).toBe('success');
    expect((await kiosk.processes()).size).toBe(0);
  });

  it.skipIf(missing !== null)(`says that there is no card, and takes one that comes${because}`, async () => {
    const card = await insert();
    card.capture.control('unplug');
    await kiosk.systemctl('start', SERVICE);
    await until('it is told', async () => {
      const status = (await kiosk.retained('status')) as { status: string; reasons: string[] } | null;
      return status?.status === 'degraded' && status.reasons.includes('capture:lost');
    });
    expect(await kiosk.show('ActiveState')).toBe('active');
    expect(await kiosk.journal()).toMatch(/went away|there is no capture device/);
    card.capture.control();
    await until('the microphone', async () =>
      (await card.capture.log()).some(({ event }) => event === 'start'),
    );
  });

  async function insert(): Promise<Card> {
    const id = `Kiosk${++count}`;
    const card = await rack.insert({ id, capture: { sound, loop: true } });
    await kiosk.edit([`Environment=ALSA_CONFIG_PATH=${CARDS}/alsa.conf`]);
    await kiosk.configure({ capture: { device: card.device }, playback: { device: card.device } });
    return card;
  }

  /** The agent hears and speaks with a card of its own. */
  async function start(): Promise<Card> {
    const card = await insert();
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    await until('arecord and aplay', async () => (await kiosk.processes()).size === 3);
    return card;
  }

  /** How many places of the speech that was heard have been spoken; the service gives back what it gets. */
  const foundIn = (timeline: Int16Array): number =>
    findMarkers(timeline, sound.subarray(0, 8 * RATE_HZ), RATE_HZ).filter(({ found }) => found >= 0).length;
});
