import { describe, expect, it } from 'vitest';
import type { CaptureSink } from '../../src/ports/audio.ts';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { EVENT_SCHEMAS } from '../../src/protocol/mqtt/event.ts';
import { toPcm } from '../../src/sound/pcm.ts';
import { talk, through, together, VOICE_RATE_HZ } from '../acoustics.ts';
import { spoke } from '../service-events.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';

const PATH = { delayMs: 130, gainDb: -10, rt60S: 0.3 };
const BYTES_PER_MS = (VOICE_RATE_HZ * 2) / 1000;
const PIECE_BYTES = 80 * BYTES_PER_MS;
const RATE = { driver: 'file', path: 'in.wav', sampleRate: VOICE_RATE_HZ };

const SAID_S = 16;
let made: Promise<{ heard: Uint8Array; spoken: Uint8Array }> | null = null;

/** The loudspeaker's sound, and its share in the microphone. */
function sounds() {
  made ??= talk(SAID_S, -62).then(({ said, room }) => ({
    heard: toPcm(together(through(PATH, said), room)),
    spoken: toPcm(said),
  }));
  return made;
}

/** A live lane whose service speaks for 16 s, and whose microphone hears only its loudspeaker. */
async function hearItself(echo: 'off' | 'half-duplex') {
  const { heard, spoken } = await sounds();
  let microphone: CaptureSink | null = null;
  let beganAt: number | null = null;
  let freeAt = 0;
  const deps = createFakeDeps(testConfig({ echo, capture: RATE }), {
    openAudio: () => ({
      openCapture: async (sink) => {
        microphone = sink;
        return { close: async () => {} };
      },
      openPlayback: async () => ({
        mixer: null,
        write(pcm) {
          const heardAt = Math.max(deps.clock.now() + 30, freeAt);
          beganAt ??= heardAt;
          freeAt = heardAt + pcm.byteLength / BYTES_PER_MS;
          return { from: heardAt, until: freeAt };
        },
        flush() {},
        close: async () => {},
      }),
    }),
  });
  await deps.goLive();
  const say = (pcm: Uint8Array, last: boolean): void =>
    deps.service(spoke(pcm, { sentence: 'a', utterance: 'a', last }));
  say(spoken, true);
  for (let at = 0; at + PIECE_BYTES <= heard.byteLength; at += PIECE_BYTES) {
    const until = (beganAt ?? 0) + (at + PIECE_BYTES) / BYTES_PER_MS;
    deps.clock.advance(until - deps.clock.now());
    (microphone as CaptureSink | null)?.frames(heard.slice(at, at + PIECE_BYTES), until);
  }
  return deps;
}

describe('a kiosk that hears itself', () => {
  it('in the mode off: is reported, falls back to half-duplex, and retries by command', async () => {
    const deps = await hearItself('off');
    const [detected] = deps.sent('event/echo_detected');
    expect(EVENT_SCHEMAS.echo_detected.parse(detected?.body)).toMatchObject({ lane: 'main', mode: 'off' });
    expect(Math.abs(Number(detected?.body['delay_ms']) - PATH.delayMs)).toBeLessThan(5);
    expect(Math.abs(Number(detected?.body['gain_db']) - PATH.gainDb)).toBeLessThan(5);
    expect(deps.sent('event/echo_fallback').map(({ body }) => [body['reason'], body['mode']])).toEqual([
      ['loop', 'half-duplex'],
    ]);
    expect(deps.logged.filter(([level]) => level === 'warn')).toContainEqual([
      'warn',
      'event echo_fallback',
      expect.objectContaining({ reason: 'loop' }),
    ]);
    deps.clock.advance(2000);
    const echo = () => stateSchema.parse(deps.sent('state').at(-1)?.body).lanes[0]?.echo;
    expect(echo()).toMatchObject({ wanted: 'off', mode: 'half-duplex', fallback: 'loop' });

    deps.command('echo', { id: 'a', args: { mode: 'off' } });
    expect(deps.answers('echo')).toEqual([
      expect.objectContaining({
        id: 'a',
        status: 'ok',
        data: { lanes: [expect.objectContaining({ echo: 'off' })] },
      }),
    ]);
    deps.clock.advance(2000);
    expect(echo()).toMatchObject({ wanted: 'off', mode: 'off', fallback: null });
  });

  it('in the mode half-duplex: is reported and measured, and keeps the mode', async () => {
    const deps = await hearItself('half-duplex');
    expect(deps.sent('event/echo_detected')).toHaveLength(1);
    expect(deps.sent('event/echo_fallback')).toHaveLength(0);
    expect(deps.agent.lanes[0]?.state.echo.measures.length).toBeGreaterThan(0);
  });
});

describe('the command echo', () => {
  it('names an existing mode', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    deps.command('echo', { id: 'a', args: { mode: 'loud' } });
    expect(deps.answers('echo')[0]).toMatchObject({ status: 'error', error: { code: 'invalid_args' } });
    deps.command('echo', { id: 'b', args: { lane: 'main', mode: 'cancel' } });
    // This world has no canceller: the answer confirms the command, and the state shows the failure.
    expect(deps.answers('echo')[1]).toMatchObject({ status: 'ok' });
    expect(deps.agent.lanes[0]?.state.echo.fallback?.reason).toBe('canceller');
  });
});
