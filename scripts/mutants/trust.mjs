/** Who may redirect the microphone. */
export const TRUST = [
  {
    name: 'signed-as-another-kind',
    file: 'signed-message.ts',
    find: 'if (typ !== wanted.type)',
    replace: "if (typeof typ !== 'string')",
    tests: ['signed-message.test.ts'],
  },
  {
    name: 'signed-for-another-device',
    file: 'signed-message.ts',
    find: "if (typeof device !== 'string' || !wanted.devices.includes(device))",
    replace: "if (typeof device !== 'string')",
    tests: ['signed-message.test.ts'],
  },
  {
    name: 'signed-for-another-request',
    file: 'signed-message.ts',
    find: 'if (id !== wanted.id)',
    replace: 'if (id === null && wanted.id !== null)',
    tests: ['signed-message.test.ts'],
  },
  {
    name: 'token-to-any-host',
    file: 'stream-address.ts',
    find: 'hosts.length > 0 && !isListed(url, hosts)',
    replace: 'hosts.length > 0 && !isListed(url, [...hosts, url.host])',
    tests: ['stream-address.test.ts'],
  },
];
