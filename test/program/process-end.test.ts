import { expect, it } from 'vitest';
import { endProcess } from '../../src/program/process-end.ts';

/** Actions on a process with these active resources. */
function ending(code: number, ...resources: string[]): string[] {
  const done: string[] = [];
  endProcess(
    {
      pid: 7,
      getActiveResourcesInfo: () => resources,
      removeAllListeners: (event) => done.push(`without ${event}`),
      kill: (pid, signal) => done.push(`${signal} to ${pid}`),
      exit: (with_) => done.push(`exit ${with_}`),
    },
    code,
  );
  return done;
}

it('ends with the exit code when no thread is active', () => {
  expect(ending(0)).toEqual(['exit 0']);
  expect(ending(3, 'Timeout', 'TCPSocketWrap')).toEqual(['exit 3']);
});

it.each(['FSReqPromise', 'FSReqCallback', 'GetAddrInfoReqWrap'])(
  'ends by a signal with an active %s: SIGTERM after success, SIGKILL after a failure',
  (name) => {
    expect(ending(0, 'Timeout', name).slice(0, 2)).toEqual(['without SIGTERM', 'SIGTERM to 7']);
    expect(ending(1, name)).toContain('SIGKILL to 7');
  },
);
