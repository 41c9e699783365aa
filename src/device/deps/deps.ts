import type { DefectReports } from '../../machine/defects.ts';
import type { OpenCapture, OpenPlayback } from '../../ports/audio.ts';
import type { Brokers } from '../../ports/brokers.ts';
import type { OpenBus } from '../../ports/bus.ts';
import type { DeviceCertificate } from '../../ports/certificate.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OpenEchoCanceller } from '../../ports/echo.ts';
import type { Host } from '../../ports/host.ts';
import type { OpenKeyDevice } from '../../ports/keys.ts';
import type { Log } from '../../ports/log.ts';
import type { MachineParts } from '../../ports/machine.ts';
import type { WatchPlug } from '../../ports/plug.ts';
import type { SignatureReader } from '../../ports/signature.ts';
import type { StateFile } from '../../ports/state-file.ts';
import type { OpenStream } from '../../ports/stream.ts';
import type { Updates } from '../../ports/updater.ts';
import type { ReadVitals } from '../../ports/vitals.ts';
import type { CreateVoiceDetector } from '../../ports/voice.ts';
import type { WallMs } from '../../protocol/common/time.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';
import type { CreateEchoDetector } from '../../sound/echo-detector.ts';

/** All ports that the agent acts through. */
export interface AgentDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The reporter of exceptions; default: the agent's own. */
  readonly defects?: DefectReports;
  readonly version: string;
  readonly openBus: OpenBus;
  readonly openStream: OpenStream;
  /** Checks the owner's signatures; absent or null: signatures are not checked. */
  readonly signatures?: SignatureReader | null;
  readonly createVoiceDetector: CreateVoiceDetector;
  /** Absent if there are no keys. */
  readonly openKeyDevice?: OpenKeyDevice;
  /** Loads a sound of the spoken menu as samples for the loudspeaker, null if there is no such sound. Absent if they are not installed. */
  readonly loadMenuSound?: (language: string, sound: string) => Promise<Uint8Array | null>;
  /** Absent if this machine cannot cancel echo. */
  readonly openEchoCanceller?: OpenEchoCanceller;
  /** The machine, for the command `diagnose`; absent if there is none. */
  readonly machine?: MachineParts;
  openAudio(lane: LaneConfig): {
    openCapture: OpenCapture;
    openPlayback: OpenPlayback;
    /** Absent if the lane has no headset. */
    openHeadset?: OpenPlayback;
    watchPlug?: WatchPlug;
    /** Default: the detector in src/sound. */
    createEchoDetector?: CreateEchoDetector;
  };
  /** Keeps commands across restarts; absent if no state is kept. */
  readonly commandFile?: StateFile;
  /** Keeps the desired configuration, likewise. */
  readonly desiredFile?: StateFile;
  /** Keeps the tasks that the service accepted, likewise. */
  readonly taskFile?: StateFile;
  /** The choice of the broker; absent if it never changes. */
  readonly brokers?: Brokers;
  /** The client certificate; absent if the device has none. */
  readonly certificate?: DeviceCertificate;
  /** Keeps the budget use across restarts; absent if no state is kept. */
  readonly budgetFile?: StateFile;
  /** The machine's time zone, such as `Europe/Berlin`; absent or null: unknown. */
  timeZone?(): string | null;
  /** The local day in that zone, a cheaper `localDay`; absent: computed from `timeZone`. */
  machineDay?(wall: WallMs): number;
  setLogLevel?(level: Config['log']['level']): void;
  /** Passes each redacted line from this level on to the listener, until the returned function is called. */
  tapLog?(level: string, listener: (line: Readonly<Record<string, unknown>>) => void): () => void;
  /** Measures of this process, for `{p}/health`. */
  readonly vitals?: ReadVitals;
  /** Absent if the commands `restart` and `reboot` are not supported. */
  readonly host?: Host;
  /** The machine's updater; absent if there is none. */
  readonly updates?: Updates;
  /** Minute of the machine's local day; absent: the minute of the UTC day is used. */
  machineMinute?(wall: WallMs): number;
  /** A number in [0, 1): for seeds and jitter, never for secrets. */
  random(): number;
  /** A fresh URL-safe string that cannot be guessed: 96 random bits or more. */
  randomHash(): string;
}
