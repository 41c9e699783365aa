import { describe, expect, it } from 'vitest';
import {
  judgeConfiguration,
  judgeInvalid,
} from '../../../../../src/device/doctor/checks/configuration/configuration-rules.ts';

describe('the configuration', () => {
  const facts = {
    file: '/etc/dragoman/config.json',
    lanes: 2,
    files: [],
    warnings: [],
    agent: null,
    isOpenToAll: false,
    user: 'kim',
  };
  it('is ok in one line when it is good', () => {
    expect(judgeConfiguration(facts)).toMatchObject({
      verdict: 'ok',
      finding: '/etc/dragoman/config.json is valid: 2 lanes',
    });
    expect(judgeConfiguration({ ...facts, agent: 7 }).finding).toContain('an agent runs with it (process 7)');
    const files = [{ key: 'mqtt.caFile', trouble: null }];
    expect(judgeConfiguration({ ...facts, files }).finding).toContain('secrets and certificates readable');
  });
  it.each([
    ['the secret file x does not exist', /CREDENTIALS_DIRECTORY/],
    ['the file x cannot be read: this user has no permission', /as root/],
    ['the file x holds no certificate in PEM', /right file/],
  ])('names an unusable file: %s', (trouble, fix) => {
    const files = [{ key: 'mqtt.passwordFile', trouble }];
    expect(judgeConfiguration({ ...facts, files })).toMatchObject({
      verdict: 'problem',
      finding: `mqtt.passwordFile: ${trouble}`,
      fix: expect.stringMatching(fix),
    });
  });
  it("gives a file to the agent's group when the agent's user itself may not read it", () => {
    const trouble = 'the secret file /etc/x cannot be read: this user has no permission';
    const files = [{ key: 'mqtt.passwordFile', trouble, path: '/etc/x' }];
    expect(judgeConfiguration({ ...facts, files, user: 'dragoman' }).fix).toContain(
      'chgrp dragoman /etc/x && chmod 640 /etc/x',
    );
  });
  it('explains how to protect a secret', () => {
    const trouble = 'the secret file x is readable by everyone: chmod o-rwx x';
    expect(judgeConfiguration({ ...facts, files: [{ key: 'mqtt.keyFile', trouble }] })).toMatchObject({
      verdict: 'problem',
      finding: 'mqtt.keyFile: the secret file x is readable by everyone',
      fix: 'chmod o-rwx x',
    });
  });
  it('has a warning for each open setting', () => {
    const warnings = [{ key: 'service.hosts', message: 'is empty', fix: 'List them.' }];
    expect(judgeConfiguration({ ...facts, warnings })).toMatchObject({
      verdict: 'warning',
      finding: 'service.hosts is empty',
      fix: 'List them.',
    });
  });
  it('has a warning when every user may change it', () => {
    expect(judgeConfiguration({ ...facts, isOpenToAll: true })).toMatchObject({
      verdict: 'warning',
      fix: 'chmod o-w /etc/dragoman/config.json.',
    });
  });
  it('shows its first problem when it is invalid', () => {
    expect(judgeInvalid('c.json', ['c.json:1:1: device: is missing', 'b', 'c']).finding).toBe(
      'c.json:1:1: device: is missing (and 2 more problems)',
    );
    expect(judgeInvalid('c.json', ['DRAGOMAN_X: unknown']).finding).toBe('c.json: DRAGOMAN_X: unknown');
    expect(judgeInvalid('c.json', []).finding).toBe('c.json: it cannot be read');
  });
});
