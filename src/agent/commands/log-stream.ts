import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';

/** Lines go out this often, and no more than this many and this much at a time: what is beyond is counted. */
const SEND_EACH_MS = 1000;
const MOST_LINES = 50;
const MOST_CHARACTERS = 16_384;
/** A longer line is cut. */
const LONGEST_LINE = 1000;

export interface LogStreamDeps {
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  bus(): Bus | null;
  /** Has each line from this level on, redacted, handed to the listener, until the returned function is called. */
  tapLog(level: string, listener: (line: Readonly<Record<string, unknown>>) => void): () => void;
}

/** Sends the agent's log to `{p}/log` for a while. */
export interface LogStream {
  /** Begins, or begins again with another level; 0 minutes end it. Returns when it ends, monotonic; null: it has. */
  run(minutes: number, level: string): number | null;
  close(): void;
}

export function createLogStream({ topics, clock, bus, tapLog }: LogStreamDeps): LogStream {
  let stop = (): void => {};
  const run = (minutes: number, level: string): number | null => {
    stop();
    if (minutes === 0) return null;
    let lines: string[] = [];
    let characters = 0;
    let dropped = 0;
    let cancelSend: (() => void) | null = null;
    const send = (): void => {
      cancelSend = null;
      if (lines.length === 0 && dropped === 0) return;
      const body = { ts: timestamp(clock.wall()), lines, dropped };
      bus()?.publish(topics.log, JSON.stringify(body), { qos: 0 });
      [lines, characters, dropped] = [[], 0, 0];
    };
    const untap = tapLog(level, (line) => {
      const text = JSON.stringify(line);
      const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}...` : text;
      if (lines.length >= MOST_LINES || characters + cut.length > MOST_CHARACTERS) dropped += 1;
      else {
        lines.push(cut);
        characters += cut.length;
      }
      cancelSend ??= clock.at(clock.now() + SEND_EACH_MS, send);
    });
    const until = clock.now() + minutes * 60_000;
    const cancelEnd = clock.at(until, () => stop());
    stop = () => {
      stop = () => {};
      untap();
      cancelEnd();
      cancelSend?.();
      send();
    };
    return until;
  };
  return { run, close: () => stop() };
}
