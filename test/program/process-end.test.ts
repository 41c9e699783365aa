import { expect, it } from 'vitest';
import { endProcess } from '../../src/program/process-end.ts';

/** What is done to a process that still waits for this. */
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

it('a process that waits for no thread ends with its code', () => {
  expect(ending(0)).toEqual(['exit 0']);
  expect(ending(3, 'Timeout', 'TCPSocketWrap')).toEqual(['exit 3']);
});

it.each(['FSReqPromise', 'FSReqCallback', 'GetAddrInfoReqWrap'])(
  'a process with a thread in a %s ends by a signal: in order where it was well, failed where it was not',
  (name) => {
    expect(ending(0, 'Timeout', name).slice(0, 2)).toEqual(['without SIGTERM', 'SIGTERM to 7']);
    expect(ending(1, name)).toContain('SIGKILL to 7');
  },
);
