import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type AgentDoor,
  askAgent,
  openAgentDoor,
} from '../../../../src/device/doctor/running-agent/agent-door.ts';
import type { CheckName, Diagnosis } from '../../../../src/protocol/mqtt/diagnose.ts';
import { until } from '../../../until.ts';

const PID = 4711;
let folder: string;
let door: AgentDoor | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-door-'));
});
afterEach(() => {
  door?.close();
  door = null;
  rmSync(folder, { recursive: true });
});

const env = () => ({ RUNTIME_DIRECTORY: folder });
const path = () => join(folder, `agent-${PID}.socket`);
const ask = (only: readonly CheckName[] = ['broker']) =>
  askAgent({ proc: '/nowhere', pid: PID, env: env() }, only, 60_000);
const found = (only: readonly CheckName[]): Diagnosis => ({
  version: '1.0.0',
  verdict: 'ok',
  checks: only.map((check) => ({ check, lane: null, verdict: 'ok', finding: 'works', fix: null, data: {} })),
});
async function open(diagnose = async (only: readonly CheckName[]) => found(only)): Promise<void> {
  door = openAgentDoor(env(), diagnose, Promise.resolve(), PID);
  await until(() => existsSync(path()), 'the socket');
}

it('answers with the diagnosis of the checks that were asked for, again and again', async () => {
  await open();
  expect(await ask(['broker', 'stream'])).toEqual(found(['broker', 'stream']));
  expect(await ask(['backend'])).toEqual(found(['backend']));
});

it('takes the place of a socket that a killed agent of the same number left', async () => {
  writeFileSync(path(), '');
  door = openAgentDoor(env(), async (only) => found(only), Promise.resolve(), PID);
  await expect.poll(ask).toEqual(found(['broker']));
});

it('gives no answer while another diagnosis is under way, or where no agent is', async () => {
  await open(async () => {
    throw new Error('a diagnosis is under way');
  });
  expect(await ask()).toBe(null);
  door?.close();
  await until(() => !existsSync(path()), 'the end of the socket');
  expect(await ask()).toBe(null);
});

it('ignores whoever sends something else', async () => {
  let asked = 0;
  await open(async (only) => {
    asked += 1;
    return found(only);
  });
  for (const words of ['["reboot"]\n', 'x'.repeat(5000), '[]\n', '{"a"\n']) {
    const socket = connect(path());
    socket.on('error', () => {});
    let heard = '';
    socket.on('data', (part) => {
      heard += String(part);
    });
    const isClosed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(words);
    await isClosed;
    expect(heard).toBe('');
  }
  expect(asked).toBe(0);
  expect(await ask()).toEqual(found(['broker']));
});

it('opens only where the agent has a folder, and does not stop the agent where it cannot', async () => {
  expect(() => openAgentDoor({}, async (only) => found(only), Promise.resolve()).close()).not.toThrow();
  mkdirSync(join(folder, 'deep'.repeat(50)));
  const long = { RUNTIME_DIRECTORY: join(folder, 'deep'.repeat(50)) };
  door = openAgentDoor(long, async (only) => found(only), Promise.resolve(), PID);
  expect(await askAgent({ proc: '/nowhere', pid: PID, env: long }, ['broker'], 60_000)).toBe(null);
});
