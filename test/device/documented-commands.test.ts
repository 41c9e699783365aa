import { describe, expect, it } from 'vitest';
import { COMMANDS, type CommandName } from '../../src/protocol/mqtt/commands/registry.ts';
import { ready, spoke } from '../service-events.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';

/** These need a supervisor that restarts the agent, the updater, or a certificate. */
const UNSUPPORTED: readonly CommandName[] = ['restart', 'reboot', 'update', 'rollback', 'certificate'];
const SPEECH = spoke(new Uint8Array(48_000), {
  sentence: 'said',
  language: 'es',
  utterance: 'said/0/es',
  last: true,
});
const names = Object.keys(COMMANDS) as CommandName[];

describe('the commands of docs/mqtt.md', () => {
  it.each(names)('%s works as in its example, and answers as documented', async (name) => {
    const loadMenuSound = async () => new Uint8Array(4800);
    const config = testConfig({ twoWay: name === 'turn' ? 'button' : 'off' });
    const deps = createFakeDeps(config, { loadMenuSound });
    await deps.goLive();
    deps.command(name, { id: 'a1', args: COMMANDS[name].example });
    const isFinal = (): boolean =>
      !['accepted', undefined].includes(deps.answers(name).at(-1)?.['status'] as string);
    for (let second = 0; second < 20 && !isFinal(); second++) {
      await deps.clock.elapse(1000);
      // The service accepts every task.
      if (second === 4) deps.service(ready());
      if (second === 5 && name === 'say') deps.service(SPEECH);
    }
    const last = deps.answers(name).at(-1);
    if (UNSUPPORTED.includes(name)) {
      expect(last).toMatchObject({ id: 'a1', status: 'error', error: { code: 'unsupported' } });
      return;
    }
    expect(last).toMatchObject({ id: 'a1', status: 'ok' });
    expect(COMMANDS[name].data.safeParse(last?.['data']).error).toBeUndefined();
  });
});
