import { classifyRefusal } from '../../src/adapters/stream/refusal.ts';
import { endedOf, eventOf } from '../../src/adapters/stream/server-event.ts';
import { speechTask } from '../../src/adapters/stream/task.ts';
import { HEALTHY_LINK, type Link } from '../../src/emulator/core/effect.ts';
import type { Opening } from '../../src/emulator/core/opening.ts';
import type { OutMessage } from '../../src/emulator/core/outbox.ts';
import { refuse } from '../../src/emulator/core/refusal.ts';
import type {
  OpenStream,
  ServiceEvent,
  StreamConnection,
  StreamListener,
  StreamTarget,
} from '../../src/ports/stream.ts';
import type { Network } from './network.ts';
import type { SimClock } from './sim-clock.ts';
import { deliverRaw, toServiceEvent } from './wire-message.ts';

/** The service's side of one connection. */
export interface ServiceEnd {
  open(token: string | null): Opening | 'down';
  hear(stream: string, pcm: Uint8Array): void;
  receive(stream: string, json: unknown): void;
  gone(stream: string, code: number, by: 'client' | 'network'): void;
  attach(stream: string, link: ServiceLink): void;
  /** Extra time for the next upgrade (ms). */
  upgradeDelayMs(): number;
}

/** The service's actions on a connection. */
export interface ServiceLink {
  send(message: OutMessage): void;
  sendRaw(payload: string | Uint8Array): void;
  setLink(link: Link): void;
  close(code: number, reason: string): void;
  reset(): void;
}

/** Reports the device's connections to the oracles. */
export interface WireWatch {
  opening(connection: number, token: string | null): void;
  unspent(token: string | null): void;
  opened(connection: number): void;
  sent(
    connection: number,
    kind: 'audio' | 'set_task' | 'get_task' | 'tts_task' | 'end_task',
    pcm: Uint8Array | null,
  ): void;
  delivered(connection: number, event: ServiceEvent): void;
  /** The service has accepted the connection. @param stream the service's id of the stream */
  accepted(connection: number, stream: string): void;
  /** A pong has arrived. */
  pong(connection: number): void;
  over(connection: number): void;
}

/** Refusals at the upgrade that do not use up the token. */
const NO_ROOM: ReadonlySet<string> = new Set(['session_limit_reached', 'pending_sessions_limit_reached']);
/** Silence after which the service drops a client (ms), and time between two checks. */
const SILENT_MS = 30_000;
const CHECK_MS = 10_000;
const HANDSHAKE_LIMIT_MS = 30_000;
const FRAME_OVERHEAD = 60;
/** Time until a name look-up fails (ms). */
const DNS_MS = 4000;
/** Size of the kernel's send buffer (bytes). */
const KERNEL_BYTES = 87_380;

export interface WireSetup {
  readonly clock: SimClock;
  readonly network: Network;
  readonly service: ServiceEnd;
  readonly watch: WireWatch;
  /** Whether the process that opened the connection still runs. */
  readonly isAlive: () => boolean;
  /** Called with a function that ends the connection when the process dies. */
  readonly enlist: (cut: () => void) => void;
}

/** Simulated WebSockets: messages keep their order within a connection, but not between two. */
export function createWire(setup: WireSetup): OpenStream {
  let connections = 0;
  return (target, listener) => openConnection(setup, target, listener, ++connections);
}

