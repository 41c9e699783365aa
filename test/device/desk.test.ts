import { describe, expect, it } from 'vitest';
import { ready } from '../service-events.ts';
import { createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';

const SILENCE_MS = 320;

async function live(twoWay: string, earcons = true): Promise<FakeDeps> {
  const deps = createFakeDeps(testConfig({ twoWay, earcons }));
  await deps.goLive();
  return deps;
}

const tasks = (deps: FakeDeps): string[] =>
  deps.lastStream().calls.filter((call) => call.startsWith('runTask'));

describe('the command turn', () => {
  it('turns the service round, and its chime is written at once', async () => {
    const deps = await live('button');
    for (let chunk = 0; chunk < 6; chunk++) deps.speak(0, SILENCE_MS);
    const chimes = deps.played.length;
    deps.command('turn', { id: 'c1', args: { speaker: 'target' } });
    expect(deps.played.length).toBe(chimes + 1);
    for (let chunk = 0; chunk < 6; chunk++) deps.speak(0, SILENCE_MS);
    expect(deps.answers('turn')).toMatchObject([{ id: 'c1', status: 'ok' }]);
    expect(tasks(deps).at(-1)).toContain('"source":"es","targets":["en"]');
  });

  it('answers what to set when no key decides who speaks', async () => {
    const deps = await live('auto');
    deps.command('turn', { id: 'c1', args: { speaker: 'target' } });
    expect(deps.answers('turn')).toMatchObject([{ status: 'error', error: { code: 'invalid_args' } }]);
    expect(JSON.stringify(deps.answers('turn'))).toContain('set \\"twoWay\\" to \\"button\\"');
  });

  it('opens the microphone of hold, and closes it when held is false', async () => {
    // The chime of a begun session would close the microphone for a moment.
    const deps = await live('hold', false);
    const loud = (): number => deps.lastStream().audio.filter((pcm) => pcm.some((byte) => byte !== 0)).length;
    deps.speak();
    expect(loud()).toBe(0);
    deps.command('turn', { id: 'c1', args: { speaker: 'source' } });
    deps.speak();
    deps.speak();
    expect(loud()).toBe(2);
    deps.command('turn', { id: 'c2', args: { speaker: 'source', held: false } });
    deps.speak();
    deps.speak();
    deps.speak();
    expect(loud()).toBe(3);
  });
});

describe('the languages of a lane of two directions', () => {
  it('cannot be several, and the conversation goes on', async () => {
    const deps = await live('auto');
    deps.command('languages', { id: 'c1', args: { targets: ['es', 'fr'] } });
    expect(deps.answers('languages')).toMatchObject([{ status: 'error', error: { code: 'invalid_args' } }]);
    deps.deliver('dragoman/v1/museum/kiosk-01/config/desired', {
      version: 1,
      lanes: [{ id: 'main', targets: ['es', 'fr'] }],
    });
    expect(deps.sent('config/reported').at(-1)?.body).toMatchObject({
      errors: [{ key: 'lanes[0].targets', message: expect.stringContaining('must name one language') }],
    });
    expect(deps.agent.lanes[0]?.state.options.targets).toEqual(['es']);
  });

  it('cannot be two forms of one language when the service tells the people apart', async () => {
    const deps = await live('auto');
    deps.command('languages', { id: 'c1', args: { source: 'es-mx' } });
    deps.command('languages', { id: 'c2', args: { targets: ['en-gb'] } });
    expect(deps.answers('languages').map(({ error }) => error)).toEqual([
      {
        code: 'invalid_args',
        message: expect.stringMatching(/^targets: must not be another form of "es-mx".*lane "main"/),
      },
      { code: 'invalid_args', message: expect.stringMatching(/^targets: must not be another form of "en"/) },
    ]);
    expect(deps.agent.lanes[0]?.state.options).toMatchObject({ source: 'en', targets: ['es'] });
  });

  it.each([
    ['nothing is offered', {}],
    ['the only other one is a form of the source', { offer: ['es', 'en-gb'] }],
  ])('have no next one when %s', async (_name, offer) => {
    const deps = createFakeDeps(testConfig({ twoWay: 'auto', ...offer }));
    await deps.goLive();
    deps.command('languages', { id: 'c1', args: { step: 1 } });
    expect(deps.answers('languages').at(-1)).toMatchObject({
      error: { code: 'invalid_args', message: expect.stringContaining('"main" offers no other language') },
    });
    expect(deps.agent.lanes[0]?.state.options.targets).toEqual(['es']);
  });

  it('can be another pair by command, in both directions', async () => {
    const deps = await live('button');
    for (let chunk = 0; chunk < 6; chunk++) deps.speak(0, SILENCE_MS);
    deps.command('languages', { id: 'c1', args: { source: 'de', targets: ['fr'] } });
    for (let chunk = 0; chunk < 6; chunk++) deps.speak(0, SILENCE_MS);
    expect(tasks(deps).at(-1)).toContain('"source":"de","targets":["fr"]');
    await deps.clock.elapse(3000);
    deps.service(ready('running', { targets: ['fr'] }));
    deps.command('turn', { id: 'c2', args: { speaker: 'target' } });
    await deps.clock.elapse(3000);
    for (let chunk = 0; chunk < 8; chunk++) deps.speak(0, SILENCE_MS);
    expect(tasks(deps).at(-1)).toContain('"source":"fr","targets":["de"]');
  });

  it('are the earlier pair of config/desired when a later one is not possible', async () => {
    const deps = await live('auto');
    const desire = (version: number, targets: readonly string[]) =>
      deps.deliver('dragoman/v1/museum/kiosk-01/config/desired', {
        version,
        lanes: [{ id: 'main', source: 'de', targets }],
      });
    desire(1, ['fr']);
    desire(2, ['de-at']);
    await deps.clock.elapse(2000);
    expect(deps.sent('config/reported').at(-1)?.body).toMatchObject({
      errors: [{ key: 'lanes[0].targets', message: expect.stringContaining('another form of "de"') }],
    });
    expect(deps.agent.lanes[0]?.state.options).toMatchObject({ source: 'de', targets: ['fr'] });
  });

  it('are both offered to the service, each translated into the other one', async () => {
    const deps = await live('auto');
    expect(tasks(deps).at(-1)).toContain('"source":"en","targets":["es"],"voice":null,"bothWays":true');
  });
});
