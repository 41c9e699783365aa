import { describe, expect, it } from 'vitest';
import { writeDesired } from '../../src/device/config/desired-file.ts';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import { writeTasks } from '../../src/device/lane/runner/accepted-tasks.ts';
import { writeBudget } from '../../src/device/limits/budget-file.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';
import { createMemoryFile } from './memory-file.ts';

const LOST = {
  budgetFile: 'cannot read the budget used so far; counting begins at zero',
  commandFile: 'cannot read the record of earlier commands; beginning a new one',
  desiredFile: 'cannot read the desired configuration from before the last start; ignoring it',
  taskFile: 'cannot read the languages that the service accepted before; ignoring them',
} as const;
type Part = keyof typeof LOST;
const PARTS = Object.keys(LOST) as Part[];
const LATE = 'the disk delivered the saved state late; it is used from here on';

/** An agent with a budget of 10 minutes a day; the test prepares the file of `part`. */
function agentWith(part: Part, prepare: (file: ReturnType<typeof createMemoryFile>) => void) {
  const file = createMemoryFile();
  prepare(file);
  const config = testConfig({ start: 'command' }, { budget: { minutesPerDay: 10 } });
  const deps = createFakeDeps(config, { [part]: file.file } as Partial<AgentDeps>);
  const said = (sentence: string) =>
    deps.logged.filter(([, one]) => one === sentence).map(([, , more]) => more);
  return { deps, file, said };
}

describe.each(PARTS)('the %s', (part) => {
  it.each([
    ['cannot be read', (file: ReturnType<typeof createMemoryFile>) => file.spoil('EIO'), 'EIO'],
    ['is damaged', (file: ReturnType<typeof createMemoryFile>) => file.fill('{'), 'it is damaged'],
    [
      'does not arrive',
      (file: ReturnType<typeof createMemoryFile>) => file.delay(),
      'the disk takes too long',
    ],
  ])('that %s is logged with its name, and the agent starts', async (_how, prepare, reason) => {
    const { deps, said } = agentWith(part, prepare);
    await deps.agent.start();
    deps.brokerUp();
    expect(said(LOST[part])).toEqual([{ file: 'state/memory.json', reason }]);
    expect(deps.agent.publisher.status().status).toBe('idle');
  });

  it('is not logged when it was never written', async () => {
    const { deps, said } = agentWith(part, () => {});
    await deps.agent.start();
    expect(said(LOST[part])).toEqual([]);
  });
});

describe('state that the disk delivers late', () => {
  const day = '2026-01-15';

  it('of the budget is added to the use since then, and the sum is written', async () => {
    const file = createMemoryFile();
    file.fill(writeBudget({ today: { day, usedMs: 480_000, toldFor: 10 }, since: 0, others: [] }));
    const kept = file.text;
    file.delay();
    const config = testConfig({}, { budget: { minutesPerDay: 10 } });
    const deps = createFakeDeps(config, { budgetFile: file.file, timeZone: () => 'UTC' });
    await deps.goLive();
    await deps.clock.elapse(10_000);
    expect(deps.agent.publisher.status().reasons).not.toContain('budget');
    expect(file.text).toBe(kept);
    file.bring();
    await deps.clock.elapse(10_000);
    expect(deps.logged.map(([, sentence]) => sentence)).toContain(LATE);
    const ended = deps.agent.stop();
    await deps.clock.elapse(12_000);
    await ended;
    const [written] = (JSON.parse(file.text ?? '') as { days: { used_ms: number }[] }).days;
    expect(written?.used_ms).toBeGreaterThan(480_000);
  });

  it('of the commands is remembered, and newer commands stay remembered', async () => {
    const before = agentWith('commandFile', () => {});
    await before.deps.agent.start();
    before.deps.brokerUp();
    before.deps.command('mute', { id: 'before' });
    await before.deps.clock.elapse(1000);
    const { deps, file, said } = agentWith('commandFile', (late) => {
      late.fill(before.file.text ?? '');
      late.delay();
    });
    await deps.agent.start();
    deps.brokerUp();
    deps.command('mute', { id: 'since' });
    await deps.clock.elapse(1000);
    expect(deps.answers('mute').at(-1)).toMatchObject({ id: 'since', status: 'ok' });
    expect(said('commands are carried out, but will not be remembered after a restart')).toEqual([
      { problem: 'the file state/memory.json has not been read yet' },
    ]);
    file.bring();
    deps.command('unmute', { id: 'before' });
    deps.command('unmute', { id: 'since' });
    await deps.clock.elapse(61_000);
    const codes = deps.answers('unmute').map((answer) => (answer['error'] as { code: string })?.code);
    expect(codes).toEqual(['id_reused', 'id_reused']);
    expect((JSON.parse(file.text ?? '') as { commands: unknown[] }).commands).toHaveLength(2);
  });

  it('of config/desired does not replace a newer document', async () => {
    const of = (volume: number, version: number) => ({
      from: 'device',
      version,
      body: { version, lanes: { main: { volume } } },
    });
    const bring = async (receive: boolean) => {
      const { deps, file } = agentWith('desiredFile', (late) => {
        late.fill(writeDesired([of(40, 3)]));
        late.delay();
      });
      await deps.agent.start();
      deps.brokerUp();
      if (receive)
        deps.deliver('dragoman/v1/museum/kiosk-01/config/desired', of(60, 4).body, { retain: true });
      file.bring();
      await deps.clock.elapse(2000);
      const reported = deps.sent('config/reported').at(-1)?.body as { version: object };
      return reported.version;
    };
    expect(await bring(false)).toEqual({ device: 3 });
    expect(await bring(true)).toEqual({ device: 4 });
  });

  it('of a task is written again with the others', async () => {
    const { deps, file } = agentWith('taskFile', (late) => {
      late.fill(writeTasks([{ id: 'other', source: 'en', targets: ['de'], voice: null }]));
      late.delay();
    });
    await deps.agent.start();
    file.bring();
    await deps.clock.elapse(1000);
    expect(file.writes.at(-1)).toContain('"other"');
  });

  it('of a task does not replace one that the service accepted since', async () => {
    const file = createMemoryFile();
    file.fill(writeTasks([{ id: 'main', source: 'en', targets: ['de'], voice: null }]));
    file.delay();
    const deps = createFakeDeps(testConfig(), { taskFile: file.file });
    await deps.goLive();
    file.bring();
    await deps.clock.elapse(61_000);
    expect(file.writes.at(-1)).toContain('"es"');
    expect(file.writes.at(-1)).not.toContain('"de"');
  });
});
