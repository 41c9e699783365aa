import type { NoteFile } from '../../adapters/running-note.ts';
import type { Bus, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { InitSystem } from '../../ports/init-system.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import type { StatusMessage } from '../../protocol/mqtt/device.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { DeviceStatus } from '../../protocol/mqtt/statuses.ts';
import { type DeviceAddress, deviceTopics } from '../../protocol/mqtt/topics.ts';
import { keptSession } from '../broker/subscriptions.ts';
import type { CommandDispatcher } from '../commands/command-dispatcher.ts';
import { createRefusingDispatcher } from './refusing-dispatcher.ts';
import type { SignalSource } from './signal-source.ts';

/** Why the agent cannot run, and how the fault is still reported to the owner. */
export interface Unusable {
  /** One line each, the most important first. */
  readonly problems: readonly string[];
  /** The first wrong key; null if the fault concerns no key. */
  readonly key: string | null;
  /** Null if even the configuration of the broker is unusable. */
  readonly broker: {
    /** Changes when another connection is needed. */
    readonly fingerprint: string;
    readonly openBus: OpenBus;
    readonly address: DeviceAddress;
    readonly groups: readonly string[];
    /** The file with the device's commands; null: they are not kept. */
    readonly commandFile: StateFile | null;
  } | null;
}

export interface RepairParts {
  /** Reads everything again; null: it is usable now. */
  readonly look: () => Unusable | null;
  readonly initSystem: InitSystem;
  readonly clock: Clock;
  readonly log: Log;
  readonly signals: SignalSource;
  readonly version: string;
  readonly bootId: string;
  readonly note: NoteFile;
}

/** Interval between reads of the files (ms); one read takes a millisecond. */
const LOOK_EVERY_MS = 5000;
const TELL_EVERY_MS = 60_000;
/** Signs of life per watchdog timeout of the init system. */
const SIGNS = 3;

/**
 * Stays up, `degraded`, without a usable configuration: a program that ends would be restarted every two seconds and
 * report nothing. Logs the reason once a minute, and reads everything again every five seconds and at SIGHUP.
 * @returns whether to go on with the present files, or to end
 */
export async function awaitRepair(first: Unusable, parts: RepairParts): Promise<'repaired' | 'ended'> {
  const { look, initSystem, clock, log, signals } = parts;
  let lastReport = { text: '', at: Number.NEGATIVE_INFINITY };
  const line = createStatusPublisher(parts);
  const tell = (fault: Unusable): void => {
    const text = fault.problems.join('\n');
    const isNew = text !== lastReport.text;
    if (!isNew && clock.now() - lastReport.at < TELL_EVERY_MS) return;
    lastReport = { text, at: clock.now() };
    const [problem = '', ...more] = fault.problems;
    const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
    log.error(
      { problems: fault.problems },
      'the configuration is unusable and nothing runs; fix it: the agent reads it again every 5 s',
    );
    if (isNew) initSystem.tell({ ready: true, status: `degraded (config): ${problem}${rest}` });
    if (isNew) line.tell(fault);
    if (isNew) parts.note.write(noteOf(fault, parts.version));
  };
  const outcome = await new Promise<'repaired' | 'ended'>((resolve) => {
    let cancelLook = (): void => {};
    const signs = signOfLife(initSystem, clock);
    const end = (how: 'repaired' | 'ended'): void => {
      cancelLook();
      signs.end();
      signals.off('SIGHUP', again);
      signals.off('SIGTERM', onEnd);
      signals.off('SIGINT', onEnd);
      resolve(how);
    };
    const again = (): void => {
      cancelLook();
      const currentFault = look();
      if (currentFault === null) return end('repaired');
      tell(currentFault);
      cancelLook = clock.at(clock.now() + LOOK_EVERY_MS, again, LOOK_EVERY_MS / 5);
    };
    const onEnd = (): void => end('ended');
    signals.on('SIGHUP', again);
    signals.on('SIGTERM', onEnd);
    signals.on('SIGINT', onEnd);
    tell(first);
    cancelLook = clock.at(clock.now() + LOOK_EVERY_MS, again, LOOK_EVERY_MS / 5);
  });
  if (outcome === 'ended') initSystem.tell({ stopping: true });
  else log.info({}, 'the configuration is usable again');
  await Promise.all([line.close(outcome === 'ended'), parts.note.remove()]);
  return outcome;
}

function reasonsOf({ key }: Unusable): string[] {
  return [key === null ? 'config' : `config:${key}`];
}

/** The note says nothing about the broker, which does not matter until the configuration is usable. */
function noteOf(unusable: Unusable, version: string): Parameters<NoteFile['write']>[0] {
  const [problem = 'unknown reason'] = unusable.problems;
  const state = { status: 'degraded', reasons: reasonsOf(unusable), broker: null, connectedSince: null };
  return { version, ...state, problem, config: {} };
}

/** Sends signs of life on a timer: there is no other work that could hang. */
function signOfLife({ watchdogMs, tell }: InitSystem, clock: Clock): { end(): void } {
  if (watchdogMs === null) return { end() {} };
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.at(clock.now() + watchdogMs / SIGNS, () => {
      tell({ alive: true });
      arm();
    });
  };
  arm();
  return { end: () => cancel() };
}

