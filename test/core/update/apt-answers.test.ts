import { describe, expect, it } from 'vitest';
import { explainApt, readParagraph } from '../../../src/core/update/apt-answers.ts';

/** Lines of apt 2.6 and 3.0. */
describe('an answer of apt becomes a sentence', () => {
  it.each([
    [
      'Release file for copy:/x/InRelease is not valid yet (invalid for another 20d).',
      /clock of this device is behind/,
      true,
    ],
    [
      'E: OpenPGP signature verification failed: Not live until 2026-11-27T10:00:00Z',
      /clock of this device is behind/,
      true,
    ],
    ['E: Release file for x is expired (invalid since 2d 3h).', /has expired/, false],
    [
      "The following signatures couldn't be verified: NO_PUBKEY 0123456789ABCDEF",
      /not signed with a key/,
      false,
    ],
    [
      'E: OpenPGP signature verification failed: Missing key 0123, which is needed',
      /not signed with a key/,
      false,
    ],
    [
      "Clearsigned file isn't valid, got 'NOSPLIT' (does the network require authentication?)",
      /asks people to sign in/,
      true,
    ],
    ['E: Failed to fetch x  Hash Sum mismatch', /differs from its signed list/, true],
    ['E: Write error - write (28: No space left on device)', /disk is full/, false],
    ['E: Failed to fetch x  Could not resolve host', /cannot be reached/, true],
    ['E: The repository x does not have a Release file.', /no repository at the address/, false],
    ['W: Could not open x - open (30: Read-only file system)', /disk is read-only/, false],
    ['E: Malformed stanza 1 in source list y', /list of sources of this device cannot be read/, false],
  ])('when it says %j', (output, message, mayPass) => {
    expect(explainApt(output)).toEqual({ message: expect.stringMatching(message), mayPass });
  });

  it('in its own words when they are not known, and never more than a line', () => {
    expect(explainApt(`W: a\nE: something new\nE: more`)).toEqual({
      message: 'apt failed: something new',
      mayPass: false,
    });
    expect(explainApt('').message).toBe('apt failed: it gave no reason');
  });
});

describe('a paragraph of apt-cache', () => {
  it('has its fields, without lines that continue one and without the next paragraph', () => {
    const answer =
      'Package: dragoman\nVersion: 1.3.0-1\nDescription: agent\n of a kiosk\nSHA256: 00ff\n\nPackage: dragoman\nVersion: 1.2.0-1\n';
    expect(Object.fromEntries(readParagraph(answer))).toEqual({
      Package: 'dragoman',
      Version: '1.3.0-1',
      Description: 'agent',
      SHA256: '00ff',
    });
  });

  it('has no field when apt-cache says nothing', () => expect(readParagraph('').size).toBe(0));
});
