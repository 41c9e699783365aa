import { describe, expect, it } from 'vitest';
import {
  judgeSandbox,
  type NeededFile,
  startsWith,
} from '../../../../../src/device/doctor/checks/configuration/sandbox-rules.ts';
import type { UnitProperties } from '../../../../../src/device/doctor/checks/service/unit-properties.ts';

const HOME = '/home';
const ROOT = '/root';
const UNIT: UnitProperties = {
  User: 'dragoman',
  ProtectHome: 'yes',
  ProtectSystem: 'strict',
  PrivateTmp: 'yes',
  InaccessiblePaths: '-/run/lock -/dev/mqueue',
  StateDirectory: 'dragoman',
  RuntimeDirectory: 'dragoman',
  ExecStart:
    '{ path=/usr/bin/node ; argv[]=/usr/bin/node /opt/dragoman.mjs run --config /etc/dragoman/config.json ; ignore_errors=no }',
};
const judge = (file: Partial<NeededFile>, unit: UnitProperties = {}) =>
  judgeSandbox({ ...UNIT, ...unit }, [
    { key: 'mqtt.caFile', paths: ['/etc/ca.pem'], use: 'read', isAllowed: null, ...file },
  ]);

describe('the sandbox of the unit', () => {
  it.each<[string, UnitProperties, string | null]>([
    ['/etc/dragoman/ca.pem', {}, null],
    [`${HOME}/kim/ca.pem`, {}, 'ProtectHome=yes'],
    [`${ROOT}/ca.pem`, { ProtectHome: 'tmpfs' }, 'ProtectHome=tmpfs'],
    ['/homework/ca.pem', {}, null],
    [`${HOME}/kim/ca.pem`, { ProtectHome: 'read-only' }, null],
    [`${HOME}/kim/ca.pem`, { ProtectHome: 'no' }, null],
    [`${HOME}/kim/ca.pem`, { BindReadOnlyPaths: `${HOME}/kim` }, null],
    [`${HOME}/kim/ca.pem`, { BindPaths: `-/srv/kim:${HOME}/kim:rbind` }, null],
    ['/srv/kim/ca.pem', { BindPaths: `/srv/kim:${HOME}/kim:rbind` }, null],
    ['/tmp/ca.pem', {}, 'PrivateTmp=yes'],
    ['/tmp/ca.pem', { PrivateTmp: 'no' }, null],
    ['/run/lock/ca.pem', {}, 'InaccessiblePaths'],
  ])('%s with %j is hidden by %s', (path, unit, setting) => {
    const [outcome] = judge({ paths: [path] }, unit);
    if (setting === null) return expect(outcome).toBeUndefined();
    expect(outcome).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining(`mqtt.caFile: ${path} is there, but`),
      fix: expect.stringMatching(/^Move the file to \/etc\/dragoman/),
    });
    expect(outcome?.finding).toContain(setting);
  });

  it('advises another place for a file to write when a home folder is hidden, and claims nothing else', () => {
    const [outcome] = judge({ key: 'lanes[0].playback.path', paths: [`${HOME}/kim/out.wav`], use: 'write' });
    expect(outcome).toMatchObject({
      finding: expect.stringMatching(/out\.wav is named, but the agent cannot see it.*ProtectHome=yes$/),
      fix: 'Name a file below /var/lib/dragoman in the configuration.',
    });
  });

  it('hides a file when a link leads to a hidden one', () => {
    expect(judge({ paths: ['/etc/dragoman/ca.pem', `${HOME}/kim/ca.pem`] })[0]?.finding).toMatch(
      /\/etc\/dragoman\/ca\.pem.*ProtectHome/,
    );
  });

  it.each<[string, UnitProperties, boolean]>([
    ['/srv/out.wav', {}, false],
    ['/var/lib/dragoman/out.wav', {}, true],
    ['/var/lib/dragomans/out.wav', {}, false],
    ['/run/dragoman/out.wav', {}, true],
    ['/srv/out.wav', { ReadWritePaths: '-/srv' }, true],
    ['/srv/out.wav', { ProtectSystem: 'full' }, true],
    ['/etc/out.wav', { ProtectSystem: 'full' }, false],
    ['/etc/out.wav', { ProtectSystem: 'yes' }, true],
    ['/usr/out.wav', { ProtectSystem: 'yes' }, false],
    ['/dev/null', {}, true],
  ])('lets the agent write %s with %j: %s', (path, unit, isWritable) => {
    const found = judge({ paths: [path], use: 'write' }, unit);
    expect(found.map(({ verdict }) => verdict)).toEqual(isWritable ? [] : ['problem']);
  });

  it('names the user of the unit when only that one may not read a file', () => {
    expect(judge({ isAllowed: true })).toEqual([]);
    expect(judge({ isAllowed: false })[0]).toMatchObject({
      finding: expect.stringContaining('the user dragoman of dragoman.service may not read it'),
      fix: expect.stringContaining('chgrp dragoman /etc/ca.pem && chmod g+r /etc/ca.pem'),
    });
  });

  it('matters only when the unit starts this configuration', () => {
    expect(startsWith(UNIT, ['/etc/dragoman/config.json'])).toBe(true);
    expect(startsWith(UNIT, [`${HOME}/kim/config.json`])).toBe(false);
    expect(startsWith({ ExecStart: 'x --config=/a' }, ['/a'])).toBe(true);
    expect(startsWith({}, ['/a'])).toBe(false);
  });
});
