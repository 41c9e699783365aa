import type { InitSystem, ServiceNews } from '../../../src/ports/init-system.ts';

/** An init system that records its messages. */
export function createFakeInitSystem(watchdogMs: number | null = 60_000) {
  const told: ServiceNews[] = [];
  const initSystem: InitSystem = { listens: true, watchdogMs, tell: (news) => void told.push(news) };
  return {
    initSystem,
    told,
    /** Number of signs of life. */
    get signs() {
      return told.filter(({ alive }) => alive).length;
    },
    get statuses() {
      return told.flatMap(({ status }) => (status === undefined ? [] : [status]));
    },
  };
}
