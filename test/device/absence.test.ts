/** A command gets exactly one answer, also when the connection breaks or the program ends before it. */
import { describe, expect, it } from 'vitest';
import { closed } from '../service-events.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

async function boot(disk: ReturnType<typeof createMemoryFile>) {
  const deps = createFakeDeps(testConfig(), { commandFile: disk.file });
  await deps.goLive();
  return deps;
}

/** Records whether a message was acknowledged to the broker. */
function receipt() {
  const seen = { held: false, received: false };
  const hold = () => {
    seen.held = true;
    return () => {
      seen.received = true;
    };
  };
  return { seen, hold };
}

describe('the answer to a command', () => {
  it('is published again after a restart until the broker acknowledges it', async () => {
    const disk = createMemoryFile();
    const first = await boot(disk);
    first.withholdAcknowledgements();
    first.command('mute', { id: 'a' });
    first.command('volume', { id: 'b', args: { percent: 30 } });
    await first.clock.elapse(3000);
    expect(first.answers('mute')).toHaveLength(1);
    // Power failure.
    const second = await boot(disk);
    expect(second.answers('mute')).toMatchObject([{ id: 'a', status: 'ok' }]);
    expect(second.answers('volume')).toMatchObject([{ id: 'b', status: 'ok' }]);
    await second.clock.elapse(3000);
    const third = await boot(disk);
    expect(third.answers('mute')).toEqual([]);
  });

  it('is not published again after a clean restart, even if it was acknowledged at the last moment', async () => {
    const disk = createMemoryFile();
    const first = await boot(disk);
    const acknowledge = first.withholdAcknowledgements();
    first.command('mute', { id: 'a' });
    await first.clock.elapse(3000);
    const stopped = first.agent.stop();
    first.lastStream().listener.said(closed('closed'));
    await first.clock.elapse(10);
    acknowledge(true);
    await first.clock.elapse(10_000);
    await stopped;
    expect((await boot(disk)).answers('mute')).toEqual([]);
  });

  it('is published once when the broker delivers the command twice', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    const acknowledge = deps.withholdAcknowledgements();
    deps.command('mute', { id: 'a' });
    await deps.clock.elapse(1000);
    // The connection broke before the broker acknowledged either; the answer waits in the queue.
    const early = receipt();
    deps.command('mute', { id: 'a' }, { again: true, hold: early.hold });
    expect(deps.answers('mute')).toHaveLength(1);
    expect(early.seen).toEqual({ held: true, received: false });
    acknowledge(true);
    expect(early.seen.received).toBe(true);
    const late = receipt();
    deps.command('mute', { id: 'a' }, { again: true, hold: late.hold });
    expect(deps.answers('mute')).toHaveLength(1);
    expect(late.seen.received).toBe(true);
    // The operator sends the command again: that gets another answer.
    deps.command('mute', { id: 'a' });
    expect(deps.answers('mute')).toHaveLength(2);
  });

  it('is published once when a refused command is delivered twice', async () => {
    const deps = await boot(createMemoryFile());
    const acknowledge = deps.withholdAcknowledgements();
    const malformed = { id: 'a', args: 5 };
    deps.command('mute', malformed);
    const early = receipt();
    deps.command('mute', malformed, { again: true, hold: early.hold });
    expect(deps.answers('mute')).toMatchObject([{ error: { code: 'malformed' } }]);
    expect(early.seen.received).toBe(false);
    acknowledge(true);
    expect(early.seen.received).toBe(true);
    deps.command('mute', malformed, { again: true });
    deps.command('mute', malformed);
    expect(deps.answers('mute')).toHaveLength(3);
  });

  it('shortens the wait for the broker, for two minutes', async () => {
    const deps = await boot(createMemoryFile());
    deps.command('stop', { id: 's' });
    deps.lastStream().listener.said(closed('closed'));
    await deps.clock.elapse(30_000);
    expect(deps.urgent).toBe(false);
    const acknowledge = deps.withholdAcknowledgements();
    deps.command('volume', { id: 'a', args: { percent: 30 } });
    await deps.clock.elapse(100);
    expect(deps.urgent).toBe(true);
    await deps.clock.elapse(125_000);
    expect(deps.urgent).toBe(false);
    deps.command('volume', { id: 'b', args: { percent: 31 } });
    await deps.clock.elapse(100);
    expect(deps.urgent).toBe(true);
    acknowledge(true);
    expect(deps.urgent).toBe(false);
  });

  it('is published again after a drop when the broker delivers the command again', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    const end = deps.withholdAcknowledgements();
    deps.command('mute', { id: 'a' });
    await deps.clock.elapse(1000);
    end(false);
    deps.command('mute', { id: 'a' }, { again: true });
    expect(deps.answers('mute')).toHaveLength(2);
  });
});

describe('a command', () => {
  it('that changes something is acknowledged once it is on the disk', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    disk.hang();
    const { seen, hold } = receipt();
    deps.command('mute', { id: 'a' }, { hold });
    await deps.clock.elapse(500);
    expect(seen).toEqual({ held: true, received: false });
    disk.letGo();
    await deps.clock.elapse(0);
    expect(seen.received).toBe(true);
  });

  it.each([
    ['only reads', 'status', {}],
    ['has expired', 'mute', { not_after: '2026-01-15T08:00:00Z' }],
    ['is wrong', 'volume', { args: { percent: 500 } }],
    ['is unknown', 'dance', {}],
    ['has malformed arguments', 'mute', { args: 7 }],
  ])('that %s is acknowledged once its answer has arrived', async (_, name, more) => {
    const deps = await boot(createMemoryFile());
    const acknowledge = deps.withholdAcknowledgements();
    const { seen, hold } = receipt();
    deps.command(name, { id: 'a', ...more }, { hold });
    await deps.clock.elapse(1000);
    expect(deps.answers(name)).toHaveLength(1);
    expect(seen).toEqual({ held: true, received: false });
    acknowledge(true);
    expect(seen.received).toBe(true);
  });

  it('without an id is acknowledged at once', async () => {
    const deps = await boot(createMemoryFile());
    for (const [name, body] of [
      ['mute', 'nothing of ours'],
      ['x'.repeat(65), { id: 'a' }],
    ] as const) {
      const { seen, hold } = receipt();
      deps.command(name, body, { hold });
      expect(seen.received).toBe(true);
    }
  });

  it('is left to the next start when it arrives while the agent ends', async () => {
    const disk = createMemoryFile();
    const deps = await boot(disk);
    const stopped = deps.agent.stop();
    deps.lastStream().listener.said(closed('closed'));
    await deps.clock.elapse(5);
    const { seen, hold } = receipt();
    deps.command('mute', { id: 'a' }, { hold });
    await deps.clock.elapse(10_000);
    await stopped;
    expect(seen).toEqual({ held: true, received: false });
    expect(deps.answers('mute')).toEqual([]);
  });

  it('is carried out at its time or answered with "expired" when it was sent to the fleet during an absence', async () => {
    const deps = await boot(createMemoryFile());
    const all = 'dragoman/v1/museum/all/cmd';
    deps.deliver(`${all}/mute`, { id: 'late', not_after: '2026-01-15T08:00:00Z' });
    deps.deliver(`${all}/volume`, { id: 'fine', args: { percent: 20 }, not_after: '2036-01-15T08:00:00Z' });
    await deps.clock.elapse(1000);
    expect(deps.answers('mute')).toMatchObject([{ id: 'late', status: 'expired' }]);
    expect(deps.answers('volume')).toMatchObject([{ id: 'fine', status: 'ok' }]);
  });
});