/** Publishes the status and refuses commands: the device can do nothing else. */
function createStatusPublisher({ clock, log, version, bootId }: RepairParts) {
  let bus: {
    readonly fingerprint: string;
    readonly line: Bus;
    readonly topic: string;
    readonly dispatcher: CommandDispatcher;
  } | null = null;
  let reasons: string[] = [];
  let problem = '';
  let connection = 0;
  const body = (status: DeviceStatus, conn_seq: number, why: string[]): string => {
    // The time of a loss is not known in advance.
    const ts = status === 'lost' ? null : timestamp(clock.wall());
    const message: StatusMessage = { ts, status, boot_id: bootId, conn_seq, version, reasons: why };
    return JSON.stringify(message);
  };
  const publish = (): void => {
    if (bus === null || connection === 0) return;
    bus.line.publish(bus.topic, body('degraded', connection, reasons), { qos: 1, retain: true });
  };
  const open = ({
    openBus,
    address,
    groups,
    commandFile,
    fingerprint,
  }: NonNullable<Unusable['broker']>): void => {
    connection = 0;
    const topics = deviceTopics(address);
    const dispatcher = createRefusingDispatcher({
      address,
      groups,
      clock,
      log,
      commandFile,
      problem: () => problem,
      status: () => ({ status: 'degraded', reasons, version, boot_id: bootId, lanes: [] }),
    });
    const line = openBus(
      {
        ...keptSession(topics, groups),
        will: (number) => ({ topic: topics.status, payload: body('lost', number, ['connection_lost']) }),
      },
      {
        up(number) {
          connection = number;
          publish();
        },
        down() {},
        message(message) {
          dispatcher.receive(line, message);
        },
      },
    );
    bus = { fingerprint, line, topic: topics.status, dispatcher };
    dispatcher.begin(line);
  };
  return {
    tell(unusable: Unusable): void {
      const { broker, problems } = unusable;
      reasons = reasonsOf(unusable);
      problem = problems[0] ?? '';
      if (broker?.fingerprint === bus?.fingerprint) return publish();
      void bus?.dispatcher.close();
      void bus?.line.close();
      bus = null;
      if (broker !== null) open(broker);
    },
    /** @param isLast publishes the status `offline` */
    async close(isLast: boolean): Promise<void> {
      if (bus === null) return;
      const { line, topic, dispatcher } = bus;
      bus = null;
      await dispatcher.close();
      const finale = { topic, payload: body('offline', connection, []), retain: true };
      await (isLast ? line.close(finale) : line.close());
      await dispatcher.saved();
    },
  };
}
