/** Who may redirect the microphone. */
export const TRUST = [
  {
    name: 'signed-as-another-kind',
    file: 'owner/signed-message.ts',
    find: 'if (typ !== wanted.type)',
    replace: "if (typeof typ !== 'string')",
    tests: ['owner/signed-message.test.ts'],
  },
  {
    name: 'signed-for-another-device',
    file: 'owner/signed-message.ts',
    find: "if (typeof device !== 'string' || !wanted.devices.includes(device))",
    replace: "if (typeof device !== 'string')",
    tests: ['owner/signed-message.test.ts'],
  },
  {
    name: 'signed-for-another-request',
    file: 'owner/signed-message.ts',
    find: 'if (id !== wanted.id)',
    replace: 'if (id === null && wanted.id !== null)',
    tests: ['owner/signed-message.test.ts'],
  },
  {
    name: 'token-to-any-host',
    file: 'owner/stream-address.ts',
    find: 'hosts.length > 0 && !isListed(url, hosts)',
    replace: 'hosts.length > 0 && !isListed(url, [...hosts, url.host])',
    tests: ['owner/stream-address.test.ts'],
  },
];
