import type { InitSystem, ServiceNews } from '../../../src/ports/init-system.ts';

/** An init system that writes down what it is told. */
export function createFakeInitSystem(watchdogMs: number | null = 60_000) {
  const told: ServiceNews[] = [];
  const initSystem: InitSystem = { listens: true, watchdogMs, tell: (news) => void told.push(news) };
  return {
    ...{ initSystem, told },
    /** How often it was told that the agent is alive. */
    get signs() {
      return told.filter(({ alive }) => alive).length;
    },
    get statuses() {
      return told.flatMap(({ status }) => (status === undefined ? [] : [status]));
    },
  };
}
