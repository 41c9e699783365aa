import { ignoredProxy } from '../../adapters/network/ignored-proxy.ts';
import { redactValue } from '../../adapters/redaction.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MachineParts } from '../../ports/machine.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';
import { CHECKS, type CheckName, type Diagnosis, diagnosisSchema } from '../../protocol/mqtt/diagnose.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { deviceSubscriptions } from '../broker/subscriptions.ts';
import { CommandError } from '../commands/command-request.ts';
import { configWarnings } from '../config/config-warning-rules.ts';
import { serviceAuthority } from '../config/unusable-file.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { judgeAgent } from './checks/agent/agent-rules.ts';
import { createBackendProbe } from './checks/backend/backend-probe.ts';
import { isExposed } from './checks/broker/broker-connection.ts';
import { judgeLogin } from './checks/broker/login-rules.ts';
import { type HeardPiece, judgeHearing, measureHearing } from './checks/capture/microphone-rules.ts';
import { judgeCaptureFindings, judgeRunningPlayback } from './checks/capture/running-capture-rules.ts';
import { judgeConfiguration } from './checks/configuration/configuration-rules.ts';
import { ownUser, readNamedFiles } from './checks/configuration/named-files.ts';
import { nameOf } from './lanes-in-turn.ts';
import { machineChecks } from './machine-parts.ts';
import { about, type Check, deviceCheck, runChecks } from './report/check.ts';
import { combine, diagnosisOf, type Outcome, problem, skipped } from './report/finding.ts';
import { type BrokerConnection, connectionChecks } from './servers.ts';
import { judgeDeviceFault } from './sound-devices/device-fault-rules.ts';

/** The state of the agent, for its own diagnosis. */
export interface DiagnoseDeps {
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  readonly version: string;
  readonly lanes: readonly LaneRunner[];
  /** Null without a real machine, as in a simulation. */
  readonly machine: MachineParts | null;
  config(): Config;
  bus(): Bus | null;
  /** MQTT version of the current connection. */
  protocol(): 4 | 5;
  status(): { readonly status: string; readonly reasons: readonly string[] };
  watch(listener: (step: LaneStep) => void): () => void;
  randomHash(): string;
  /** Token requests that the broker refused since the start. */
  refusals(): number;
  /** Removes tokens and session ids from a text. */
  hide(text: string): string;
}

/** The doctor inside a running agent. */
export interface Diagnose {
  /** @throws CommandError while another diagnosis runs */
  run(only: readonly CheckName[] | null): Promise<Diagnosis>;
  /** Whether a trial waits for the answer to this request. */
  awaits(id: string): boolean;
  /** Handles an answer to a token request; true if it belongs to a trial. */
  receive(body: unknown): boolean;
  /** An answer was refused. @param why the reason, as the end of a sentence */
  refused(why: string): void;
}

const QUICK_MS = 5000;
const LISTEN_MS = 2000;

/**
 * The doctor's checks inside the agent: over its live connection, with the microphones of its lanes, and without a
 * test tone.
 */
export function createDiagnose(deps: DiagnoseDeps): Diagnose {
  const { topics, clock, version, lanes } = deps;
  const probe = createBackendProbe(topics, clock, () => `doctor-${deps.randomHash()}`, deps.hide);
  let isRunning = false;
  const checks = (only: readonly CheckName[] | null): Check[] => {
    const config = deps.config();
    const each = (judge: (lane: LaneRunner, config: LaneConfig) => Promise<Outcome> | Outcome) => () =>
      Promise.all(
        lanes.map(async (lane) => {
          const own = config.lanes.find(({ id }) => id === lane.id);
          return about(lane.id, own === undefined ? skipped('not configured') : await judge(lane, own));
        }),
      );
    return [
      deviceCheck('configuration', QUICK_MS, () => judgeRunning(deps, config)),
      deviceCheck('agent', QUICK_MS, () => judgeItself(deps)),
      ...connectionChecks({
        clock,
        topics,
        probe,
        lane: lanes[0]?.id ?? 'main',
        join: async () => judgeConnection(deps, config),
        hosts: config.service.hosts,
        serviceCa: () => serviceAuthority(config),
        proxy: deps.machine === null ? null : ignoredProxy(deps.machine.env),
        tells: (name) => only === null || only.includes(name),
      }),
      { name: 'capture', limitMs: LISTEN_MS + QUICK_MS, run: each((lane, own) => hear(lane, own, deps)) },
      { name: 'playback', limitMs: QUICK_MS, run: each(judgePlayback) },
      ...(deps.machine === null ? [] : machineChecks(deps.machine, config)),
    ];
  };
  return {
    async run(only) {
      if (isRunning) throw new CommandError('busy', 'a diagnosis is under way; ask again in a minute');
      isRunning = true;
      try {
        const all = checks(only);
        const wanted = CHECKS.filter((name) => only === null || only.includes(name));
        const chosen = wanted.flatMap((name) => all.filter((check) => check.name === name));
        const answerBody = diagnosisOf(version, await runChecks(chosen, { clock }));
        // The last safeguard, as in the log: no text that looks like a secret leaves the device.
        return diagnosisSchema.parse(redactValue(answerBody));
      } finally {
        isRunning = false;
      }
    },
    awaits: (id) => probe.awaits(id),
    receive: (body) => probe.receive(body),
    refused: (why) => probe.refused(why),
  };
}

