/** Each id is carried out once and always gets the same answer, also after a restart. */
import { describe, expect, it } from 'vitest';
import { closed } from '../service-events.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';
import { describeKillMoments } from './kill-moments.ts';
import { createMemoryFile } from './memory-file.ts';

type Disk = ReturnType<typeof createMemoryFile>;

/** An agent with a state file; the test finishes the writes by letting time pass. */
async function boot(disk: Disk) {
  const deps = createFakeDeps(testConfig(), { commandFile: disk.file });
  await deps.goLive();
  return deps;
}
type Fake = Awaited<ReturnType<typeof boot>>;
const muted = (deps: Fake): boolean | undefined => deps.agent.lanes[0]?.state.options.muted;
const warnings = (deps: Fake): unknown[] =>
  deps.logged.filter(([level, sentence]) => level === 'warn' && String(sentence).includes('command'));

describe('an id', () => {
  it('that arrives twice gets the same answer twice, and is carried out once', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    for (let i = 0; i < 3; i++) deps.command('mute', { id: 'same', args: { lane: 'main' } });
    deps.command('unmute', { id: 'other' });
    deps.command('mute', `{"args":{"lane":"main"},"id":"same"}`);
    const answers = deps.answers('mute');
    expect(answers).toHaveLength(4);
    for (const answer of answers) expect(answer).toEqual({ ...answers[0], ts: answer['ts'] });
    expect(muted(deps)).toBe(false);
  });
});

describe('recorded commands', () => {
  it('are on the disk before they are carried out', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    disk.hang();
    deps.command('mute', { id: 'a' });
    await deps.clock.elapse(500);
    expect(disk.writes).toHaveLength(1);
    expect(muted(deps)).toBe(false);
    disk.letGo();
    await deps.clock.elapse(0);
    expect(muted(deps)).toBe(true);
    expect(deps.answers('mute')).toHaveLength(1);
  });

  it('are written at most once a second, and all are carried out in order', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    for (let i = 0; i < 90; i++) deps.command(i % 2 === 0 ? 'mute' : 'unmute', { id: `c${i}` });
    await deps.clock.elapse(5000);
    expect(disk.writes.length).toBeLessThanOrEqual(5);
    expect(deps.answers('mute').length + deps.answers('unmute').length).toBe(90);
    expect(muted(deps)).toBe(false);
  });

  it('get the same answer after a restart, and are not carried out again', async () => {
    const disk = createMemoryFile();
    const first = await boot(disk);
    first.command('mute', { id: 'a' });
    first.command('volume', { id: 'bad', args: { percent: 500 } });
    await first.clock.elapse(3000);
    const second = await boot(disk);
    second.command('mute', { id: 'a' });
    second.command('unmute', { id: 'a' });
    second.command('volume', { id: 'bad', args: { percent: 500 } });
    await second.clock.elapse(3000);
    expect(muted(second)).toBe(false);
    expect(second.answers('mute')).toMatchObject([{ id: 'a', status: 'ok' }]);
    expect(second.answers('unmute')).toMatchObject([{ error: { code: 'id_reused' } }]);
    expect(second.answers('volume')).toMatchObject([
      { error: first.answers('volume')[0]?.['error'] as object },
    ]);
  });

  it('are answered once as interrupted after a power failure, without a request', async () => {
    const disk = createMemoryFile();
    const first = await boot(disk);
    first.deliver('dragoman/v1/museum/all/cmd/mute', { id: 'cut', args: { spread_s: 600 } });
    await first.clock.elapse(1500);
    const second = await boot(disk);
    expect(second.answers('mute')).toMatchObject([{ id: 'cut', error: { code: 'interrupted' } }]);
    await second.clock.elapse(3000);
    second.deliver('dragoman/v1/museum/all/cmd/mute', { id: 'cut', args: { spread_s: 600 } });
    expect(second.answers('mute').at(-1)).toMatchObject({ id: 'cut', error: { code: 'interrupted' } });
    const third = await boot(disk);
    expect(third.answers('mute')).toEqual([]);
  });

  it('have their answer on the disk when the end of the agent interrupts them', async () => {
    const disk = createMemoryFile();
    const first = await boot(disk);
    first.deliver('dragoman/v1/museum/all/cmd/mute', { id: 'w', args: { spread_s: 600 } });
    const stopped = first.agent.stop();
    first.lastStream().listener.said(closed('closed'));
    await first.clock.elapse(10_000);
    await stopped;
    const second = await boot(disk);
    expect(second.answers('mute')).toEqual([]);
    second.deliver('dragoman/v1/museum/all/cmd/mute', { id: 'w', args: { spread_s: 600 } });
    expect(second.answers('mute')).toMatchObject([{ error: { code: 'stopping' } }]);
  });

  it('keep none of their content on the disk, and little else', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    const SECRET = 'S3cretV4lue-abcdefgh';
    deps.command('status', { id: SECRET });
    deps.command('mute', { id: 'b', args: { lane: SECRET } });
    deps.command('languages', { id: 'c', args: { source: SECRET } });
    for (let second = 0; second < 110; second++) {
      for (let i = 0; i < 10; i++) deps.command('mute', { id: `${second}-${i}-${'x'.repeat(100)}` });
      await deps.clock.elapse(1000);
    }
    expect(disk.text).not.toContain(SECRET);
    expect(disk.text).not.toContain('"es"');
    expect(disk.text?.length).toBeLessThan(150_000);
  });
});

/** The disk holds the start of a command, and hangs before its end. */
async function noted() {
  const disk = createMemoryFile();
  const deps = await boot(disk);
  disk.hang();
  deps.command('mute', { id: 'a' });
  disk.letGo();
  disk.hang();
  return { disk, deps };
}

