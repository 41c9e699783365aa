import { describe, expect, it } from 'vitest';
import { taskOf } from '../../src/device/lane/state/lane-options.ts';
import type { CaptureSink, PlaybackSink } from '../../src/ports/audio.ts';
import type { EchoCancellerSink } from '../../src/ports/echo.ts';
import type { Config } from '../../src/protocol/config.ts';
import { ready, rejected, spoke } from '../service-events.ts';
import { BASE, createFakeDeps, testConfig } from './fake-deps.ts';

const IDS = ['clerk', 'visitor'] as const;
type Id = (typeof IDS)[number];
const PIECE_MS = 40;
const RATE_HZ = 16_000;

function roomConfig(more: object): Config {
  const [main] = testConfig(more as Record<string, unknown>).lanes;
  if (main === undefined) throw new Error('no lane');
  return {
    ...testConfig(),
    lanes: [
      { ...main, id: 'clerk' },
      { ...main, id: 'visitor', source: 'es', targets: ['en'] },
    ],
    rooms: [{ id: 'desk', lanes: [...IDS] }],
  };
}

/** Both lanes of a room, live. The test acts as both people. */
async function room(more: object = {}) {
  const microphones = new Map<Id, CaptureSink>();
  const loudspeakers = new Map<Id, PlaybackSink>();
  /** Sound that each canceller got as its reference, in the order in which they were opened. */
  const references: number[] = [];
  const cancellers: EchoCancellerSink[] = [];
  const deps = createFakeDeps(roomConfig(more), {}, (given) => ({
    ...given,
    openAudio: (lane) => {
      const audio = given.openAudio(lane);
      const id = lane.id as Id;
      return {
        ...audio,
        openCapture: (sink) => {
          microphones.set(id, sink);
          return audio.openCapture(sink);
        },
        openPlayback: (sink) => {
          loudspeakers.set(id, sink);
          return audio.openPlayback(sink);
        },
      };
    },
    openEchoCanceller: (_rates, sink) => {
      const index = references.push(0) - 1;
      cancellers.push(sink);
      return {
        captured: (pcm, capturedAt) => sink.frames(pcm, capturedAt),
        played: (pcm) => {
          references[index] = (references[index] ?? 0) + pcm.byteLength;
        },
        flushed() {},
        close() {},
      };
    },
  }));
  await deps.agent.start();
  await deps.clock.elapse(0);
  deps.brokerUp();
  const streamOf = (id: Id) => {
    const found = deps.streams.find(({ token }) => token === `token-of-${id}`);
    if (found === undefined) throw new Error(`lane ${id} has no stream`);
    return found;
  };
  for (const id of IDS) {
    const request = deps.sent('token/req').findLast(({ body }) => body['lane'] === id);
    deps.deliver(`${BASE}/token/res`, {
      id: request?.body['id'],
      ok: true,
      session: deps.session({ token: `token-of-${id}` }),
      stream_url: 'wss://service.example/{random_hash}/v1',
    });
    streamOf(id).listener.opened();
  }
  deps.clock.advance(2800);
  for (const id of IDS) streamOf(id).listener.said(ready());
  const tone = (amplitude: number): Uint8Array => {
    const pcm = new Int16Array((RATE_HZ * PIECE_MS) / 1000);
    for (let i = 0; i < pcm.length; i++) pcm[i] = i % 2 === 0 ? amplitude : -amplitude;
    return new Uint8Array(pcm.buffer);
  };
  /** What both microphones hear for some time. @param hung microphones that deliver nothing */
  const hear = (levels: Readonly<Record<Id, number>>, ms: number, hung: readonly Id[] = []): void => {
    for (let left = ms; left > 0; left -= PIECE_MS) {
      deps.clock.advance(PIECE_MS);
      for (const id of IDS) streamOf(id).listener.pong();
      for (const id of IDS)
        if (!hung.includes(id)) microphones.get(id)?.frames(tone(levels[id]), deps.clock.now());
    }
  };
  const quiet = (ms: number, hung: readonly Id[] = []): void => hear({ clerk: 20, visitor: 20 }, ms, hung);
  /** How much loud sound each stream has got (ms). */
  const loud = (): Record<Id, number> => {
    const of = (id: Id): number =>
      streamOf(id).audio.reduce((sum, pcm) => {
        const sound = new Int16Array(pcm.slice().buffer);
        return sum + (sound.filter((sample) => Math.abs(sample) > 300).length * 1000) / RATE_HZ;
      }, 0);
    return { clerk: of('clerk'), visitor: of('visitor') };
  };
  let sentences = 0;
  const speaks = (id: Id, ms: number): void => {
    const sentence = `${id}-${++sentences}`;
    const pcm = new Uint8Array(ms * 48).fill(9);
    streamOf(id).listener.said(spoke(pcm, { sentence, utterance: sentence, last: true }));
  };
  return { deps, hear, quiet, loud, speaks, references, cancellers, streamOf };
}