function judgeRunning({ machine }: DiagnoseDeps, config: Config): Outcome {
  return judgeConfiguration({
    file: 'the running configuration',
    lanes: config.lanes.length,
    agent: null,
    isOpenToAll: false,
    user: ownUser(),
    warnings: configWarnings(config),
    files: machine === null ? [] : readNamedFiles(config, machine.env),
  });
}

function judgeItself({ status, version }: DiagnoseDeps): Outcome {
  return judgeAgent({ ...status(), version, broker: true, problem: null, differing: [] }, null, version);
}

function judgeConnection(
  { bus, protocol, topics, refusals }: DiagnoseDeps,
  config: Config,
): BrokerConnection {
  const live = bus();
  if (live === null || !live.connected)
    return { outcome: problem('the agent has no connection to the broker', 'See its log.'), bus: null };
  const subscriptions = deviceSubscriptions(topics, config.device.groups).length;
  const clientId = `${config.device.tenant}.${config.device.id}`;
  const facts = { ok: true, protocol: protocol(), subscriptions, as: 'agent', limits: [] } as const;
  const before = refusals();
  return {
    outcome: judgeLogin(facts, { clientId, isExposed: isExposed(config), names: config.mqtt }),
    bus: live,
    hasRefused: () => refusals() > before,
  };
}

/** Judges the sound that the lane receives in the next two seconds. */
async function hear(lane: LaneRunner, { capture }: LaneConfig, deps: DiagnoseDeps): Promise<Outcome> {
  const device = nameOf(capture);
  const pieces: HeardPiece[] = [];
  const rateHz = capture.sampleRate;
  const { clock } = deps;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      unwatch();
      cancel();
      resolve();
    };
    const unwatch = deps.watch(({ lane: id, event }) => {
      if (id !== lane.id || event.type !== 'captured') return;
      pieces.push(event);
      const ms = pieces.reduce((sum, { pcm }) => sum + (pcm.byteLength / 2 / rateHz) * 1000, 0);
      if (ms >= LISTEN_MS) settle();
    });
    const cancel = clock.at(clock.now() + LISTEN_MS * 1.5, settle);
  });
  const { phase } = lane;
  const { captureLost, deviceFaults } = lane.state;
  if (captureLost) return judgeLost(device, deviceFaults.capture, 'capture');
  if (pieces.length === 0 && (phase === 'idle' || phase === 'closed'))
    return skipped(`the lane is ${phase} and does not listen; the command "start" starts it`);
  return combine([
    judgeHearing(measureHearing(pieces, rateHz), {
      device,
      isRecording: capture.driver === 'file',
      wasSilentBeforeTone: null,
    }),
    ...judgeCaptureFindings(device, lane.state.captureFindings),
  ]);
}

/** Judges a fault from a lane's state, where the fault's code begins with the direction. */
function judgeLost(
  device: string,
  fault: { readonly code: string; readonly message: string } | null,
  direction: 'capture' | 'playback',
): Outcome {
  const { code, message } = fault ?? { code: 'failed', message: 'it has failed' };
  return judgeDeviceFault(device, { code: code.replace(`${direction}_`, ''), message });
}

function judgePlayback({ state }: LaneRunner, { capture, playback }: LaneConfig): Outcome {
  const device = nameOf(playback);
  const { playbackLost, deviceFaults, playout, settings } = state;
  if (playbackLost) return judgeLost(device, deviceFaults.playback, 'playback');
  const playedS = Math.round(playout.writtenBytes / settings.playoutBytesPerMs / 1000);
  const hasAir = capture.driver !== 'file' && playback.driver !== 'file';
  return judgeRunningPlayback(device, { volume: state.options.volume, playedS, hasAir }, state.echo);
}
