import { describe, expect, it } from 'vitest';
import { createScreenDevice } from './screen-device.ts';

const LIST = [
  { en: 'The interpreter is out of order.', es: 'El intérprete no funciona.', de: 'Außer Betrieb.' },
  { en: 'Please wait here.', 'es-MX': 'Espere aquí.' },
  { de: 'Nur auf Deutsch.' },
];
/** @param firstByte tells the sounds apart. */
const sound = (ms: number, firstByte: number): Uint8Array =>
  new Uint8Array(48 * ms).map((_, at) => (at % 2 === 0 ? firstByte : 8));
const speak = (number: number, language = 'es') =>
  ({ do: 'phrase', lane: 'main', number, language }) as const;

async function phrased(lane: object = {}) {
  const device = await createScreenDevice({ standbyAfter: 0, ...lane }, {}, { phrases: { list: LIST } });
  device.sounds.set(`es ${LIST[0]?.es}`, sound(1500, 40));
  device.sounds.set(`es-MX ${LIST[1]?.['es-MX']}`, sound(1000, 80));
  return device;
}

describe('the phrases of the house', () => {
  it('are on the page in the languages of the panels, in their order', async () => {
    const { view } = await phrased();
    expect(view.snapshot().phrases).toEqual([
      {
        number: 0,
        texts: [
          { language: 'en', text: 'The interpreter is out of order.' },
          { language: 'es', text: 'El intérprete no funciona.' },
        ],
      },
      {
        number: 1,
        texts: [
          { language: 'en', text: 'Please wait here.' },
          { language: 'es', text: 'Espere aquí.' },
        ],
      },
    ]);
  });

  it('are not on the page when none is configured', async () => {
    const { view } = await createScreenDevice();
    expect(view.snapshot().phrases).toEqual([]);
  });

  it('are spoken without the service, and the page goes on to say that there is no connection', async () => {
    const { deps, actions, view, status, changes } = await phrased();
    deps.bus.listener.down('unreachable', 'gone');
    deps.lastStream().listener.said({ type: 'ended', how: 'cut', reason: null, detail: '1006' });
    await deps.clock.elapse(60_000);
    expect(status()).toMatchObject({ kind: 'offline', cause: 'connection' });
    const streams = deps.streams.length;
    const [published, from, known] = [deps.published.length, deps.played.length, changes.length];
    expect(await actions.act(speak(0))).toBeNull();
    await deps.clock.elapse(500);
    expect(status()).toMatchObject({ kind: 'offline' });
    await deps.clock.elapse(2500);
    const heard = deps.played.slice(from);
    expect(heard.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(48 * 1500);
    expect(deps.streams.length).toBe(streams);
    const topics = deps.published.slice(published).map(({ topic }) => topic.split('/').slice(4).join('/'));
    expect(topics.filter((topic) => topic !== 'health' && topic !== 'state')).toEqual([]);
    expect(changes.slice(known).flatMap(({ status: kind }) => kind ?? [])).toEqual([]);
    // It begins no conversation: there is nobody to interpret for.
    expect(view.snapshot().isTalking).toBe(false);
  });

  it('are spoken in the variety of the language that the owner has written', async () => {
    const { deps, actions } = await phrased();
    const from = deps.played.length;
    expect(await actions.act(speak(1))).toBeNull();
    await deps.clock.elapse(3000);
    expect(deps.played.slice(from).reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(48 * 1000);
  });

  it('are only shown when there is no sound file, no such text, or no such phrase', async () => {
    const { deps, actions } = await phrased();
    const from = deps.played.length;
    expect(await actions.act(speak(0, 'en'))).toMatchObject({ code: 'unsupported' });
    expect(await actions.act(speak(2, 'es'))).toMatchObject({ code: 'invalid_args' });
    expect(await actions.act(speak(3, 'es'))).toMatchObject({ code: 'invalid_args' });
    expect(await actions.act({ ...speak(0), lane: 'other' })).toMatchObject({ code: 'unknown_lane' });
    await deps.clock.elapse(3000);
    expect(deps.played.slice(from)).toEqual([]);
  });

  it('are not spoken while a translation plays', async () => {
    const { deps, actions } = await phrased();
    const translation = { language: 'es', sentence: 't1', part: null, utterance: null, last: true } as const;
    deps.service({ type: 'spoke', pcm: sound(1000, 60), ...translation });
    expect(await actions.act(speak(0))).toMatchObject({ code: 'busy' });
    await deps.clock.elapse(3000);
    expect(deps.played.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(48 * 1000);
  });

  it('are spoken in the order of the touches: the last one counts, whichever file is read first', async () => {
    const { deps, actions } = await phrased();
    const from = deps.played.length;
    const [first, second] = [actions.act(speak(0)), actions.act(speak(1))];
    expect([await first, await second]).toEqual([null, null]);
    await deps.clock.elapse(4000);
    expect(deps.played.slice(from).reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(48 * 1000);
  });
});
