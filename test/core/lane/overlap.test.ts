import { describe, expect, it } from 'vitest';
import { heardBy } from './heard.ts';
import { situation } from './situations.ts';
import { World } from './world.ts';

const LIMIT_MS = 60_000;
const RUNNING = { message_type: 'current_task', data: { task_status: 'running' } } as const;
const OVER = { message_type: 'max_duration_reached', data: {} } as const;
const REVOKED = { message_type: 'session_revoked', data: {} } as const;
const EOS = { message_type: 'eos', data: {} } as const;

describe('the live session dies', () => {
  it.each([
    ['rolling', 'acquiring'],
    ['rolling, connecting', 'connecting'],
    ['rolling, configuring', 'configuring'],
  ] as const)('while %s: the lane is %s and goes on from there', (name, phase) => {
    const world = situation(name);
    world.speak(4);
    world.says(REVOKED, 1);
    expect(world.phase).toBe(phase);
    expect(world.state.counts).toMatchObject({ revocations: 1, takenBack: 4 });
    if (phase === 'acquiring') world.grant();
    if (phase !== 'configuring') world.open();
    world.taskRuns();
    expect(world.phase).toBe('live');
    world.hush(20);
    expect(world.accounts).toMatchObject({ held: 0, lost: 0 });
    expect(heardBy(world, 2).slice(0, 4)).toEqual(heardBy(world, 1).slice(-4));
  });

  it('while the next one is ready: it takes over at once', () => {
    const world = new World().goReady();
    world.end(1006, '', 1);
    expect(world.state).toMatchObject({ phase: 'live', stream: { id: 2 }, approach: null, retiring: null });
    expect(world.state.counts.takenBack).toBe(6);
    world.speak(2);
    world.hush(15);
    expect(heardBy(world, 2).slice(0, 8)).toEqual([
      ...heardBy(world, 1).slice(-6),
      ...heardBy(world, 2).slice(6, 8),
    ]);
    expect(world.accounts.held).toBe(0);
  });

  it('for a reason that would park it: the next one is there already', () => {
    const world = new World().goReady();
    world.error({ reason: 'intent_mismatch' }, 1);
    expect(world.phase).toBe('live');
    expect(world.notes).not.toContain('parked');
  });
});