describe('two lanes of a room', () => {
  it('send what the nearer person says on that lane, and silence on the other one', async () => {
    const { hear, quiet, loud } = await room({ echo: 'off' });
    quiet(1000);
    hear({ clerk: 8000, visitor: 2500 }, 2000);
    quiet(1000);
    expect(loud()).toEqual({ clerk: 2000, visitor: 0 });
    hear({ clerk: 2500, visitor: 8000 }, 1200);
    quiet(1000);
    expect(loud()).toEqual({ clerk: 2000, visitor: 1200 });
  });

  it('go on when one of the microphones delivers nothing', async () => {
    const { hear, quiet, loud } = await room({ echo: 'off' });
    quiet(1000, ['visitor']);
    hear({ clerk: 8000, visitor: 0 }, 2000, ['visitor']);
    quiet(1000, ['visitor']);
    expect(loud()).toEqual({ clerk: 2000, visitor: 0 });
  });

  it.each(IDS)('close both microphones while the loudspeaker of the lane %s speaks', async (id) => {
    const { deps, hear, quiet, loud, speaks } = await room();
    quiet(1000);
    speaks(id, 2000);
    hear({ clerk: 6000, visitor: 6000 }, 1900);
    expect(loud()).toEqual({ clerk: 0, visitor: 0 });
    deps.clock.advance(1000);
  });

  it('cancel the sound of both loudspeakers', async () => {
    const { quiet, speaks, references, cancellers } = await room({ echo: 'cancel' });
    for (const sink of cancellers) sink.ready();
    quiet(400);
    expect(references).toEqual([0, 0, 0, 0]);
    speaks('clerk', 1000);
    quiet(1600);
    // Each of the two microphones has a canceller for it.
    expect(references.filter((bytes) => bytes > 0)).toHaveLength(2);
    speaks('visitor', 1000);
    quiet(1600);
    expect(references.filter((bytes) => bytes > 0)).toHaveLength(4);
  });

  it('keep the microphone closed until the echo of both loudspeakers is learnt', async () => {
    const { hear, quiet, loud, speaks, cancellers } = await room({ echo: 'cancel' });
    for (const sink of cancellers) sink.ready();
    quiet(400);
    speaks('clerk', 5000);
    quiet(6000);
    const before = loud();
    speaks('visitor', 2000);
    hear({ clerk: 6000, visitor: 6000 }, 1800);
    expect(loud()).toEqual(before);
    // Both have learnt it.
    speaks('visitor', 3000);
    quiet(4000);
    hear({ clerk: 6000, visitor: 2000 }, 1000);
    quiet(1000);
    expect(loud().clerk).toBe(before.clerk + 1000);
  });
});

it('a room refuses the command to go without echo protection', async () => {
  const { deps } = await room();
  deps.command('echo', { id: 'c1', args: { mode: 'off' } });
  expect(deps.answers('echo').at(-1)).toMatchObject({ status: 'error', error: { code: 'invalid_args' } });
  expect(deps.agent.lanes.map(({ state }) => state.options.echo)).toEqual(['half-duplex', 'half-duplex']);
});

describe('the languages of a room', () => {
  const languages = ({ deps }: Awaited<ReturnType<typeof room>>) =>
    deps.agent.lanes.map(({ state }) => {
      const { source, targets } = taskOf(state);
      return `${source}>${targets.join()}`;
    });
  const step = { id: 'c1', args: { step: 1 } };

  it('are those of the visitor on both lanes after a step', async () => {
    const desk = await room({ offer: ['es', 'fr'] });
    desk.quiet(3000);
    desk.deps.command('languages', step);
    desk.quiet(3000);
    for (const id of IDS) desk.streamOf(id).listener.said(ready());
    await desk.deps.clock.elapse(3000);
    expect(languages(desk)).toEqual(['en>fr', 'fr>en']);
    expect(desk.deps.answers('languages').at(-1)).toMatchObject({ status: 'ok' });
    // The visitor hears the name, and the clerk does not.
    const names = IDS.map((id) =>
      desk.streamOf(id).calls.filter((call) => call.startsWith('say ["Français')),
    );
    expect(names.map(({ length }) => length)).toEqual([1, 0]);
  });

  it('stay as they were on both lanes when the service refuses them on one', async () => {
    const desk = await room({ offer: ['es', 'fr'] });
    desk.quiet(3000);
    desk.deps.command('languages', step);
    desk.streamOf('visitor').listener.said(rejected('source fr is not possible'));
    await desk.deps.clock.elapse(1000);
    expect(desk.deps.answers('languages').at(-1)).toMatchObject({ error: { code: 'rejected' } });
    expect(languages(desk)).toEqual(['en>es', 'es>en']);
  });
});
