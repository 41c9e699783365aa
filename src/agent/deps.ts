import type { CreateEchoDetector } from '../core/audio/echo-detector.ts';
import type { OpenCapture, OpenPlayback } from '../ports/audio.ts';
import type { Brokers } from '../ports/brokers.ts';
import type { OpenBus } from '../ports/bus.ts';
import type { DeviceCertificate } from '../ports/certificate.ts';
import type { Clock } from '../ports/clock.ts';
import type { OpenEchoCanceller } from '../ports/echo.ts';
import type { Host } from '../ports/host.ts';
import type { Log } from '../ports/log.ts';
import type { SignatureReader } from '../ports/signature.ts';
import type { StateFile } from '../ports/state-file.ts';
import type { OpenStream } from '../ports/stream.ts';
import type { ReadVitals } from '../ports/vitals.ts';
import type { CreateVoiceDetector } from '../ports/voice.ts';
import type { Config, LaneConfig } from '../protocol/config.ts';
import type { MachineParts } from './doctor/machine-checks.ts';
import type { DefectReports } from './guard/defects.ts';

/** Everything outside that the agent acts through. */
export interface AgentDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Where what throws is told; left out: the agent's own. */
  readonly defects?: DefectReports;
  readonly version: string;
  readonly openBus: OpenBus;
  readonly openStream: OpenStream;
  /** Checks what the owner has signed; absent or null: anybody's word is taken. */
  readonly signatures?: SignatureReader | null;
  readonly createVoiceDetector: CreateVoiceDetector;
  /** Absent where echo can't be cancelled. */
  readonly openEchoCanceller?: OpenEchoCanceller;
  /** What the command `diagnose` looks at beside the agent itself; absent where there is no such machine. */
  readonly machine?: MachineParts;
  openAudio(lane: LaneConfig): {
    openCapture: OpenCapture;
    openPlayback: OpenPlayback;
    /** Left out: the usual one. */
    createEchoDetector?: CreateEchoDetector;
  };
  /** Where commands are remembered over a restart; absent where nothing outlives the program. */
  readonly commandFile?: StateFile;
  /** Where what is desired over MQTT is kept, likewise. */
  readonly desiredFile?: StateFile;
  /** Where the tasks that the service took are kept, likewise. */
  readonly taskFile?: StateFile;
  /** Which broker the connection goes to; absent where that never changes. */
  readonly brokers?: Brokers;
  /** The client certificate; absent where the device has none. */
  readonly certificate?: DeviceCertificate;
  /** Where what is used of the budget is kept, likewise. */
  readonly budgetFile?: StateFile;
  /** Of this machine, such as `Europe/Berlin`; absent or null: it has none that can be named. */
  readonly timeZone?: string | null;
  setLogLevel?(level: Config['log']['level']): void;
  /** Hands each line from this level on to the listener, redacted, until the returned function is called. */
  tapLog?(level: string, listener: (line: Readonly<Record<string, unknown>>) => void): () => void;
  /** What the machine tells of the program, for `{p}/health`. */
  readonly vitals?: ReadVitals;
  /** Absent where the commands `restart` and `reboot` mean nothing. */
  readonly host?: Host;
  /** A number in [0, 1): seeds and jitter, never secrets. */
  random(): number;
  /** A fresh URL-safe string that nobody can guess: 96 random bits or more. */
  randomHash(): string;
}