describe('the final answer', () => {
  const codeOf = (answer: object | undefined): string | undefined =>
    (answer as { error?: { code: string } } | undefined)?.error?.code;

  it('to a recorded command is published once it is on the disk, not before, even when asked again', async () => {
    const { disk, deps } = await noted();
    await deps.clock.elapse(100);
    expect(muted(deps)).toBe(true);
    deps.command('mute', { id: 'a' });
    expect(deps.answers('mute')).toEqual([]);
    expect(disk.writes).toHaveLength(2);
    disk.letGo();
    await deps.clock.elapse(0);
    expect(deps.answers('mute')).toMatchObject([{ id: 'a', status: 'ok' }]);
    expect(JSON.parse(disk.text ?? '')).toMatchObject({ commands: [{ status: 'ok' }] });
  });

  it('is given with a note when the disk holds the start but not the end', async () => {
    const { disk, deps } = await noted();
    await deps.clock.elapse(100);
    disk.fail('the disk is full (ENOSPC)');
    disk.letGo();
    await deps.clock.elapse(0);
    expect(muted(deps)).toBe(true);
    deps.command('unmute', { id: 'later' });
    expect(deps.answers('unmute')).toMatchObject([{ status: 'ok' }]);
    expect(deps.answers('mute')).toMatchObject([
      { status: 'ok', note: expect.stringContaining('not on the disk') },
    ]);
    // The operator sends it again all the same: it is not carried out a second time.
    deps.command('mute', { id: 'a' });
    expect(deps.answers('mute')).toHaveLength(2);
    expect(muted(deps)).toBe(false);
    // A restart knows no better.
    const next = await boot(disk);
    next.command('mute', { id: 'a' });
    expect(next.answers('mute').map(codeOf)).toEqual(['interrupted', 'interrupted']);
    expect(next.answers('unmute')).toEqual([]);
  });

  it('waits two seconds for a hanging disk, and is saved when the disk goes on', async () => {
    const { disk, deps } = await noted();
    await deps.clock.elapse(1999);
    expect(deps.answers('mute')).toEqual([]);
    await deps.clock.elapse(1);
    expect(deps.answers('mute')).toMatchObject([
      { status: 'ok', note: expect.stringContaining('do not send') },
    ]);
    await deps.clock.elapse(5000);
    disk.letGo();
    await deps.clock.elapse(60_000);
    expect(JSON.parse(disk.text ?? '')).toMatchObject({ commands: [{ status: 'ok' }] });
    expect(deps.answers('mute')).toHaveLength(1);
    expect((await boot(disk)).answers('mute')).toEqual([]);
  });

  it('is not repeated after a restart when the disk failed from the start', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    disk.fail('the disk is full (ENOSPC)');
    deps.command('mute', { id: 'a' });
    await deps.clock.elapse(100);
    expect(deps.answers('mute')).toMatchObject([{ status: 'ok' }]);
    expect((await boot(disk)).answers('mute')).toEqual([]);
  });

  it('is published before the agent ends, even if the disk hangs', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    deps.deliver('dragoman/v1/museum/all/cmd/mute', { id: 'w', args: { spread_s: 600 } });
    await deps.clock.elapse(1500);
    disk.hang();
    const stopped = deps.agent.stop();
    deps.lastStream().listener.said(closed('closed'));
    await deps.clock.elapse(10_000);
    await stopped;
    expect(deps.answers('mute').at(-1)).toMatchObject({
      error: { code: 'stopping' },
      note: expect.stringContaining('not on the disk'),
    });
    expect((await boot(disk)).answers('mute')).toMatchObject([{ error: { code: 'interrupted' } }]);
  });
});

describe('a disk', () => {
  it('that is full blocks no command and is reported once', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    disk.fail('the disk is full (ENOSPC)');
    for (let i = 0; i < 20; i++) {
      deps.command('mute', { id: `c${i}` });
      await deps.clock.elapse(100);
    }
    expect(deps.answers('mute').filter(({ status }) => status === 'ok')).toHaveLength(20);
    expect(warnings(deps)).toHaveLength(1);
    await deps.clock.elapse(300_000);
    expect(disk.writes.length).toBeLessThan(8);
    disk.fail(null);
    deps.command('mute', { id: 'better' });
    await deps.clock.elapse(61_000);
    expect(disk.text).not.toBeNull();
    expect(warnings(deps)).toHaveLength(1);
  });

  it('that hangs delays commands for two seconds, once', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    disk.hang();
    deps.command('mute', { id: 'a' });
    deps.command('unmute', { id: 'b' });
    await deps.clock.elapse(1999);
    expect(deps.answers('mute')).toEqual([]);
    await deps.clock.elapse(1);
    expect(deps.answers('mute')).toHaveLength(1);
    expect(muted(deps)).toBe(false);
    deps.command('mute', { id: 'c' });
    expect(deps.answers('mute')).toHaveLength(2);
    expect(warnings(deps)).toHaveLength(1);
  });

  it('that holds no record gets a new record', async () => {
    const disk = createMemoryFile();
    disk.fill('{"version":1,"commands":[{"key":5}]}');
    const deps = await boot(disk);
    deps.command('mute', { id: 'a' });
    await deps.clock.elapse(10);
    expect(deps.answers('mute')).toMatchObject([{ status: 'ok' }]);
    expect(JSON.parse(disk.text ?? '')).toMatchObject({
      version: 1,
      commands: [{ at: expect.any(Number) }],
    });
  });
});

/** The long test tries each moment. */
describeKillMoments(3);
