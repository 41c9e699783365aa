import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import {
  every,
  rulesThatNotice,
  violationsOf,
  withCanceller,
  withConnections,
  withLoudspeaker,
  withMessages,
} from './spoiled.ts';
import { withPublished } from './tampered.ts';
import { type Terms, withService } from './terms.ts';

describe('the oracles', () => {
  it('find an agent that sends a chunk twice', async () => {
    const rules = await rulesThatNotice(
      withConnections(({ sendAudio }) => ({
        sendAudio: every(50, sendAudio, (pcm) => {
          sendAudio(pcm);
          sendAudio(pcm);
        }),
      })),
      { first: 4201 },
    );
    expect(rules.some((rule) => rule === 'stream_order' || rule === 'pacing')).toBe(true);
  });

  it('find an agent that drops chunks', async () => {
    const forget = withConnections(({ sendAudio }) => {
      let calls = 0;
      return { sendAudio: (pcm) => (++calls % 100 < 30 ? undefined : sendAudio(pcm)) };
    });
    expect(await rulesThatNotice(forget)).toContain('lost');
  });

  it('find an agent that replays all speech of a broken stream, also what was spoken', async () => {
    let kept: Uint8Array[] = [];
    const anew = withConnections(({ sendAudio }) => {
      const waiting = kept;
      kept = [];
      return {
        sendAudio(pcm) {
          const next = pcm.slice();
          waiting.push(next);
          kept = [...kept.slice(-59), next];
          sendAudio(waiting.shift() ?? next);
        },
      };
    });
    const changeTerms = (drawn: Terms): Terms => withService(drawn, 'a');
    const [first] = await violationsOf(anew, { faults: ['reset'], changeTerms }, 'twice');
    expect(first?.text).toMatch(/were said twice/);
  });

  it('find an agent that sends chunks in the wrong order', async () => {
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

  it('find an agent that sends get_task without a pause', async () => {
    const nag = withConnections(({ askForTask }) => ({
      askForTask() {
        askForTask();
        askForTask();
      },
    }));
    expect(await rulesThatNotice(nag)).toContain('rate');
  });

  it('find an agent that plays each sound twice', async () => {
    const stutter = (world: AgentDeps): AgentDeps => ({
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

  it('find an agent that never opens its loudspeaker', async () => {
    const mute = (world: AgentDeps): AgentDeps => ({
      ...world,
      openAudio: (lane) => ({
        ...world.openAudio(lane),
        openPlayback: () => Promise.reject(new Error('no loudspeaker')),
      }),
    });
    expect(await rulesThatNotice(mute, { faults: ['port_throws'] }, 'unheard')).toContain('unheard');
  });

  it('find an agent that closes the gate at the wrong time', async () => {
    // The chunks' times are wrong by two seconds.
    const late = (world: AgentDeps): AgentDeps => ({
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

  it('find an agent that claims to cancel its echo and does not', async () => {
    const idle = withCanceller((captured) => captured);
    expect(await rulesThatNotice(idle, { cancels: true })).toContain('echo');
  });

  it('find an agent that cancels its visitors with the echo', async () => {
    let pieces = 0;
    const eager = withCanceller((_, cancelled) =>
      ++pieces % 100 < 20 ? new Uint8Array(cancelled.length) : cancelled,
    );
    expect(await rulesThatNotice(eager, { cancels: true })).toContain('lost');
  });

  it('find an agent that reports `ready` while speech is lost', async () => {
    const cheerful = withPublished((topic, payload) => [
      topic.endsWith('/status') ? payload.replace('"status":"degraded"', '"status":"ready"') : payload,
    ]);
    expect(await rulesThatNotice(cheerful, { faults: ['broker_away'], first: 4204 })).toContain('reporting');
  });

  it('find an agent that reports half of the lost speech, or none', async () => {
    const halved = withPublished((topic, payload) => [
      topic.endsWith('/event/speech_lost')
        ? payload.replace(/"lost_ms":(\d+)/, (_, ms: string) => `"lost_ms":${Number(ms) >> 1}`)
        : payload,
    ]);
    const silent = withPublished((topic, payload) => (topic.endsWith('/event/speech_lost') ? [] : [payload]));
    expect(await rulesThatNotice(halved, { faults: ['broker_away'] })).toContain('reporting');
    expect(await rulesThatNotice(silent, { faults: ['broker_away'] })).toContain('reporting');
  });

  it('find an agent that does not notice when its loudspeaker is back', async () => {
    const desperate = withLoudspeaker((sink) => ({ ...sink, back() {} }));
    expect(await rulesThatNotice(desperate, { faults: ['speaker_unplugged'] })).toContain('unheard');
  });

  it('find an agent that reconnects long after the fault is over', async () => {
    const slow = (world: AgentDeps): AgentDeps => {
      let endedAt = Number.NEGATIVE_INFINITY;
      return {
        ...world,
        openStream(target, listener) {
          const late = world.clock.now() < endedAt + 240_000;
          const address = late ? target.address.replace('service.sim', 'nowhere.sim') : target.address;
          return world.openStream(
            { ...target, address },
            {
              ...listener,
              said(event) {
                if (event.type === 'ended' && event.how !== 'complete') endedAt = world.clock.now();
                listener.said(event);
              },
            },
          );
        },
      };
    };
    expect(await rulesThatNotice(slow, { faults: ['reset'], first: 4201 })).toContain('recovery');
    // A fault that ends no stream excuses no loss, however often it happens.
    expect(await rulesThatNotice(slow, { faults: ['reset', 'warning'] }, 'lost')).toContain('lost');
  });

  it('find an agent that parks when one token is refused without a reason', async () => {
    const resigned = (world: AgentDeps): AgentDeps => ({
      ...world,
      openStream: (target, listener) =>
        world.openStream(target, {
          ...listener,
          said: (event) =>
            listener.said(event.type === 'refused' ? { ...event, reason: 'insufficient_balance' } : event),
        }),
    });
    expect(await rulesThatNotice(resigned, { faults: ['refused_bare'], first: 4201 })).toContain('recovery');
  });

  it('find an agent that swaps the microphones of two lanes', async () => {
    const crossed = (world: AgentDeps): AgentDeps => ({
      ...world,
      openAudio: (lane) => ({
        ...world.openAudio(lane),
        openCapture: world.openAudio({ ...lane, id: lane.id === 'main' ? 'side' : 'main' }).openCapture,
      }),
    });
    expect(await rulesThatNotice(crossed, { twoLanes: true })).toContain('crossed');
  });

  it('find an agent that opens each stream twice with one token', async () => {
    const twice = (world: AgentDeps): AgentDeps => ({
      ...world,
      openStream: (target, listener) => {
        const hush: typeof listener.said = (event) =>
          ['refused', 'ended'].includes(event.type) ? undefined : listener.said(event);
        world.openStream(target, { ...listener, opened() {}, said: hush, unreached() {} });
        return world.openStream(target, listener);
      },
    });
    expect(await rulesThatNotice(twice, {}, 'token')).toContain('token');
  });

  it('find an agent that plays only the first 200 ms of a translation', async () => {
    const begun = new Set<string>();
    const curt = withMessages((said) => {
      if (said.type !== 'spoke' || said.utterance === null) return true;
      return !begun.has(said.utterance) && begun.add(said.utterance) !== undefined;
    });
    const found = await violationsOf(curt, { faults: ['warning'] });
    expect(found.map(({ text }) => text).join()).toMatch(/never said to the end in es/);
  });

  it('find an agent that never plays the second language', async () => {
    const monoglot = withMessages(
      (said) => said.type !== 'spoke' || said.utterance?.endsWith('/fr') !== true,
    );
    const found = await violationsOf(monoglot, { faults: ['warning'] });
    expect(found.map(({ text }) => text).join()).toMatch(/never said to the end in fr/);
  });

  it('find an agent that continues to write while its loudspeaker is unplugged', async () => {
    const unaware = withLoudspeaker((sink) => ({ ...sink, fault() {}, missed() {} }));
    expect(await rulesThatNotice(unaware, { faults: ['speaker_unplugged'] }, 'lost')).toContain('lost');
  });

  it('find an agent that leaves its connections open', async () => {
    const cling = withConnections(() => ({ close() {}, terminate() {} }));
    // With other faults the open streams would make some seeds very slow first.
    expect(await rulesThatNotice(cling, { faults: ['refused'] })).toContain('streams');
  });
});
