import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';

/** Interval of messages (ms). */
const SEND_EACH_MS = 1000;
/** Maximum lines and characters of one message; further lines are only counted. */
const MOST_LINES = 50;
const MOST_CHARACTERS = 16_384;
/** Longest line (characters); longer ones are cut. */
const LONGEST_LINE = 1000;

export interface LogStreamDeps {
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  bus(): Bus | null;
  /** Passes each redacted line from this level on to the listener, until the returned function is called. */
  tapLog(level: string, listener: (line: Readonly<Record<string, unknown>>) => void): () => void;
}

/** Publishes the agent's log on `{p}/log` for a while. */
export interface LogStream {
  /** Starts, or restarts with another level; 0 minutes end it. Returns its monotonic end time; null: it has ended. */
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
