import { describe, expect, it } from 'vitest';
import { isSshKeyLine, isWholeSshKey } from '../../src/protocol/ssh-key.ts';

/** Created by ssh-keygen; the private keys were discarded. */
const ED25519 = 'AAAAC3NzaC1lZDI1NTE5AAAAIG4zVmFiIxo8MqeV1wtxgk8K9fAQl/M1ml55UvDSaMLv';
const P384 =
  'AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBOngic2psPy6hTh8tRbMRpMNzURyRygHKNRKaoDpQ09gmhL0R4xp7VuUGD0HrkxbR6mRG7G93TNL8G866/FcQgBF5EtG9Sin3FAAlELik+hvSR7v4QGHQiYCf8G8TbRTgw==';
const RSA =
  'AAAAB3NzaC1yc2EAAAADAQABAAABAQCzjEsCIgb9f/bJgLLbph33Hz2SbbPtTv1++nTJBoit8zR0cBv5tr8j6LQY5poYGoz6d0q4QmKC5k+EWVdVwyHNIhFaXGiup+MAJ3GV0IFnf1yd57vAbWV+cD/3IL6kkgvhOub7C+2FIA0rj2qbI3YKrDjnHS2e43YD5GJ233Hm1gNTQrPgsZri2nOWYGrm8KIHJ4Uu7FNq3PO4DA5iYz8QrnZ9iPwTK9s/7efQZFCuXQFb6+Zml6U+LOdCokI98sPd5STI/G+uiGwsxXk5mA35hLEI1LOWIHMYT4b7CxiW8OmQX7q/Ml+3t2kNUMqjrjUSeLD55wZ9aS/HEPZDiCqD';

/** Encodes a key like OpenSSH: each part after its length. */
function framed(...parts: (string | Buffer)[]): string {
  const lengths = parts.map((part) => {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
  return Buffer.concat(lengths).toString('base64');
}
const SK_ED25519 = 'sk-ssh-ed25519@openssh.com';
const SK_ECDSA = 'sk-ecdsa-sha2-nistp256@openssh.com';

describe('a public key of OpenSSH', () => {
  it.each([
    ['Ed25519', `ssh-ed25519 ${ED25519}`],
    ['with a name after the key', `ssh-ed25519 ${ED25519} anna@müseum "desk" #1`],
    ['ECDSA', `ecdsa-sha2-nistp384 ${P384}`],
    ['RSA', `ssh-rsa ${RSA} x`],
    ['a security key', `${SK_ED25519} ${framed(SK_ED25519, Buffer.alloc(32, 7), 'ssh:')}`],
    ['a security key of ECDSA', `${SK_ECDSA} ${framed(SK_ECDSA, 'nistp256', Buffer.alloc(65, 4), 'ssh:')}`],
  ])('is accepted: %s', (_, line) => {
    expect([isSshKeyLine(line), isWholeSshKey(line)]).toEqual([true, true]);
  });

  it.each([
    ['copied without its end', `ssh-ed25519 ${ED25519.slice(0, -5)}`],
    ['copied without its last four letters', `ssh-ed25519 ${ED25519.slice(0, -4)}`],
    ['without its beginning', `ssh-ed25519 ${ED25519.slice(4)}`],
    ['followed by more data', `ssh-ed25519 ${ED25519}AAAA`],
    ['followed by an empty part', `ssh-ed25519 ${framed('ssh-ed25519', Buffer.alloc(32), '')}`],
    ['of another kind than its name', `ssh-rsa ${ED25519}`],
    ['of zeros', `ssh-ed25519 ${'A'.repeat(68)}`],
    ['too short', `ssh-ed25519 ${framed('ssh-ed25519', Buffer.alloc(31))}`],
    ['not valid Base64', `ssh-rsa ${RSA.slice(0, -3)}`],
    ['an RSA key without a part', `ssh-rsa ${framed('ssh-rsa', Buffer.alloc(257, 1))}`],
    ['with a length beyond its end', `ssh-rsa ${Buffer.alloc(60, 255).toString('base64')}`],
  ])('is refused when it is %s', (_, line) => {
    expect([isSshKeyLine(line), isWholeSshKey(line)]).toEqual([true, false]);
  });

  it.each([
    `command="x" ssh-ed25519 ${ED25519}`,
    `ssh-ed25519 ${ED25519}\nssh-ed25519 ${ED25519}`,
    `ssh-ed25519  ${ED25519}`,
    `ssh-dss ${ED25519}`,
    'ssh-ed25519 AAAA',
    '',
  ])('is refused as a line: %j', (line) => {
    expect([isSshKeyLine(line), isWholeSshKey(line)]).toEqual([false, false]);
  });
});
