import { describe, expect, it } from 'vitest';
import { judgeUnit } from '../../../../../src/device/doctor/checks/service/service-rules.ts';
import {
  parseProperties,
  type UnitProperties,
} from '../../../../../src/device/doctor/checks/service/unit-properties.ts';

describe('the service unit', () => {
  const WELL: UnitProperties = parseProperties(
    [
      'LoadState=loaded',
      'ActiveState=active',
      'SubState=running',
      'UnitFileState=enabled',
      'Result=success',
      'NRestarts=0',
      'User=dragoman',
      'SupplementaryGroups=audio',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'DevicePolicy=closed',
      'PrivateDevices=no',
      'MemoryDenyWriteExecute=no',
      'ProcSubset=all',
      'NeedDaemonReload=no',
      'nonsense',
      '',
    ].join('\n'),
  );
  it.each<[Record<string, string>, string, RegExp]>([
    [{}, 'ok', /installed, active \(running\)/],
    [{ LoadState: 'not-found', ActiveState: 'inactive' }, 'warning', /not installed/],
    [{ LoadState: 'bad-setting' }, 'problem', /cannot be loaded/],
    [{ ActiveState: 'failed', Result: 'exit-code' }, 'problem', /failed \(exit-code\)/],
    [{ ActiveState: 'activating', SubState: 'auto-restart' }, 'problem', /does not stay up/],
    [{ ActiveState: 'inactive', SubState: 'dead' }, 'warning', /not running/],
    [{ UnitFileState: 'disabled' }, 'warning', /not start at boot/],
    [{ NRestarts: '7' }, 'warning', /restarted 7 times/],
    [{ MemoryDenyWriteExecute: 'yes' }, 'problem', /kills Node/],
    [{ PrivateDevices: 'yes' }, 'problem', /hides the sound cards/],
    [{ ProcSubset: 'pid' }, 'problem', /proc\/asound/],
    [{ SupplementaryGroups: '' }, 'warning', /group audio/],
    [{ User: '' }, 'warning', /as root/],
    [{ NoNewPrivileges: 'no', ProtectSystem: 'no' }, 'warning', /NoNewPrivileges is off, ProtectSystem/],
    [{ NeedDaemonReload: 'yes' }, 'warning', /has changed/],
  ])('is judged by its properties: %j', (change, verdict, words) => {
    expect(judgeUnit({ ...WELL, ...change }, true)).toMatchObject({
      verdict,
      finding: expect.stringMatching(words),
    });
  });

  it('needs no sound when no lane does', () => {
    expect(judgeUnit({ ...WELL, PrivateDevices: 'yes', SupplementaryGroups: '' }, false).verdict).toBe('ok');
  });

  it('is skipped without a service manager', () => {
    expect(judgeUnit(null, true).verdict).toBe('skipped');
  });
});