describe('a retiring session', () => {
  it.each([
    ['dies', (world: World) => world.end(1006, '', 1)],
    ['is revoked', (world: World) => world.says(REVOKED, 1)],
    ['reaches its limit', (world: World) => world.says(OVER, 1)],
    ['ends by itself', (world: World) => world.says(EOS, 1)],
  ])(
    '%s in a pause: what it had not spoken goes to the next one, which has heard nothing newer',
    (_, happen) => {
      const world = new World().goRetiring();
      happen(world);
      expect(world.state).toMatchObject({ phase: 'live', retiring: null, counts: { failures: 0 } });
      expect(world.state.counts.takenBack).toBeGreaterThanOrEqual(6);
      world.hush(20);
      expect(heardBy(world, 2).filter((at) => heardBy(world, 1).includes(at)).length).toBeGreaterThanOrEqual(
        6,
      );
      expect(world.accounts).toMatchObject({ held: 0, lost: 0 });
    },
  );

  it('dies when the next one has heard newer speech: what it had not spoken is said late', () => {
    const world = new World().goRetiring();
    world.speak(2);
    world.end(1006, '', 1);
    const { takenBack } = world.state.counts;
    expect(takenBack).toBeGreaterThanOrEqual(6);
    world.hush(20);
    const again = heardBy(world, 2).filter((at) => at !== null && heardBy(world, 1).includes(at));
    expect(again).toHaveLength(takenBack);
    expect(world.accounts).toMatchObject({ held: 0, lost: 0 });
  });

  it('dies, and the next one too: all of it is said again in the order in which it was spoken', () => {
    const world = new World().goRetiring();
    world.speak(3);
    world.end(1006, '', 1);
    world.speak(2);
    world.end(1006, '', 2);
    const held = world.state.hold.chunks.map(({ seq }) => seq);
    expect(held.length).toBeGreaterThanOrEqual(11);
    expect(held).toEqual(held.toSorted((one, other) => one - other));
  });

  it('falls silent with something to say: it is asked for a sign of life, and what it owes is said by the next one', () => {
    const world = new World().goRetiring();
    world.pongs = false;
    world.hush(20);
    expect(world.all('ping').filter(({ stream, at }) => stream === 1 && at > world.now - 5000)).toHaveLength(
      1,
    );
    expect(world.all('end_task')).toHaveLength(0);
    expect(world.state).toMatchObject({ phase: 'live', retiring: null, stream: { id: 2 } });
    expect(world.state.counts.takenBack).toBeGreaterThanOrEqual(6);
  });

  it('says nothing to what was heard, and lives: it is ended in order, and that was no speech', () => {
    const world = new World().goRetiring();
    world.hush(16);
    expect(world.last('end_task').stream).toBe(1);
    world.says(EOS, 1);
    expect(world.state).toMatchObject({ phase: 'live', retiring: null, counts: { takenBack: 0 } });
  });

  it('dies before it has ended in order: what it owes is said by the next one', () => {
    const world = new World().goRetiring();
    world.until(() => world.all('end_task').length === 1, 10_000);
    world.end(1006, '', 1);
    expect(world.state.counts.takenBack).toBeGreaterThanOrEqual(6);
  });

  it('dies after it was told to end: it had nothing left to say', () => {
    const world = new World().goRetiring();
    world.until(() => world.all('end_task').length === 1, 10_000);
    world.end(1000, '', 1);
    expect(world.state).toMatchObject({ retiring: null, counts: { takenBack: 0, failures: 0 } });
  });

  it('complains: nobody minds', () => {
    const world = new World().goRetiring();
    world.error({ code: 'SERVICE_TIMEOUT' }, 1);
    world.error({ reason: 'intent_mismatch' }, 1);
    expect(world.state).toMatchObject({ phase: 'live', problem: null, retiring: { stream: { id: 1 } } });
  });

  it('goes at a stop', () => {
    const world = new World().goRetiring();
    world.stop();
    expect(world.state).toMatchObject({ phase: 'draining', retiring: null });
    expect(world.last('end_task').stream).toBe(2);
  });

  it('is gone before a third session is begun', () => {
    const world = new World().goReady({ maxDurationMs: LIMIT_MS });
    world.end(1006, '', 2);
    world.until(() => world.phase === 'rolling', 5000);
    world.grant({ maxDurationMs: 4000 });
    world.open();
    world.taskRuns();
    world.hush(2);
    expect(world.state.retiring?.stream.id).toBe(1);
    while (world.phase === 'live') {
      world.pass(50);
      world.says(
        { message_type: 'validated_transcription', data: { transcription: { language: 'en', text: 'on' } } },
        1,
      );
    }
    expect(world.phase).toBe('rolling');
    expect(world.state.retiring).toBeNull();
  });
});

describe('other languages', () => {
  it.each(['rolling', 'rolling, connecting', 'rolling, configuring', 'rolling, ready'])(
    'ordered while %s: the live session is told, the next one begun anew',
    (name) => {
      const world = situation(name);
      world.orders({ targets: ['fr'] });
      expect(world.phase).toBe('configuring');
      expect(world.last('send_task')).toMatchObject({ stream: 1, targets: ['fr'] });
      expect(world.state.approach).toBeNull();
      world.until(
        () =>
          world.all('poll_task').some(({ at, stream }) => stream === 1 && at >= world.last('send_task').at),
        10_000,
      );
      world.says(RUNNING, 1);
      expect(world.phase).toBe('live');
      world.until(() => world.phase === 'rolling', 20_000);
      world.grant();
      world.open();
      expect(world.last('send_task').targets).toEqual(['fr']);
    },
  );

  it('ordered while the old one retires: only the new one is told', () => {
    const world = new World().goRetiring();
    world.orders({ targets: ['fr'] });
    world.pass(3000);
    expect(world.last('send_task')).toMatchObject({ stream: 2, targets: ['fr'] });
    world.taskRuns();
    expect(world.phase).toBe('live');
  });
});
