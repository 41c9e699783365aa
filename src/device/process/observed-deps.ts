import type { OpenCapture } from '../../ports/audio.ts';
import type { AgentDeps } from '../deps/deps.ts';
import type { LaneStep } from '../lane/runner/lane-runner.ts';
import type { LaneProgress } from './progress.ts';

/** The state of microphones and connection since the start. */
export interface Observed {
  /** The given ports, with microphones and connection observed. */
  readonly deps: AgentDeps;
  /** Call after each step of a lane. */
  onStep(step: LaneStep): void;
  /** True: connected; a text: why not; null: not known yet. */
  readonly broker: true | string | null;
  progress(): LaneProgress[];
  /** Every open microphone has delivered or failed, and a first connection has succeeded or failed. */
  readonly isTried: boolean;
  /** Calls back once: now, or as soon as everything has been tried. */
  whenTried(callback: () => void): void;
}

interface Microphone {
  state: 'closed' | 'opening' | 'sounding' | 'failed';
  changes: number;
  chunks: number;
}

/** Observes the calls between the agent and its ports without changing them. */
export function observeDeps(outside: AgentDeps): Observed {
  const microphones = new Map<string, Microphone>();
  let broker: Observed['broker'] = null;
  let waiting: (() => void)[] = [];
  const isTried = (): boolean =>
    broker !== null && [...microphones.values()].every(({ state }) => state !== 'opening');
  const look = (): void => {
    if (waiting.length === 0 || !isTried()) return;
    const callbacks = waiting;
    waiting = [];
    for (const callback of callbacks) callback();
  };
  const changed = (microphone: Microphone, state: Microphone['state']): void => {
    if (microphone.state === state) return;
    microphone.state = state;
    microphone.changes += 1;
    look();
  };
  const deps: AgentDeps = {
    ...outside,
    openBus: (options, listener) =>
      outside.openBus(options, {
        ...listener,
        up(connection, protocol) {
          broker = true;
          listener.up(connection, protocol);
          look();
        },
        down(problem, message) {
          broker = message;
          listener.down(problem, message);
          look();
        },
      }),
    openAudio(lane) {
      const microphone: Microphone = { state: 'closed', changes: 0, chunks: 0 };
      const audio = outside.openAudio(lane);
      const openCapture = observeCapture(audio.openCapture, (state) => changed(microphone, state));
      return {
        ...audio,
        openCapture(...given) {
          // Not in `openAudio`: a lane that only gets another loudspeaker keeps its microphone.
          microphones.set(lane.id, microphone);
          return openCapture(...given);
        },
      };
    },
  };
  return {
    deps,
    onStep({ lane, event }) {
      const microphone = microphones.get(lane);
      if (event.type === 'captured' && microphone !== undefined) microphone.chunks += 1;
    },
    get broker() {
      return broker;
    },
    progress: () =>
      [...microphones].map(([lane, { state, changes, chunks }]) => ({
        lane,
        changes,
        chunks,
        listens: state === 'opening' || state === 'sounding',
      })),
    get isTried() {
      return isTried();
    },
    whenTried(callback) {
      waiting.push(callback);
      look();
    },
  };
}

function observeCapture(open: OpenCapture, changed: (state: Microphone['state']) => void): OpenCapture {
  return async (sink, shortPeriods) => {
    changed('opening');
    try {
      const capture = await open(
        {
          frames(pcm, capturedAt) {
            changed('sounding');
            sink.frames(pcm, capturedAt);
          },
          ended: () => sink.ended(),
          gainChanged: (change) => sink.gainChanged?.(change),
          fault(fault) {
            changed('failed');
            sink.fault(fault);
          },
        },
        shortPeriods,
      );
      return {
        get figures() {
          return capture.figures;
        },
        useShortPeriods: (on) => capture.useShortPeriods?.(on),
        close() {
          changed('closed');
          return capture.close();
        },
      };
    } catch (error) {
      changed('failed');
      throw error;
    }
  };
}
