import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createFloodMeter } from '../../../src/adapters/stream/flood-meter.ts';
import type { ServiceEvent } from '../../../src/ports/stream.ts';
import { connected } from './peer.ts';

const MESSAGE = JSON.stringify({
  message_type: 'partial_transcription',
  data: { transcription: { text: 'hello', language: 'en' } },
});
const AT_ONCE = 5000;
const A_SECOND = 250;

/** Counts turns of the event loop, and can report the turn of an event. */
function countTurns(): { readonly turn: number; stop(): void } {
  const state = { turn: 0, over: false };
  const next = (): void => {
    state.turn += 1;
    if (!state.over) setImmediate(next);
  };
  setImmediate(next);
  return {
    get turn() {
      return state.turn;
    },
    stop() {
      state.over = true;
    },
  };
}

describe('a flood of messages', () => {
  it('is read one message at a time, with signals and timers in between', async () => {
    const { listener, service, until } = await connected();
    const turns = countTurns();
    const met: number[] = [];
    const { said: report } = listener;
    Object.assign(listener, {
      said: (event: ServiceEvent) => {
        if (event.type !== 'ended') met.push(turns.turn);
        report(event);
      },
    });
    for (let i = 0; i < 300; i++) service.send(MESSAGE);
    service.close(4000);
    await until('ended');
    turns.stop();
    expect(met).toHaveLength(300);
    expect(new Set(met).size).toBe(300);
  });

  it('ends the stream with the reason, and no further message is delivered', async () => {
    const { said, service, until } = await connected();
    const gone = once(service, 'close');
    for (let i = 0; i < AT_ONCE + 100; i++) service.send(MESSAGE);
    const [, fault, message] = await until('broke');
    expect(fault).toBe('flood');
    expect(message).toBe(
      'the agent closed the stream: the service sent more than 250 messages a second, and 5000 at once',
    );
    await gone;
    expect(said.filter(([word]) => word === 'heard')).toHaveLength(AT_ONCE);
    expect(said.at(-1)?.[0]).toBe('broke');
  });

  it.each(['ping', 'pong'] as const)('is also detected when each message is only a %s', async (kind) => {
    const { said, service, until } = await connected();
    const gone = once(service, 'close');
    for (let i = 0; i < AT_ONCE + 100; i++) service[kind]();
    expect((await until('broke'))[1]).toBe('flood');
    await gone;
    expect(said.at(-1)?.[0]).toBe('broke');
  });
});

describe('the flood meter', () => {
  /** A service that sends `count` messages of `bytes` each `everyMs`. Returns whether that exceeds the limit. */
  function sends(count: number, bytes: number, everyMs: number, forMs: number): boolean {
    let now = 0;
    const meter = createFloodMeter({ now: () => now });
    for (; now < forMs; now += everyMs)
      for (let i = 0; i < count; i++) if (meter.isTooMuch(bytes)) return true;
    return false;
  }

  it.each([
    ['a live service in four languages, all day long', 40, 12_800, 1000, 8 * 3_600_000],
    ['the messages of two minutes without a connection, every ten minutes', 4800, 300, 600_000, 3_600_000],
    ['a minute of speech in one message, every minute', 1, 3_840_000, 60_000, 3_600_000],
    ['as much as is allowed', A_SECOND, 100, 1000, 3_600_000],
  ])('accepts %s', (_, count, bytes, everyMs, forMs) => {
    expect(sends(count, bytes, everyMs, forMs)).toBe(false);
  });

  it.each([
    ['more than is allowed', A_SECOND + 50, 100, 1000, 200_000],
    ['thousands a second', 5000, 100, 1000, 3000],
    ['large messages, one after the other', 20, 8 * 1024 * 1024, 1000, 2000],
  ])('reports %s', (_, count, bytes, everyMs, forMs) => {
    expect(sends(count, bytes, everyMs, forMs)).toBe(true);
  });
});
