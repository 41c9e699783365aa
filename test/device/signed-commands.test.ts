import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSignatureReader } from '../../src/adapters/signing/reader.ts';
import { createSigner } from '../../src/adapters/signing/signer.ts';
import { createKeyPair, parsePrivateKey } from '../../src/adapters/signing/signing-keys.ts';
import type { SignedType } from '../../src/protocol/signed.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';
import { watchedSignatures } from './watched-signatures.ts';

const OWN = 'dragoman/v1/museum/kiosk-01';
const pair = createKeyPair();
const signer = createSigner(parsePrivateKey(pair.privatePem, 'k'));
const thief = createSigner(parsePrivateKey(createKeyPair().privatePem, 'k'));

/** An agent whose owner has keys, on a machine that can be rebooted. */
async function owned(withKeys = true) {
  const { signatures, settle } = watchedSignatures(
    createSignatureReader([{ kid: pair.kid, key: createPublicKey(pair.publicPem) }]),
  );
  let reboots = 0;
  const config = testConfig();
  const deps = createFakeDeps(
    { ...config, device: { ...config.device, groups: ['lobby'] } },
    {
      ...(withKeys && { signatures }),
      host: {
        restartProblem: () => null,
        restart() {},
        reboot() {
          reboots += 1;
          return null;
        },
      },
    },
  );
  await deps.agent.start();
  deps.brokerUp();
  const soon = (seconds: number): string => new Date((deps.clock.wall() ?? 0) + seconds * 1000).toISOString();
  const send = async (
    body: Record<string, unknown>,
    more: { base?: string; topic?: string; type?: SignedType; by?: typeof signer; id?: string } = {},
  ) => {
    const { base = OWN, topic = `${OWN}/cmd/reboot`, type = 'dragoman+command', by = signer } = more;
    const whole = { id: `id-${Math.random()}`, args: {}, ...body };
    const jws = await by.sign(type, base, whole, deps.clock.wall());
    deps.deliver(topic, { id: more.id ?? whole.id, jws });
    await settle();
    return deps.answers(topic.split('/').at(-1) ?? '').at(-1);
  };
  return { deps, send, soon, reboots: () => reboots };
}

describe('reboot when the owner has keys', () => {
  it('must be signed', async () => {
    const { deps, send, soon, reboots } = await owned();
    deps.command('reboot', { id: 'plain' });
    expect(deps.answers('reboot').at(-1)).toMatchObject({
      id: 'plain',
      status: 'error',
      error: { code: 'unsigned' },
    });
    expect(reboots()).toBe(0);
    expect(await send({ not_after: soon(60) })).toMatchObject({ status: 'ok' });
    expect(reboots()).toBe(1);
  });

  it.each([
    ['by another key', { by: thief }],
    ['for another device', { base: 'dragoman/v1/museum/kiosk-02' }],
  ])('signed %s is refused', async (_, more) => {
    const { send, soon, reboots } = await owned();
    const answer = await send({ not_after: soon(60) }, more);
    expect(answer).toMatchObject({ status: 'error', error: { code: 'signature' } });
    expect(reboots()).toBe(0);
  });

  it('is refused while the clock is not set, when expired, and the second time', async () => {
    const { deps, send, soon, reboots } = await owned();
    const inAMinute = soon(60);
    deps.clock.setWall(null);
    expect(await send({ not_after: inAMinute })).toMatchObject({ error: { code: 'signature' } });
    deps.clock.setWall(Date.parse(inAMinute) + 1000);
    expect(await send({ not_after: inAMinute })).toMatchObject({ status: 'expired' });
    const again = { id: 'same', not_after: soon(60) };
    await send(again);
    expect(await send(again)).toMatchObject({ status: 'ok' });
    expect(reboots()).toBe(1);
  });

  it('may be signed for the fleet or a group', async () => {
    const { send, soon, reboots } = await owned();
    for (const level of ['all', 'group/lobby']) {
      const base = `dragoman/v1/museum/${level}`;
      await send({ not_after: soon(60), cmd: 'reboot' }, { base, topic: `${base}/cmd/reboot` });
    }
    expect(reboots()).toBe(2);
  });
});

describe('other commands', () => {
  it('may be signed, and need not be', async () => {
    const { deps, send, soon } = await owned();
    expect(await send({ not_after: soon(60) }, { topic: `${OWN}/cmd/mute` })).toMatchObject({ status: 'ok' });
    deps.command('unmute', { id: 'plain' });
    expect(deps.answers('unmute').at(-1)).toMatchObject({ status: 'ok' });
  });

  it('are read unverified when the device has no keys', async () => {
    const { send, reboots } = await owned(false);
    expect(await send({}, { by: thief })).toMatchObject({ status: 'ok' });
    expect(reboots()).toBe(1);
  });
});
