import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listenTrouble, systemReason, systemRefusal } from '../../src/adapters/system-error.ts';

const failed = (code: string): Error => Object.assign(new Error(`listen ${code}`), { code });

it('says why a server cannot listen, and what to do', () => {
  expect(listenTrouble(failed('EADDRINUSE'))).toBe(
    'cannot be used (another program uses this address and port): end that program, or name another port',
  );
  expect(listenTrouble(failed('EACCES'))).toBe(
    'cannot be used (this user has no permission): name a port above 1023',
  );
  expect(listenTrouble(failed('EADDRNOTAVAIL'))).toBe(
    'cannot be used (this machine does not have this address): name an address of this machine, or 127.0.0.1',
  );
});

it('gives the reason of a refused action in words', () => {
  expect(systemRefusal(() => readFileSync(join(tmpdir(), 'none', 'none')))).toBe(
    'there is no such file or folder',
  );
  expect(systemRefusal(() => {})).toBeNull();
  expect(systemReason(failed('ECONNREFUSED'))).toBe('nothing listens there');
});
