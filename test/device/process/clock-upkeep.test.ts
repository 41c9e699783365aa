import { describe, expect, it } from 'vitest';
import type { ServerTime } from '../../../src/core/time-sources.ts';
import { keepClock } from '../../../src/device/process/clock-upkeep.ts';
import type { Log } from '../../../src/ports/log.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const NOW = Date.UTC(2026, 5, 1);
const DAY_MS = 86_400_000;
const TIME: ServerTime = { date: NOW, validFrom: NOW - DAY_MS, validTo: NOW + DAY_MS };

interface Setup {
  readonly wall: number | null;
  readonly answer?: ServerTime | null;
  /** No service sets the clock. */
  readonly alone?: boolean;
  readonly sources?: readonly string[];
}

function cared({ wall, answer = TIME, alone = false, sources = ['https://a/', 'https://b/'] }: Setup) {
  const clock = createVirtualClock(1000, wall);
  const logged: [string, string][] = [];
  const at = (level: string) => (_fields: object, sentence: string) => void logged.push([level, sentence]);
  const log: Log = {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
  const asked: string[] = [];
  const requested: number[] = [];
  let sets = 0;
  const care = keepClock({
    clock,
    log,
    sources,
    async ask(source) {
      asked.push(source);
      return source === sources.at(-1) ? answer : null;
    },
    request: alone ? null : async (wallMs) => void requested.push(wallMs),
    set: () => {
      sets += 1;
    },
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) {
      clock.advance(500);
      for (let turn = 0; turn < 9; turn++) await Promise.resolve();
    }
  };
  const errors = (): string[] =>
    logged.filter(([level]) => level === 'error').map(([, sentence]) => sentence);
  return { clock, logged, asked, requested, care, pass, errors, sets: () => sets };
}

describe('a clock that is not set', () => {
  it('is logged, requested at once, and detected within seconds when set', async () => {
    const world = cared({ wall: null });
    expect(world.logged[0]).toEqual(['warn', expect.stringMatching(/^the clock is not set/)]);
    await world.pass(500);
    expect(world.asked).toEqual(['https://a/', 'https://b/']);
    expect(world.requested).toEqual([NOW]);
    world.clock.setWall(NOW);
    await world.pass(2500);
    expect(world.sets()).toBe(1);
    expect(world.errors()).toEqual([]);
    expect(world.clock.armed).toBeLessThanOrEqual(1);
    await world.pass(600_000);
    expect(world.asked).toHaveLength(2);
    expect(world.errors()).toEqual([]);
    expect(world.clock.armed).toBe(0);
  });

  it('is requested at growing intervals, until any source sets it', async () => {
    const world = cared({ wall: null, answer: null });
    await world.pass(600_000);
    const asks = world.asked.length / 2;
    expect(asks).toBeGreaterThanOrEqual(11);
    expect(asks).toBeLessThanOrEqual(15);
    expect(world.requested).toEqual([]);
    world.clock.setWall(NOW);
    await world.pass(2500);
    expect(world.sets()).toBe(1);
  });

  it.each([
    ['before this program', { ...TIME, date: Date.UTC(2023, 0, 1), validFrom: 0 }],
    ['after its own certificate', { ...TIME, date: NOW + 2 * DAY_MS }],
    ['before its own certificate', { ...TIME, date: NOW - 2 * DAY_MS }],
    ['in a century', { date: Date.UTC(2126, 0, 1), validFrom: 0, validTo: Date.UTC(2200, 0, 1) }],
  ])('is not set by a server whose time is %s', async (_when, answer) => {
    const world = cared({ wall: null, answer });
    await world.pass(60_000);
    expect(world.requested).toEqual([]);
  });

  it('is logged once as an error when no service sets it although the time is known', async () => {
    const deaf = cared({ wall: null });
    await deaf.pass(300_000);
    expect(deaf.errors()).toEqual([expect.stringContaining('dragoman-clock.path')]);
    expect(deaf.requested.length).toBeGreaterThan(3);
    const alone = cared({ wall: null, alone: true });
    await alone.pass(300_000);
    expect(alone.errors()).toEqual([expect.stringContaining('dragoman-clock.path')]);
  });

  it('is not checked any more after the end', async () => {
    const world = cared({ wall: null });
    world.care.end();
    await world.pass(60_000);
    expect(world.requested).toEqual([]);
    expect(world.clock.armed).toBe(0);
  });
});

describe('a clock that is set', () => {
  it('costs nothing until a certificate is not valid yet', async () => {
    const world = cared({ wall: NOW });
    await world.pass(60_000);
    expect([world.asked, world.logged, world.clock.armed]).toEqual([[], [], 0]);
  });

  it('is set forward when it is slow', async () => {
    const world = cared({ wall: NOW - 300 * DAY_MS });
    world.care.doubt();
    world.care.doubt();
    await world.pass(500);
    expect(world.requested).toEqual([NOW]);
    world.clock.setWall(NOW);
    await world.pass(2500);
    expect(world.sets()).toBe(1);
  });

  it('is left unchanged when servers agree with it: the certificate is wrong', async () => {
    const world = cared({ wall: NOW + 1000 });
    world.care.doubt();
    await world.pass(500);
    expect([world.asked.length, world.requested, world.clock.armed]).toEqual([2, [], 0]);
    world.care.doubt();
    expect(world.asked).toHaveLength(2);
    await world.pass(6000);
    world.care.doubt();
    expect(world.asked.length).toBeGreaterThan(2);
  });
});
