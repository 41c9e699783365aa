import { access, constants } from 'node:fs/promises';
import type { Clock } from '../../ports/clock.ts';
import type { OpenKeyDevice } from '../../ports/keys.ts';
import { type Child, startChild } from '../audio/child/process.ts';
import { reasonOf, systemCode } from '../system-error.ts';
import { createEventReader, type EventBytes, eventBytes } from './input-event.ts';

/** Retry interval for a missing device (milliseconds). */
const RETRY_MS = 1000;
/** A reader that is still running after this time (milliseconds) has opened its device. */
const OPENED_AFTER_MS = 300;

/**
 * Reads input devices. Each is read by a child process, because a read blocks until a key is pressed: it would occupy a thread of
 * Node that cannot be ended.
 */
export function createKeyDevices(clock: Clock, size: EventBytes = eventBytes()): OpenKeyDevice {
  return (path, listener) => {
    const events = createEventReader(size, listener.changed);
    let isClosed = false;
    let child: Child | null = null;
    let cancel = (): void => {};

    const retry = (problem: string): void => {
      events.releaseAll();
      child = null;
      if (isClosed) return;
      listener.lost(problem);
      cancel = clock.at(clock.now() + RETRY_MS, () => void attempt());
    };

    const read = (): void => {
      let complaint = '';
      child = startChild({ words: ['cat', path] }, 'in', clock, {
        data: (bytes) => events.read(bytes),
        line: (text) => {
          complaint = text;
        },
        ended: ({ spawnError }) => {
          cancel();
          retry(spawnError === null ? problemOf(complaint) : `it cannot be read: ${reasonOf(spawnError)}`);
        },
      });
      cancel = clock.at(clock.now() + OPENED_AFTER_MS, () => listener.opened());
    };

    const attempt = async (): Promise<void> => {
      // A missing device needs no child process.
      const code = await accessProblem(path);
      if (isClosed) return;
      if (code === null) read();
      else retry(code === 'ENOENT' ? NOT_THERE : problemOf(code));
    };

    void attempt();
    return {
      close() {
        isClosed = true;
        cancel();
        child?.kill();
      },
    };
  };
}

const NOT_THERE = 'it is not there: plug it in, or see "dragoman devices --keys" for its path';

async function accessProblem(path: string): Promise<string | null> {
  try {
    await access(path, constants.R_OK);
    return null;
  } catch (error) {
    return systemCode(error) ?? 'unknown';
  }
}

/** Turns an error code, or the child's error message, into a sentence. */
function problemOf(complaint: string): string {
  if (/EACCES|Permission denied/.test(complaint))
    return 'this user cannot read it: add the user to the group "input"';
  if (/Operation not permitted/.test(complaint))
    return 'the unit does not allow it: "DeviceAllow=char-input r" is missing';
  if (/No such file/.test(complaint)) return NOT_THERE;
  if (complaint === '' || /No such device/.test(complaint)) return 'it was unplugged';
  return `it cannot be read: ${reasonOf(complaint)}`;
}