function openConnection(
  setup: WireSetup,
  { address, token }: StreamTarget,
  listener: StreamListener,
  number: number,
): StreamConnection {
  const { clock, network, service, watch } = setup;
  const { hostname } = new URL(address);
  let stream: string | null = null;
  let open = false;
  let over = false;
  let serverGone = false;
  let link: Link = HEALTHY_LINK;
  let upArrival = 0;
  let upFree = 0;
  let downArrival = 0;
  /** Bytes that were sent and have not arrived. */
  let buffered = 0;
  let isBackedUp = false;
  let lastHeardAt = clock.now();
  const heldUp: (() => void)[] = [];
  const heldDown: (() => void)[] = [];
  const moving: { waiting: boolean } = { waiting: false };

  const isCut = (): boolean => network.blackHole;
  /** Ends the connection for the client, unless the client has closed it. */
  const settle = (say: () => void): void => {
    if (over) return;
    over = true;
    watch.over(number);
    if (setup.isAlive()) say();
  };

  const pumpHeld = (): void => {
    if (moving.waiting) return;
    moving.waiting = true;
    clock.at(clock.now() + 500, () => {
      moving.waiting = false;
      if (isCut()) return heldUp.length + heldDown.length > 0 ? pumpHeld() : undefined;
      if (!link.deaf) for (const act of heldUp.splice(0)) act();
      if (!link.mute) for (const act of heldDown.splice(0)) act();
      if (heldUp.length + heldDown.length > 0 && !(serverGone && over)) pumpHeld();
    });
  };
  const leave = (bytes: number): void => {
    buffered -= bytes;
    if (!isBackedUp || buffered > KERNEL_BYTES) return;
    isBackedUp = false;
    if (!over && setup.isAlive()) listener.drained();
  };
  const up = (bytes: number, act: () => void): void => {
    const now = clock.now();
    const rate = Math.min(
      network.uplinkBytesPerS,
      link.readBytesPerS === 0 ? Number.POSITIVE_INFINITY : link.readBytesPerS,
    );
    upFree = Math.max(upFree, now) + (rate === Number.POSITIVE_INFINITY ? 0 : (bytes / rate) * 1000);
    upArrival = Math.max(upArrival, upFree + network.delay());
    buffered += bytes;
    isBackedUp ||= buffered > KERNEL_BYTES;
    clock.at(upArrival, () => {
      const arrive = (): void => {
        leave(bytes);
        if (serverGone) return;
        lastHeardAt = clock.now();
        act();
      };
      if (isCut() || link.deaf || heldUp.length > 0) {
        heldUp.push(arrive);
        pumpHeld();
      } else arrive();
    });
  };
  const down = (act: () => void): void => {
    downArrival = Math.max(downArrival, clock.now() + network.delay());
    clock.at(downArrival, () => {
      const arrive = (): void => {
        if (!over && setup.isAlive()) act();
      };
      if (isCut() || link.mute || heldDown.length > 0) {
        heldDown.push(arrive);
        pumpHeld();
      } else arrive();
    });
  };

  const deliver = (event: ServiceEvent): void => {
    watch.delivered(number, event);
    listener.said(event);
  };
  const end: ServiceLink = {
    send(message) {
      down(() => deliver(toServiceEvent(message)));
    },
    sendRaw: (payload) => down(() => deliverRaw(payload, listener, deliver)),
    setLink(next) {
      link = next;
      pumpHeld();
    },
    close(code, reason) {
      serverGone = true;
      if (link.mute) link = HEALTHY_LINK;
      down(() => settle(() => listener.said(endedOf(code, reason))));
    },
    reset() {
      serverGone = true;
      clock.at(clock.now() + network.delay(), () => {
        if (!isCut()) settle(() => listener.said(endedOf(1006, '')));
      });
    },
  };

  /** The service drops a client that has been silent for too long. */
  const check = (): void => {
    if (serverGone || stream === null) return;
    if (clock.now() - lastHeardAt > SILENT_MS) {
      serverGone = true;
      service.gone(stream, 1006, 'network');
      if (!isCut() && !link.deaf) settle(() => listener.said(endedOf(1006, '')));
      return;
    }
    clock.at(clock.now() + CHECK_MS, check);
  };

  const accept = (opening: Opening): void => {
    if (opening.kind === 'opened') {
      stream = opening.stream;
      watch.accepted(number, stream);
      lastHeardAt = clock.now();
      clock.at(clock.now() + CHECK_MS, check);
      service.attach(stream, end);
      down(() => {
        open = true;
        watch.opened(number);
        listener.opened();
      });
      return;
    }
    serverGone = true;
    if (opening.delivery === 'http') {
      if (!opening.bare && NO_ROOM.has(opening.reason)) watch.unspent(token);
      const { status, body } = refuse(opening.reason, 'sim');
      const error = (
        body as { errors: { type: string; title: string; detail: string; error_code: number }[] }
      ).errors[0];
      const texts = opening.bare || error === undefined ? [] : [error.title, error.type, error.detail];
      const errorCode = opening.bare ? null : (error?.error_code ?? null);
      const detail = opening.bare || error === undefined ? null : `${error.title}: ${error.detail}`;
      const reason = classifyRefusal({ httpStatus: status, errorCode, texts });
      const refused = { type: 'refused', reason, status, errorCode, detail, retryAfterMs: null } as const;
      down(() => settle(() => listener.said(refused)));
      return;
    }
    down(() => {
      open = true;
      watch.opened(number);
      listener.opened();
    });
    if (opening.delivery === 'message') {
      const data = { code: opening.reason.toUpperCase(), desc: opening.reason, reason: opening.reason };
      down(() => deliver(eventOf({ message_type: 'error', data })));
    }
    down(() => settle(() => listener.said(endedOf(1008, opening.reason))));
  };

  const upgrade = (): void => {
    if (over) return;
    if (isCut()) return;
    const opening = service.open(token);
    if (opening === 'down') {
      watch.unspent(token);
      down(() => settle(() => listener.unreached(false, 'the service does not accept connections')));
    } else accept(opening);
  };

  const begin = (): void => {
    watch.opening(number, token);
    if (network.dnsFails) {
      clock.at(clock.now() + DNS_MS, () => {
        watch.unspent(token);
        settle(() => listener.unreached(false, 'the name server does not answer'));
      });
      return;
    }
    clock.at(clock.now() + HANDSHAKE_LIMIT_MS, () => {
      if (!open) settle(() => listener.unreached(true, 'the service does not answer'));
    });
    if (hostname === network.serviceHost) {
      clock.at(clock.now() + 2 * network.delay() + service.upgradeDelayMs(), upgrade);
      return;
    }
    watch.unspent(token);
    if (!hostname.startsWith('silent'))
      down(() => settle(() => listener.unreached(false, 'the host refuses connections')));
  };
  /** The client closes; the service learns it when the network allows. */
  const letGo = (code: number): void => {
    if (over && serverGone) return;
    if (!over) watch.over(number);
    over = true;
    up(4, () => {
      if (stream === null || serverGone) return;
      serverGone = true;
      service.gone(stream, code, 'client');
    });
    // The service notices at once when the client is gone during the upgrade.
    if (stream === null) serverGone = true;
  };
  setup.enlist(() => letGo(1006));
  begin();

  const say = (kind: 'set_task' | 'get_task' | 'tts_task' | 'end_task', data: unknown): void => {
    if (!open || over) return;
    watch.sent(number, kind, null);
    up(FRAME_OVERHEAD, () => service.receive(stream ?? '', { message_type: kind, data }));
  };
  return {
    runTask: (task) => say('set_task', speechTask(task)),
    askForTask: () => say('get_task', {}),
    say: (text, language, translate_text) => say('tts_task', { text, language, translate_text }),
    end: () => say('end_task', {}),
    sendAudio(pcm) {
      if (!open || over) return;
      const bytes = Math.ceil(pcm.byteLength / 3) * 4 + FRAME_OVERHEAD;
      watch.sent(number, 'audio', pcm);
      up(bytes, () => service.hear(stream ?? '', pcm));
    },
    ping() {
      if (!open || over) return;
      up(6, () => {
        if (link.mute) return;
        down(() => {
          watch.pong(number);
          listener.pong();
        });
      });
    },
    close: () => letGo(1000),
    terminate: () => letGo(1006),
    get bufferedBytes() {
      return Math.max(0, buffered - KERNEL_BYTES);
    },
  };
}
