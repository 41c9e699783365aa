/** Streams that throw, and devices that reject when they are opened. */
import type { AgentDeps } from '../../src/agent/deps.ts';
import type { StreamConnection } from '../../src/ports/stream.ts';
import type { OnStrike } from './strikes.ts';

/** How often each call throws from now on. */
export type PortFaults = Record<PortCall, number> & {
  /** This many times one has thrown. */
  thrown: number;
  /** When the loudspeaker of a lane did so last as it was opened, and has not been opened since. */
  readonly loudspeakerThrewAt: Map<string, number>;
};

/** A loudspeaker that did not open is tried again within this. */
const OPENED_AGAIN_MS = 31_000;

/** Whether a lane has no loudspeaker, through no fault of the agent. */
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

/** The same world with ports that throw as often as `faults` says. */
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
    // No text is spoken here.
    say: connection.say,
    end: guard('end', connection.end),
    ping: guard('ping', connection.ping),
    // It is over all the same: a socket that throws at its end is none that stays.
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
