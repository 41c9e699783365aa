import { describe, expect, it } from 'vitest';
import { ready, rejected } from '../../service-events.ts';
import { BASE, type FakeDeps, testConfig } from '../fake-deps.ts';
import { createScreenDevice } from './screen-device.ts';

const BOTH_WAYS = [
  { from: 'en', into: 'es' },
  { from: 'es', into: 'en' },
];
const typed = (language: string, text: string, lane = 'main') =>
  ({ do: 'say', lane, language, text }) as const;
/** The tasks and texts that a lane's service got, in order. */
const received = (deps: FakeDeps) =>
  deps.lastStream().calls.flatMap((call) => {
    if (call.startsWith('say ')) return [call];
    const task = call.startsWith('runTask ') ? JSON.parse(call.slice(8)) : null;
    return task === null ? [] : [`${task.source}>${task.targets}`];
  });
const quiet = async (deps: FakeDeps, chunks: number): Promise<void> => {
  for (let chunk = 0; chunk < chunks; chunk++) {
    deps.speak(0);
    deps.lastStream().listener.pong();
    await deps.clock.elapse(0);
  }
};

describe('typing where one lane interprets both ways', () => {
  it('is possible in both languages, and each text is spoken in the other one, when the service detects who speaks', async () => {
    const { deps, actions, view } = await createScreenDevice({ twoWay: 'auto' });
    expect(view.snapshot().lanes[0]?.typing).toEqual(BOTH_WAYS);
    void actions.act(typed('es', '¿Dónde está el ascensor?'));
    await deps.clock.elapse(2000);
    expect(received(deps)).toEqual(['en>es', 'say ["¿Dónde está el ascensor?","en",true]']);
  });

  it.each(['button', 'hold'] as const)('takes the turn first when "twoWay" is "%s"', async (twoWay) => {
    const { deps, actions, view } = await createScreenDevice({ twoWay, earcons: false });
    expect(view.snapshot().lanes[0]?.typing).toEqual(BOTH_WAYS);
    void actions.act(typed('es', 'Hola'));
    await quiet(deps, 10);
    expect(received(deps)).toEqual(['en>es', 'es>en']);
    deps.service(ready('running', { targets: ['en'] }));
    await quiet(deps, 10);
    expect(received(deps)).toEqual(['en>es', 'es>en', 'say ["Hola","en",true]']);
    expect(view.snapshot().lanes[0]?.turn).toMatchObject({ speaker: 'target', isOpen: twoWay === 'button' });
  });

  it.each([
    // The service understands Catalan, and does not speak it.
    ['ca', 'es', [{ from: 'ca', into: 'es' }]],
    ['es', 'ca', [{ from: 'ca', into: 'es' }]],
    ['ca', 'cy', []],
    [
      'pt-BR',
      'zh-TW',
      [
        { from: 'pt-BR', into: 'zh-TW' },
        { from: 'zh-TW', into: 'pt-BR' },
      ],
    ],
  ])('is possible only into a language that the service speaks: %s and %s', async (source, target, ways) => {
    const { view, actions } = await createScreenDevice({ source, targets: [target], twoWay: 'auto' });
    expect(view.snapshot().lanes[0]?.typing).toEqual(ways);
    if (source === 'es')
      expect(await actions.act(typed('es', 'Hola'))).toMatchObject({ code: 'invalid_args' });
  });

  it('waits until the key of somebody who speaks is released', async () => {
    const { deps, actions, view } = await createScreenDevice({ twoWay: 'hold', earcons: false });
    const key = (held: boolean) => actions.act({ do: 'turn', lane: 'main', speaker: 'source', held });
    await key(true);
    void actions.act(typed('es', 'Hola'));
    for (let again = 0; again < 3; again++) {
      await quiet(deps, 6);
      await key(true);
    }
    expect(view.snapshot().lanes[0]?.turn?.speaker).toBe('source');
    await key(false);
    await quiet(deps, 10);
    expect(view.snapshot().lanes[0]?.turn?.speaker).toBe('target');
  });

  it('tells that the text was not spoken when the service does not translate in its direction', async () => {
    const { deps, actions } = await createScreenDevice({ twoWay: 'button', earcons: false });
    const answer = actions.act(typed('es', 'Hola'));
    await quiet(deps, 10);
    expect(received(deps).at(-1)).toBe('es>en');
    deps.service(rejected('no translation from "es"'));
    await quiet(deps, 10);
    deps.service(ready('running', { targets: ['es'] }));
    await quiet(deps, 10);
    expect(await answer).toMatchObject({ code: 'not_spoken' });
    expect(received(deps).filter((call) => call.startsWith('say'))).toEqual([]);
  });
});

describe('typing where each person has a lane', () => {
  const desk = async () => {
    const lane = (id: string, source: string, target: string) => {
      const playback = { driver: 'file', path: `${id}.wav` };
      return testConfig({ id, source, targets: [target], playback }).lanes[0];
    };
    const lanes = [lane('clerk', 'en', 'es'), lane('visitor', 'es', 'en')];
    const device = await createScreenDevice(
      {},
      {},
      { lanes, rooms: [{ id: 'desk', lanes: ['clerk', 'visitor'] }] },
    );
    const { deps } = device;
    // One of the two lanes is live; the other one has asked, too.
    const live = deps.lastRequest().id;
    const { body } = deps.sent('token/req').find(({ body: { id } }) => id !== live) ?? {};
    deps.deliver(`${BASE}/token/res`, {
      id: body?.['id'],
      ok: true,
      session: deps.session({ id: 'another-session-id' }),
      stream_url: 'wss://service.example/streaming-api/{random_hash}/v1',
    });
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    return device;
  };

  it('goes through the lane whose source is the language of the text', async () => {
    const { deps, actions, view } = await desk();
    expect(view.snapshot().lanes.map(({ typing }) => typing)).toEqual([BOTH_WAYS, BOTH_WAYS]);
    void actions.act(typed('es', 'Hola', 'clerk'));
    void actions.act(typed('en', 'Hello', 'clerk'));
    await deps.clock.elapse(2000);
    const texts = deps.streams.map(({ calls }) => calls.filter((call) => call.startsWith('say ')));
    expect(texts.flat().sort()).toEqual(['say ["Hello","es",true]', 'say ["Hola","en",true]']);
    for (const { calls } of deps.streams) {
      const task = JSON.parse(calls.find((call) => call.startsWith('runTask '))?.slice(8) ?? '{}');
      const [into] = task.targets;
      expect(calls.filter((call) => call.startsWith('say '))).toEqual([expect.stringContaining(`"${into}"`)]);
    }
  });

  it('ends at both lanes together: pages learn of it once', async () => {
    const { deps, actions, changes } = await desk();
    await actions.act({ do: 'touch', lane: 'visitor' });
    await actions.act({ do: 'end' });
    expect(deps.sent('event/conversation_ended')).toHaveLength(1);
    expect(changes.flatMap(({ conversation }) => conversation ?? [])).toEqual([2]);
  });

  it('follows the language that the visitor has picked', async () => {
    const { deps, actions, view } = await desk();
    deps.agent.lanes[0]?.post({ type: 'options', options: { targets: ['fr'] } });
    deps.agent.lanes[1]?.post({ type: 'options', options: { source: 'fr' } });
    expect(view.snapshot().lanes[0]?.typing).toEqual([
      { from: 'en', into: 'fr' },
      { from: 'fr', into: 'en' },
    ]);
    expect(await actions.act(typed('es', 'Hola', 'clerk'))).toMatchObject({ code: 'invalid_args' });
  });
});
