/** Makes calls of the stream throw, and makes sound devices fail to open. */
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { StreamConnection } from '../../src/ports/stream.ts';
import type { OnStrike } from './strikes.ts';

/** How many of the next calls throw, by call. */
export type PortFaults = Record<PortCall, number> & {
  /** Calls that have thrown so far. */
  thrown: number;
  /** When a lane's loudspeaker last failed to open, if it has not been opened since. */
  readonly loudspeakerThrewAt: Map<string, number>;
};

/** Time within which the agent tries to open a loudspeaker again (ms). */
const OPENED_AGAIN_MS = 31_000;

/** Whether a lane has no loudspeaker, and the agent is not to blame. */
export function isWithoutLoudspeaker({ loudspeakerThrewAt }: PortFaults, lane: string, now: number): boolean {
  return now - (loudspeakerThrewAt.get(lane) ?? Number.NEGATIVE_INFINITY) < OPENED_AGAIN_MS;
}

export const PORT_CALLS = [
  'openStream',
  'runTask',
  'askForTask',
  'sendAudio',
  'end',
  'ping',
  'close',
  'openCapture',
  'openPlayback',
] as const;
export type PortCall = (typeof PORT_CALLS)[number];

export const NO_PORT_FAULTS = Object.fromEntries(PORT_CALLS.map((call) => [call, 0])) as Record<
  PortCall,
  number
>;

/** The same ports, which throw as often as `faults` says. */
export function withThrowingPorts(world: AgentDeps, faults: PortFaults, onStrike: OnStrike): AgentDeps {
  const strike = (call: PortCall): void => {
    if (faults[call] === 0) return;
    faults[call] -= 1;
    faults.thrown += 1;
    onStrike('port_throws', 0);
    throw new Error(`${call} threw, on purpose`);
  };
  const guard =
    <Args extends readonly unknown[], Result>(call: PortCall, usual: (...args: Args) => Result) =>
    (...args: Args): Result => {
      strike(call);
      return usual(...args);
    };
  const stream = (connection: StreamConnection): StreamConnection => ({
    runTask: guard('runTask', connection.runTask),
    askForTask: guard('askForTask', connection.askForTask),
    sendAudio: guard('sendAudio', connection.sendAudio),
    // Never throws.
    say: connection.say,
    end: guard('end', connection.end),
    ping: guard('ping', connection.ping),
    // The connection is closed although the call throws.
    close() {
      connection.close();
      strike('close');
    },
    terminate() {
      connection.terminate();
      strike('close');
    },
    get bufferedBytes() {
      return connection.bufferedBytes;
    },
  });
  return {
    ...world,
    openStream: guard('openStream', (target, listener) => stream(world.openStream(target, listener))),
    openAudio(lane) {
      const audio = world.openAudio(lane);
      return {
        ...audio,
        openCapture: async (sink, cancels) => {
          strike('openCapture');
          return audio.openCapture(sink, cancels);
        },
        openPlayback: async (sink) => {
          if (faults.openPlayback > 0) faults.loudspeakerThrewAt.set(lane.id, world.clock.now());
          strike('openPlayback');
          const opened = await audio.openPlayback(sink);
          faults.loudspeakerThrewAt.delete(lane.id);
          return opened;
        },
      };
    },
  };
}
