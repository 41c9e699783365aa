/** Virtual time for programs that talk over sockets within this process. It stands still while a byte is on its way, or a file is read. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

/** Finer than any limit of a program. */
const STEP_MS = 50;
/** Kinds of work outside the event loop: files, names of hosts, connections. */
const UNDER_WAY = /Req|ConnectWrap|ShutdownWrap|WriteWrap/;
/** Turns of the event loop in which a program finishes what it has read. */
const QUIET_TURNS = 20;

export interface LoopbackTime {
  readonly clock: VirtualClock;
  /**
   * Lets time pass until the work is done, whenever everything sent was read and handled. Time begins when the work opens a
   * connection: loading its modules takes none.
   */
  pass<T>(work: Promise<T>): Promise<T>;
  /** Acts when the next work has taken this time (ms), if it is not done before. No time passes while it acts. */
  after(ms: number, act: () => Promise<unknown>): void;
  close(): void;
}

/** @param wall first wall-clock time (ms) */
export function createLoopbackTime(wall: number): LoopbackTime {
  const clock = createVirtualClock(1000, wall);
  const traffic = watchTraffic();
  const acts = new Set<Promise<unknown>>();
  const isQuiet = async (isOver: () => boolean): Promise<boolean> => {
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isOver() || acts.size > 0 || clock.armed === 0 || traffic.isUnderWay()) return false;
    }
    return true;
  };
  return {
    clock,
    async pass(work) {
      const before = traffic.opened();
      let isOver = false;
      const end = (): void => {
        isOver = true;
      };
      work.then(end, end);
      while (!isOver) {
        const isBegun = traffic.opened() > before;
        if ((await isQuiet(() => isOver)) && isBegun) clock.advance(STEP_MS);
      }
      await Promise.all(acts);
      return work;
    },
    after(ms, act) {
      clock.at(clock.now() + ms, () => {
        const acting: Promise<unknown> = act().finally(() => acts.delete(acting));
        acts.add(acting);
      });
    },
    close: traffic.close,
  };
}

/** Compares what was written into each connection with what was read at its other end. */
function watchTraffic() {
  const sockets = new Set<Socket>();
  let opened = 0;
  const add = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    opened += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const channels = ['net.client.socket', 'net.server.socket'];
  for (const channel of channels) subscribe(channel, add);
  const isSettled = (socket: Socket): boolean => {
    if (socket.connecting || socket.writableEnded || socket.readableEnded) return false;
    for (const other of sockets) {
      if (other.localPort !== socket.remotePort || other.remotePort !== socket.localPort) continue;
      return other.bytesRead === socket.bytesWritten;
    }
    return false;
  };
  return {
    opened: () => opened,
    isUnderWay: () =>
      process.getActiveResourcesInfo().some((kind) => UNDER_WAY.test(kind)) || ![...sockets].every(isSettled),
    close(): void {
      for (const channel of channels) unsubscribe(channel, add);
    },
  };
}
