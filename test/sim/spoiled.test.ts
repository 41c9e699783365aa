import { describe, expect, it } from 'vitest';
import type { AgentWorld } from '../../src/agent/agent.ts';
import type { StreamConnection } from '../../src/ports/stream.ts';
import { type RunResult, runSeed } from './run.ts';

const HOURS = 0.4;
/** One of them alone may meet with too few faults. */
const SEEDS = [900, 901, 902, 903, 904, 905];

/** Runs seeds with an agent whose world is tampered with, until one of the oracles notices. */
async function rulesThatNotice(
  spoil: (world: AgentWorld) => AgentWorld,
  more: { cancels?: boolean } = {},
): Promise<string[]> {
  for (const seed of SEEDS) {
    const result: RunResult = await runSeed(seed, HOURS, { spoil, ...more });
    if (result.violations.length > 0) return [...new Set(result.violations.map(({ rule }) => rule))];
  }
  return [];
}

/** An agent whose connections are tampered with, as if its lane had decided so. */
function withConnections(change: (connection: StreamConnection) => Partial<StreamConnection>) {
  return (world: AgentWorld): AgentWorld => ({
    ...world,
    openStream: (url, listener) => {
      const connection = world.openStream(url, listener);
      return { ...connection, ...change(connection) };
    },
  });
}

/** An agent whose canceller makes something else of the microphone's sound. */
function withCanceller(change: (captured: Uint8Array, cancelled: Uint8Array) => Uint8Array) {
  return (world: AgentWorld): AgentWorld => ({
    ...world,
    openEchoCanceller: (rates, sink) => {
      const waiting: Uint8Array[] = [];
      const canceller = world.openEchoCanceller?.(rates, {
        ...sink,
        frames: (pcm, capturedAt) => sink.frames(change(waiting.shift() ?? pcm, pcm), capturedAt),
      });
      if (canceller === undefined) throw new Error('the simulated device has a canceller');
      return {
        ...canceller,
        captured(pcm, capturedAt, missingMs) {
          waiting.push(pcm);
          canceller.captured(pcm, capturedAt, missingMs);
        },
      };
    },
  });
}

/** Does something else at every so many calls. */
function every(times: number, usual: (pcm: Uint8Array) => void, other: (pcm: Uint8Array) => void) {
  let calls = 0;
  return (pcm: Uint8Array): void => (++calls % times === 0 ? other(pcm) : usual(pcm));
}

describe('an agent that is broken on purpose is found out', () => {
  it('as it is, it is not', async () => {
    expect(await rulesThatNotice((world) => world)).toEqual([]);
    expect(await rulesThatNotice((world) => world, { cancels: true })).toEqual([]);
  });

  it('sends a chunk twice', async () => {
    const rules = await rulesThatNotice(
      withConnections(({ sendAudio }) => ({
        sendAudio: every(50, sendAudio, (pcm) => {
          sendAudio(pcm);
          sendAudio(pcm);
        }),
      })),
    );
    expect(rules.some((rule) => rule === 'stream_order' || rule === 'pacing')).toBe(true);
  });

  it('forgets chunks', async () => {
    const forget = withConnections(({ sendAudio }) => {
      let calls = 0;
      return { sendAudio: (pcm) => (++calls % 100 < 30 ? undefined : sendAudio(pcm)) };
    });
    expect(await rulesThatNotice(forget)).toContain('lost');
  });

  it('sends chunks in the wrong order', async () => {
    const swap = withConnections(({ sendAudio }) => {
      let kept: Uint8Array | null = null;
      return {
        sendAudio(pcm) {
          if (kept === null) {
            kept = pcm.slice();
            return;
          }
          sendAudio(pcm);
          sendAudio(kept);
          kept = null;
        },
      };
    });
    expect(await rulesThatNotice(swap)).toContain('stream_order');
  });

  it('leaves its connections open', async () => {
    const cling = withConnections(() => ({ close() {}, terminate() {} }));
    expect(await rulesThatNotice(cling)).toContain('streams');
  });

  it('asks for its task without pause', async () => {
    const nag = withConnections(({ getTask }) => ({
      getTask() {
        getTask();
        getTask();
      },
    }));
    expect(await rulesThatNotice(nag)).toContain('rate');
  });

  it('opens each stream twice with one token', async () => {
    const twice = (world: AgentWorld): AgentWorld => ({
      ...world,
      openStream: (url, listener) => {
        world.openStream(url, { ...listener, opened() {}, refused() {}, unreached() {}, ended() {} });
        return world.openStream(url, listener);
      },
    });
    expect(await rulesThatNotice(twice)).toContain('token');
  });

  it('plays a sentence again', async () => {
    const stutter = (world: AgentWorld): AgentWorld => ({
      ...world,
      openAudio: (lane) => {
        const audio = world.openAudio(lane);
        return {
          ...audio,
          openPlayback: async (sink) => {
            const playback = await audio.openPlayback(sink);
            return {
              ...playback,
              write: (pcm) => {
                playback.write(pcm);
                return playback.write(pcm);
              },
            };
          },
        };
      },
    });
    expect(await rulesThatNotice(stutter)).toContain('repeated');
  });

  it('answers commands twice', async () => {
    const echo = (world: AgentWorld): AgentWorld => ({
      ...world,
      openBus: (options, listener) => {
        const bus = world.openBus(options, listener);
        const publish: typeof bus.publish = (topic, payload, more) => {
          bus.publish(topic, payload, more);
          if (topic.includes('/cmd/')) bus.publish(topic, payload, more);
        };
        return { ...bus, publish };
      },
    });
    expect(await rulesThatNotice(echo)).toContain('command');
  });

  it('is deaf to its own loudspeaker only in words', async () => {
    // The chunks' times are wrong by two seconds: the gate closes too late and too long.
    const late = (world: AgentWorld): AgentWorld => ({
      ...world,
      openAudio: (lane) => {
        const audio = world.openAudio(lane);
        return {
          ...audio,
          openCapture: (sink) =>
            audio.openCapture({ ...sink, frames: (pcm, capturedAt) => sink.frames(pcm, capturedAt - 2000) }),
        };
      },
    });
    expect((await rulesThatNotice(late)).some((rule) => rule === 'echo' || rule === 'gate')).toBe(true);
  });

  it('cancels its echo only in words', async () => {
    const idle = withCanceller((captured) => captured);
    expect(await rulesThatNotice(idle, { cancels: true })).toContain('echo');
  });

  it('cancels its visitors as well', async () => {
    let pieces = 0;
    const eager = withCanceller((_, cancelled) =>
      ++pieces % 100 < 20 ? new Uint8Array(cancelled.length) : cancelled,
    );
    expect(await rulesThatNotice(eager, { cancels: true })).toContain('lost');
  });
});
